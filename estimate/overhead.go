package estimate

import "math"

const (
	leastFit = 8 // samples; with fewer samples no overhead is fitted
	// x the fitted time; a sample that took longer is an outlier, by the paper's definition [Mantri §4.1]
	trimmed = 1.5
	flat    = 1000 // x the mean work; the overhead if the time of tasks does not depend on their work
	reaches = 2    // x the largest work that the overhead was fitted to; the overhead is used for tasks up to this work
	// share of the mean work plus overhead; a smaller change of the overhead is noise and is ignored
	moved = 0.05
)

// fit computes the overhead again: the constant part of a task's time, in units of work. If the overhead has
// changed, fit computes the unit times of all samples again.
func (u *UnitTimes) fit() {
	u.stale, u.fitted = 0, u.all.Len()
	if u.all.Len() < leastFit {
		return
	}
	overhead, mean, largest := u.leastSquares()
	steady := math.Abs(overhead-u.overhead) <= moved*(mean+u.overhead)
	if steady && (u.overhead == 0 || largest <= reaches*u.largest) {
		if u.origin.moved(len(u.samples)) {
			u.rebuild()
		}
		return
	}
	u.overhead, u.largest = overhead, largest
	u.rebuild()
}

// rebuild computes the unit times of all samples again. It is called after a change of the overhead or of the
// machines' factors.
func (u *UnitTimes) rebuild() {
	u.origin.settled()
	u.all.Reset()
	for i := range u.samples {
		s := &u.samples[i]
		if s.unitTime < 0 {
			continue
		}
		s.unitTime = u.normal(i) / u.Work(s.work)
		// The method put has checked that the sample is in range if its factor is 1. A tiny factor may still make
		// the unit time too large. Then the largest value is used.
		if !u.all.Insert(s.unitTime) {
			s.unitTime = MaxSample
			u.all.Insert(s.unitTime)
		}
	}
}

// normal returns the seconds that the attempt of the i-th sample would have taken on an average machine.
func (u *UnitTimes) normal(i int) float64 {
	if u.config.Factors == nil {
		return u.samples[i].seconds
	}
	return u.samples[i].seconds / u.origin.of(i)
}

// leastSquares fits the line seconds = base + slope*work to the samples, in three passes. In the first pass all
// samples have the same weight. Each later pass leaves out the samples that are outliers of the previous line, and
// gives each sample a weight proportional to the square of 1/time. The reason for this weight is that long tasks
// scatter more, in proportion to their time. leastSquares returns base/slope, which is the overhead in units of
// work, and the mean work.
func (u *UnitTimes) leastSquares() (overhead, mean, largest float64) {
	line := line{base: math.Inf(1)} // with this line no sample is an outlier in the first pass
	for pass := range 3 {
		n := 0
		largest = 0
		var sum, meanWork, meanSeconds, variance, covariance float64
		for i := range u.samples {
			weight, work, seconds := u.weigh(i, line, mean)
			if weight == 0 {
				continue
			}
			n++
			largest = max(largest, work)
			sum += weight
			off, part := work-meanWork, weight/sum
			// The conversion prevents a fused multiply-add, so that all processors give the same result.
			meanWork += float64(part * off)
			meanSeconds += float64(part * (seconds - meanSeconds))
			// Each term is a product of two distances: from the mean of the earlier samples, and from the mean that
			// includes this sample. With this product, one loop over the samples is enough [Welford 1962].
			variance += float64(weight * off * (work - meanWork))
			covariance += float64(weight * off * (seconds - meanSeconds))
		}
		if pass == 0 {
			mean = meanWork
		}
		if variance <= 1e-12*sum*meanWork*meanWork { // all tasks have equal work
			return 0, mean, largest
		}
		if n < leastFit {
			break
		}
		line = through(meanWork, meanSeconds, covariance/variance)
	}
	if line.base == 0 { // the slope may be 0 as well, if all tasks take no time
		return 0, mean, largest
	}
	// if the slope is 0, the quotient is +Inf and the limit applies
	return min(line.base/line.slope, flat*mean), mean, largest
}

// line computes the seconds that a task takes from its work: base + slope*work.
type line struct{ base, slope float64 }

func (l line) at(work float64) float64 { return l.base + float64(l.slope*work) }

// through returns the line through the point (work, seconds) with the given slope. If base or slope would be
// negative, through returns the line through the point with the nearest slope for which neither is negative.
func through(work, seconds, slope float64) line {
	slope = max(slope, 0)
	if base := seconds - float64(slope*work); base >= 0 {
		return line{base, slope}
	}
	return line{0, seconds / work}
}

// weigh returns three numbers for the i-th sample: its weight in the fit, its work, and the seconds that its
// attempt would have taken on an average machine. line is the result of the previous pass. The weight is 0 for an
// outlier, for an attempt that was killed without progress, and for an index without a sample.
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
	// The lower bound on the expected time limits the weight of tasks that read nearly nothing.
	relative := line.at(mean) / max(expected, line.at(mean)/100)
	return relative * relative, work, seconds
}
