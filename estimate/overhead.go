package estimate

import "math"

const (
	leastFit = 8    // samples below which no overhead is fitted
	trimmed  = 1.5  // samples beyond this times the fit are outliers, by Mantri's own definition [Mantri §4.1]
	flat     = 1000 // the overhead, in mean works, of tasks whose time does not depend on their work
	moved    = 0.05 // the least change of a mean task's work, as a share, for which the samples are sorted anew
)

// fit finds the overhead again and, if it has moved, all rates.
func (r *Rates) fit() {
	r.stale, r.fitted = 0, r.all.Len()
	if r.all.Len() < leastFit {
		return
	}
	overhead, mean := r.leastSquares()
	if math.Abs(overhead-r.overhead) <= moved*(mean+r.overhead) {
		return
	}
	r.overhead = overhead
	r.all.Reset()
	for i := range r.samples {
		s := &r.samples[i]
		if s.rate < 0 {
			continue
		}
		s.rate = s.seconds / r.Work(s.work)
		r.all.Insert(s.rate)
	}
}

// leastSquares fits seconds = base + slope*work, three times, each time without the outliers of the time before and
// weighing each sample by the square of 1/time, since tasks scatter in proportion to their time. It returns base/slope
// and the mean work.
func (r *Rates) leastSquares() (overhead, mean float64) {
	line := line{base: math.Inf(1)} // nothing is an outlier of it
	for pass := range 3 {
		var n int
		var sum, meanWork, meanSeconds float64
		for i := range r.samples {
			if weight, work := r.weigh(i, line, mean); weight > 0 {
				n++
				sum += weight
				meanWork += weight / sum * (work - meanWork)
				meanSeconds += weight / sum * (r.samples[i].seconds - meanSeconds)
			}
		}
		var variance, covariance float64
		for i := range r.samples {
			if weight, work := r.weigh(i, line, mean); weight > 0 {
				off := weight * (work - meanWork)
				variance += float64(off * (work - meanWork))
				covariance += float64(off * (r.samples[i].seconds - meanSeconds))
			}
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
	return min(max(line.base/line.slope, 0), flat*mean), mean // base/0 is +Inf: flat
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

// weigh returns the weight of the i-th sample in a fit after line, 0 for none and for outliers, and its own work.
func (r *Rates) weigh(i int, line line, mean float64) (weight, work float64) {
	s := &r.samples[i]
	work = max(s.work, r.config.Floor)
	expected := line.at(work)
	switch {
	case s.rate < 0, s.seconds > trimmed*expected:
		return 0, 0
	case math.IsInf(expected, 1): // the first time
		return 1, work
	}
	relative := line.at(mean) / max(expected, line.at(mean)/100) // of a task that reads nearly nothing, not without bound
	return relative * relative, work
}
