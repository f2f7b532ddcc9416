package causes

import "math"

// workers has a series for each machine, position or stage, in the order of their first steps.
type workers[K comparable] struct {
	index map[K]int
	keys  []K
	list  []series
}

// of returns the index of a key, and adds it if it is new.
func (w *workers[K]) of(key K) int {
	i, ok := w.index[key]
	if !ok {
		if w.index == nil {
			w.index = map[K]int{}
		}
		i = len(w.keys)
		w.index[key], w.keys, w.list = i, append(w.keys, key), append(w.list, series{home: -1, firstStep: -1})
	}
	return i
}

// observation is one step of a series. Times are in seconds.
type observation struct {
	step, equals int
	excess, bulk float64
	times        float64 // logarithm of the time by the median of the equals
	slowest      float64 // of the step
	beyond       float64 // time of the worker beyond the median of its equals, or of another stage; negative if it took less
	saved        float64 // that the worker, as the last, cost the step
	chance       float64 // to be the last, if all members are equal; 0 if several were last together
	last         bool
}

// series sums up the steps of one worker.
type series struct {
	n, lasts, firstStep, lastStep int
	sum, squares, lagged          float64 // of the excess; lagged is the sum of products of neighbours
	before                        float64 // the excess in the last step
	pairs                         int     // of neighbours
	equals                        int     // the smallest number of equals
	expected                      float64 // number of steps in which the worker would be last by chance
	saved                         share
	run, slow                     stretch // the stretch that may still grow, and the best so far
	home                          int     // the first counterpart: the position of a machine, or the machine of a position
	parted                        bool    // the series has several counterparts
}

// stretch is a run of steps in which a worker was slow.
type stretch struct {
	score       float64 // sum of the excess beyond leastExcess
	from, to, n int
	sum, bulk   float64
	times       float64
	beyond      float64
	slowest     float64
	saved       float64
	stay        stay // the steps with the present counterpart
	// first is the counterpart of the first slow stay. here and elsewhere are the steps of slow stays with it, and with
	// other counterparts.
	first, here, elsewhere int
}

// stay is a run of steps with one counterpart.
type stay struct {
	with, n int
	sum     float64
}

// settle counts the present stay, if it was slow.
func (r *stretch) settle() {
	if r.stay.n == 0 || r.stay.sum/float64(r.stay.n) < follows*r.sum/float64(r.n) {
		return
	}
	switch {
	case r.here == 0:
		r.first, r.here = r.stay.with, r.stay.n
	case r.stay.with == r.first:
		r.here += r.stay.n
	default:
		r.elsewhere += r.stay.n
	}
}

// followed reports whether the excess was as large with several counterparts.
func (r stretch) followed() bool {
	r.settle()
	return r.here >= leastStay && r.elsewhere >= leastStay && float64(r.here+r.elsewhere) >= mostOfStretch*float64(r.n)
}

const (
	// follows is the part of the mean excess of a stretch from which a stay in it is slow.
	follows = 0.5
	// leastStay is the number of slow steps that are needed with one counterpart, and with others.
	leastStay = 2
	// mostOfStretch is the share of the stretch that slow stays must have.
	mostOfStretch = 0.75
)

// leastExcess is the logarithm of a time by its centre from which a stretch of slow steps grows: half of leastCost.
const leastExcess = 0.015

func (s *series) add(o observation, counterpart int) {
	if s.n == 0 {
		s.firstStep, s.home, s.equals = o.step, counterpart, o.equals
	}
	if s.n > 0 && o.step == s.lastStep+1 {
		s.lagged += float64(s.before * o.excess)
		s.pairs++
	}
	s.n++
	s.equals = min(s.equals, o.equals)
	s.lastStep, s.before = o.step, o.excess
	s.sum += o.excess
	s.squares += float64(o.excess * o.excess)
	s.expected += o.chance
	if o.last {
		s.lasts++
	}
	s.saved.add(o.saved/o.slowest, o.slowest)
	s.parted = s.parted || counterpart != s.home
	if s.run.score <= 0 {
		s.run = stretch{from: o.step, stay: stay{with: counterpart}}
	}
	r := &s.run
	if counterpart != r.stay.with {
		r.settle()
		r.stay = stay{with: counterpart}
	}
	r.stay.n++
	r.stay.sum += o.excess
	r.score += o.excess - leastExcess
	r.to = o.step
	r.n++
	r.sum += o.excess
	r.bulk += o.bulk
	r.times += o.times
	r.beyond += o.beyond
	r.saved += o.saved
	r.slowest += o.slowest
	if r.score > s.slow.score {
		s.slow = *r
	}
}

