package knn

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// negligible is a share of the largest possible sum of weights: a sum at or below this share is rounding noise.
// negligible is also the relative difference up to which squared distances count as equal then.
const negligible = 1e-12

// Prediction is the answer of a [Regressor] for one task: the weighted distribution of the running times of the
// nearest past runs. Its mean is the estimate of the paper. A Prediction is an [estimate.Distribution] in seconds,
// and can be the UnitTime of an [estimate.Fresh] with a Work of 1. The zero value is empty and describes a time
// that never comes: its mean and quantiles are +Inf and its probabilities 0. A Regressor without runs gives an
// empty Prediction. Mean and Len take O(1), the others O(log k), without allocation.
//
// A Prediction keeps its own data and does not change when runs are added. Not safe for concurrent use: each task
// needs a separate value.
type Prediction struct {
	runs   []weighted
	near   nearest // scratch
	mean   float64
	radius float64
}

// weighted is a past run. A Prediction sorts its runs by their time, ascending.
type weighted struct {
	seconds float64
	// upTo is at first the run's own weight, and in the end the share of all weights up to this run; 1 in the last
	// run.
	upTo float64
}

// Predict fills p with the prediction for a task with the parameters x. Predict returns an error and leaves p empty
// if x does not have Dimensions entries, or if an entry is not finite or beyond 1e100. Without runs p is empty as
// well, and [Prediction.Known] reports false. O(n + k log k); Predict allocates only if p has never held that many
// runs.
func (k *Regressor) Predict(p *Prediction, x []float64) error {
	p.runs, p.mean, p.radius = p.runs[:0], 0, 0
	if err := k.check(x); err != nil {
		return err
	}
	if len(k.y) == 0 {
		return nil
	}
	p.near.reset(k.neighbours())
	k.search(&p.near, x)
	farthest := p.near.worst()
	p.radius = math.Sqrt(farthest)
	var sum float64
	for _, run := range p.near.runs {
		if weight := (farthest - run.distance) / farthest; weight > 0 { // NaN if farthest is 0
			p.runs = append(p.runs, weighted{run.seconds, weight})
			sum += weight
		}
	}
	if sum <= negligible*float64(len(p.near.runs)) {
		p.equals(k, x, farthest)
	}
	p.finish()
	return nil
}

// equals makes p the runs at the given squared distance or nearer, all with equal weight.
func (p *Prediction) equals(k *Regressor, x []float64, distance float64) {
	p.near.collect(distance * (1 + negligible))
	k.search(&p.near, x)
	p.runs = p.runs[:0]
	for _, run := range p.near.runs {
		p.runs = append(p.runs, weighted{run.seconds, 1})
	}
}

// finish sorts the runs and adds up the weights. After sorting, the sums do not depend on the sequence of the
// runs.
func (p *Prediction) finish() {
	slices.SortFunc(p.runs, func(a, b weighted) int {
		switch { // no time is NaN, so the checks of cmp.Compare are not needed
		case a.seconds < b.seconds:
			return -1
		case a.seconds > b.seconds:
			return 1
		}
		return cmp.Compare(a.upTo, b.upTo)
	})
	var total, seconds float64
	for i := range p.runs {
		weight := p.runs[i].upTo
		seconds += float64(weight * p.runs[i].seconds)
		total += weight
		p.runs[i].upTo = total
	}
	// Rounding, which is coarse for the tiniest float64s, must not move the mean outside the range of the times.
	p.mean = min(max(seconds/total, p.runs[0].seconds), p.runs[len(p.runs)-1].seconds)
	for i := range p.runs {
		p.runs[i].upTo /= total
	}
}

// Known reports whether the prediction uses at least one run.
func (p *Prediction) Known() bool { return len(p.runs) > 0 }

// Len returns the number of runs that have a weight.
func (p *Prediction) Len() int { return len(p.runs) }

// Radius returns R, the distance of the farthest of the k runs, in the units of the [Scaling]. A large radius says
// that no past run is similar to the task. Radius is 0 without a prediction.
func (p *Prediction) Radius() float64 { return p.radius }

// Mean returns m(x), the estimate, in seconds.
func (p *Prediction) Mean() float64 {
	if !p.Known() {
		return math.Inf(1)
	}
	return p.mean
}

// CDF returns P(X <= x).
func (p *Prediction) CDF(x float64) float64 {
	return p.share(sort.Search(len(p.runs), func(i int) bool { return p.runs[i].seconds > x }))
}

// Below returns P(X < x), strictly less.
func (p *Prediction) Below(x float64) float64 {
	return p.share(sort.Search(len(p.runs), func(i int) bool { return p.runs[i].seconds >= x }))
}

// share returns the weight of the first n runs.
func (p *Prediction) share(n int) float64 {
	if n == 0 {
		return 0
	}
	return p.runs[n-1].upTo
}

// Quantile returns the smallest time x with CDF(x) >= q. Quantile does not interpolate. A q outside [0, 1] counts as the
// nearer end, NaN as 0.
func (p *Prediction) Quantile(q float64) float64 {
	if !p.Known() {
		return math.Inf(1)
	}
	if q >= 1 { // the weight of the last runs may be lost in the rounding of the sum
		return p.runs[len(p.runs)-1].seconds
	}
	i := sort.Search(len(p.runs), func(i int) bool { return !(p.runs[i].upTo < q) })
	return p.runs[i].seconds
}
