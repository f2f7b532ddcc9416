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
	r.stale = 0
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

// leastSquares fits seconds = base + slope*work, three times, each time without the outliers of the time before, and
// returns base/slope and the mean work.
func (r *Rates) leastSquares() (overhead, mean float64) {
	base, slope := math.Inf(1), 0.0
	for pass := range 3 {
		n, meanWork, meanSeconds := 0.0, 0.0, 0.0
		for i := range r.samples {
			if work, ok := r.fits(i, base, slope); ok {
				n++
				meanWork += (work - meanWork) / n
				meanSeconds += (r.samples[i].seconds - meanSeconds) / n
			}
		}
		variance, covariance := 0.0, 0.0
		for i := range r.samples {
			if work, ok := r.fits(i, base, slope); ok {
				off := work - meanWork
				variance += float64(off * off)
				covariance += float64(off * (r.samples[i].seconds - meanSeconds))
			}
		}
		if pass == 0 {
			mean = meanWork
			if variance <= 1e-12*meanWork*meanWork*n { // all tasks have the same work
				return 0, mean
			}
		}
		if n < leastFit || variance == 0 {
			break
		}
		slope = max(covariance/variance, 0)
		base = meanSeconds - float64(slope*meanWork)
		if base < 0 {
			base, slope = 0, meanSeconds/meanWork
		}
	}
	return min(max(base/slope, 0), flat*mean), mean // base/0 is +Inf: flat
}

// fits returns the i-th sample's own work, and whether it is there and no outlier.
func (r *Rates) fits(i int, base, slope float64) (work float64, ok bool) {
	s := &r.samples[i]
	work = max(s.work, r.config.Floor)
	return work, s.rate >= 0 && s.seconds <= trimmed*(base+float64(slope*work))
}