// noise returns the mean square of the excess outside the slow stretch, and its correlation with the step before.
func (s *series) noise() (variance, correlation float64) {
	variance = s.squares / float64(max(s.n, 1))
	if s.pairs > 0 && s.squares > 0 {
		correlation = min(max(s.lagged/float64(s.pairs)/variance, 0), mostCorrelation)
	}
	return variance, correlation
}

// mostCorrelation is the largest correlation of neighbours that is used.
const mostCorrelation = 0.98

// errorOfMean returns the standard error of the mean of n steps with this variance, if each step has this correlation
// with the step before.
func errorOfMean(variance, correlation float64, n int) float64 {
	steps, r := float64(n), correlation
	// n + 2 * sum over k from 1 to n-1 of (n-k) r^k
	neighbours := steps*r/(1-r) - r*(1-math.Pow(r, steps))/((1-r)*(1-r))
	sum := steps + float64(2*neighbours)
	return math.Sqrt(variance*max(sum, 1)) / steps
}

// share is a share of the steps' time, with the sums for its standard error.
type share struct {
	n                        int
	part, whole              float64 // seconds
	sum, squares, lag, prior float64 // of the share of each step
}

func (s *share) add(of, seconds float64) {
	s.part += float64(of * seconds)
	s.whole += seconds
	if s.n > 0 {
		s.lag += float64(of * s.prior)
	}
	s.n++
	s.sum += of
	s.squares += float64(of * of)
	s.prior = of
}

// of returns the share of the time, and its standard error.
func (s *share) of() (mean, err float64) {
	if s.n == 0 || !(s.whole > 0) {
		return 0, 0
	}
	n := float64(s.n)
	m := s.sum / n
	variance := max(s.squares/n-float64(m*m), 0)
	correlation := 0.0
	if s.n > 1 && variance > 0 {
		correlation = min(max((s.lag/(n-1)-float64(m*m))/variance, 0), mostCorrelation)
	}
	return s.part / s.whole, errorOfMean(variance, correlation, s.n)
}

// regression is a fit of the excess to the size.
type regression struct {
	n          int
	xx, xy, yy float64
}

func (r *regression) add(x, y float64) {
	r.n++
	r.xx += float64(x * x)
	r.xy += float64(x * y)
	r.yy += float64(y * y)
}

// slope returns the slope, and the share of the excess that the size explains.
func (r *regression) slope() (slope, explains float64) {
	if !(r.xx > 0 && r.yy > 0) || r.xy <= 0 {
		return 0, 0
	}
	return r.xy / r.xx, r.xy * r.xy / (r.xx * r.yy)
}

// agreement compares the times of one replica in several stages.
type agreement struct {
	sum, squares  map[int]float64 // by replica, of the step that is added
	count         map[int]int
	pairs, values int
	products, all float64
}

func (a *agreement) add(members []member, order []int, groups []stageOf) {
	if len(groups) < 2 {
		return
	}
	if a.sum == nil {
		a.sum, a.squares, a.count = map[int]float64{}, map[int]float64{}, map[int]int{}
	}
	clear(a.sum)
	clear(a.squares)
	clear(a.count)
	for _, g := range groups {
		if g.to-g.from < 2 {
			continue
		}
		for _, i := range order[g.from:g.to] {
			m := &members[i]
			a.sum[m.Replica] += m.excess
			a.squares[m.Replica] += float64(m.excess * m.excess)
			a.count[m.Replica]++
		}
	}
	for i := range members { // in the order of the members, so that sums are always the same
		r := members[i].Replica
		n := a.count[r]
		if n > 1 {
			s := a.sum[r]
			a.products += float64((float64(s*s) - a.squares[r]) / 2) // the compiler makes a product of the division
			a.pairs += n * (n - 1) / 2
			a.all += a.squares[r]
			a.values += n
		}
		a.count[r] = 0
	}
}

// correlation returns the correlation of a replica's times in two stages of a step.
func (a *agreement) correlation() float64 {
	if a.pairs == 0 || a.all == 0 {
		return 0
	}
	return a.products / float64(a.pairs) / (a.all / float64(a.values))
}
