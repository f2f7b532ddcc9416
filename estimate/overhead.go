package estimate

import "math"

const (
	leastFit = 8    // samples below which no overhead is fitted
	trimmed  = 1.5  // samples beyond this times the fit are outliers, by Mantri's own definition [Mantri §4.1]
	flat     = 1000 // the overhead, in mean works, of tasks whose time does not depend on their work
	moved    = 0.05 // the least change of a mean task's work, as a share, that counts: less is noise
)

// fit finds the overhead again and, if it has moved, all unit times.
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

// rebuild finds all unit times again, after the overhead or the factors of machines have moved.
func (u *UnitTimes) rebuild() {
	u.origin.settled()
	u.all.Reset()
	for i := range u.samples {
		s := &u.samples[i]
		if s.unitTime < 0 {
			continue
		}
		s.unitTime = u.normal(i) / u.Work(s.work)
		if !u.all.Insert(s.unitTime) { // add has seen that it would, but a factor may be tiny
			s.unitTime = MaxSample
			u.all.Insert(s.unitTime)
		}
	}
}

// normal returns the seconds of the i-th sample as they would have been on an average machine.
func (u *UnitTimes) normal(i int) float64 {
	if u.config.Factors == nil {
		return u.samples[i].seconds
	}
	return u.samples[i].seconds / u.origin.of(i)
}

// leastSquares fits seconds = base + slope*work, three times: first to all samples alike, then without the outliers of
// the time before and weighing each sample by the square of 1/time, since tasks scatter in proportion to their time. It
// returns base/slope and the mean work.
func (u *UnitTimes) leastSquares() (overhead, mean float64) {
	line := line{base: math.Inf(1)} // nothing is an outlier of it
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
			// From the mean before and the mean after, so that one walk is enough [Welford 1962].
			variance += float64(weight * off * (work - meanWork))
			covariance += float64(weight * off * (seconds - meanSeconds))
		}
		if pass == 0 {
			mean = meanWork
		}
		if variance <= 1e-12*sum*meanWork*meanWork { // all tasks have the same work
			return 0, mean
		}
		if n < leastFit {
			break
		}
		line = through(meanWork, meanSeconds, covariance/variance)
	}
	if line.base == 0 { // and the slope may be 0 as well, where tasks take no time
		return 0, mean
	}
	return min(line.base/line.slope, flat*mean), mean // base/0 is +Inf: flat
}

// line is the time that a task of a given work takes: base + slope*work.
type line struct{ base, slope float64 }

func (l line) at(work float64) float64 { return l.base + float64(l.slope*work) }

// through returns the line through a point that comes nearest to a slope, with neither base nor slope below 0.
func through(work, seconds, slope float64) line {
	slope = max(slope, 0)
	if base := seconds - float64(slope*work); base >= 0 {
		return line{base, slope}
	}
	return line{0, seconds / work}
}

// weigh returns the weight of the i-th sample in a fit after line, 0 for none and for outliers, its own work, and the
// seconds that it would have taken on an average machine.
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
	case math.IsInf(expected, 1): // the first time
		return 1, work, seconds
	}
	// Bounded, for tasks that read nearly nothing.
	relative := line.at(mean) / max(expected, line.at(mean)/100)
	return relative * relative, work, seconds
}
