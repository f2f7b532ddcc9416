package estimate

import "math"

const (
	leastFit = 8    // samples; with fewer no overhead is fitted
	trimmed  = 1.5  // x the fitted time; longer samples are outliers, by Mantri's definition [Mantri §4.1]
	flat     = 1000 // x the mean work; the overhead if the time of tasks does not depend on their work
	moved    = 0.05 // share of a mean task's work; a smaller change of the overhead is noise and is ignored
)

// fit computes the overhead again. If the overhead has changed, fit computes all unit times again.
func (u *UnitTimes) fit() {
	u.stale, u.fitted = 0, u.all.Len()
	if u.all.Len() < leastFit {
		return
	}
	overhead, mean := u.leastSquares()
	if math.Abs(overhead-u.overhead) <= moved*(mean+u.overhead) {
		if u.origin.moved(len(u.samples)) {
			u.rebuild()
		}
		return
	}
	u.overhead = overhead
	u.rebuild()
}

// rebuild computes all unit times again, after a change of the overhead or of the machines' factors.
func (u *UnitTimes) rebuild() {
	u.origin.settled()
	u.all.Reset()
	for i := range u.samples {
		s := &u.samples[i]
		if s.unitTime < 0 {
			continue
		}
		s.unitTime = u.normal(i) / u.Work(s.work)
		// Method put has checked that the sample fits without a factor; a tiny factor may still make it too large.
		if !u.all.Insert(s.unitTime) {
			s.unitTime = MaxSample
			u.all.Insert(s.unitTime)
		}
	}
}

// normal returns the seconds that the i-th sample would have taken on an average machine.
func (u *UnitTimes) normal(i int) float64 {
	if u.config.Factors == nil {
		return u.samples[i].seconds
	}
	return u.samples[i].seconds / u.origin.of(i)
}

// leastSquares fits seconds = base + slope*work in three passes. The first pass gives all samples the same weight.
// Each later pass leaves out the outliers of the pass before, and weighs each sample by the square of 1/time. The
// reason for the weight is that tasks scatter in proportion to their time. leastSquares returns base/slope and the
// mean work.
func (u *UnitTimes) leastSquares() (overhead, mean float64) {
	line := line{base: math.Inf(1)} // no sample is an outlier of this line
	for pass := range 3 {
		var n int
		var sum, meanWork, meanSeconds, variance, covariance float64
		for i := range u.samples {
			weight, work, seconds := u.weigh(i, line, mean)
			if weight == 0 {
				continue
			}
			n++
			sum += weight
			off, part := work-meanWork, weight/sum
			meanWork += float64(part * off) // no fused multiply-add: one answer everywhere
			meanSeconds += float64(part * (seconds - meanSeconds))
			// Each term uses the mean before and the mean after the sample, so that one pass is enough [Welford
			// 1962].
			variance += float64(weight * off * (work - meanWork))
			covariance += float64(weight * off * (seconds - meanSeconds))
		}
		if pass == 0 {
			mean = meanWork
		}
		if variance <= 1e-12*sum*meanWork*meanWork { // all tasks have equal work
			return 0, mean
		}
		if n < leastFit {
			break
		}
		line = through(meanWork, meanSeconds, covariance/variance)
	}
	if line.base == 0 { // the slope may be 0 as well, if tasks take no time
		return 0, mean
	}
	return min(line.base/line.slope, flat*mean), mean // base/0 is +Inf, and flat bounds it
}

// line gives the time of a task from its work: base + slope*work.
type line struct{ base, slope float64 }

func (l line) at(work float64) float64 { return l.base + float64(l.slope*work) }

// through returns the line through a point with the given slope, or with the nearest slope for which neither base
// nor slope is negative.
func through(work, seconds, slope float64) line {
	slope = max(slope, 0)
	if base := seconds - float64(slope*work); base >= 0 {
		return line{base, slope}
	}
	return line{0, seconds / work}
}

// weigh returns three numbers of the i-th sample in a fit that follows line: its weight, its own work, and the
// seconds that it would have taken on an average machine. The weight is 0 for an outlier and for a free place.
func (u *UnitTimes) weigh(i int, line line, mean float64) (weight, work, seconds float64) {
	s := &u.samples[i]
	if s.unitTime < 0 {
		return 0, 0, 0
	}
	work, seconds = max(s.work, u.config.Floor), u.normal(i)
	expected := line.at(work)
	switch {
	case seconds > trimmed*expected:
		return 0, 0, 0
	case math.IsInf(expected, 1): // the first pass
		return 1, work, seconds
	}
	// The bound protects the fit from tasks that read nearly nothing.
	relative := line.at(mean) / max(expected, line.at(mean)/100)
	return relative * relative, work, seconds
}
