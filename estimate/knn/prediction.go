package knn

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// negligible is a relative rounding error. If the sum of the weights of k runs is at most negligible times k, the
// weights are rounding noise, and the runs are treated as equally far away. Then the prediction uses all runs whose
// squared distance exceeds the squared distance of the farthest run by at most this share.
const negligible = 1e-12

// Prediction is the answer of a [Regressor] for one task: the weighted distribution of the running times of the
// nearest past runs. The mean of this distribution is the estimate of the paper. A Prediction is an
// [estimate.Distribution] in seconds, and can be the UnitTime of an [estimate.Fresh] with a Work of 1. The zero
// value is empty and describes a time that never comes: its mean and quantiles are +Inf and its probabilities are
// 0. A Regressor without runs returns an empty Prediction. Mean and Len take O(1), and the other methods O(log k)
// for k runs. No method allocates.
//
// A Prediction has its own copy of the times and does not change when runs are added to the Regressor. Not safe for
// concurrent use: each task needs a separate value.
type Prediction struct {
	runs   []weighted
	near   nearest // scratch memory for the search
	mean   float64
	radius float64
}

// weighted is a past run with a weight. A Prediction sorts these runs by their time, ascending.
type weighted struct {
	seconds float64
	// upTo has two meanings. Before finish, upTo is the weight of the run. After finish, upTo is the share of the
	// total weight that this run and all faster runs have. So upTo is 1 in the last run.
	upTo float64
}

// Predict fills p with the prediction for a task with the parameters x. Predict returns an error and leaves p empty
// if x does not have Dimensions entries, or if an entry is not finite or has an absolute value above 1e100. If the
// Regressor has no runs, p is empty as well, and [Prediction.Known] reports false. With n runs of which k are used,
// Predict takes about O(log n + k log k), and O(n + k log k) if no run is far from x. Predict allocates only if p has
// never stored so many runs.
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
	for _, run := range p.near.runs {
		// NaN if farthest is 0, and NaN > 0 is false
		if weight := (farthest - run.distance) / farthest; weight > 0 {
			p.runs = append(p.runs, weighted{run.seconds, weight})
		}
	}
	if total := p.sum(); total <= negligible*float64(len(p.near.runs)) {
		p.equals(k, x, farthest)
		p.finish(p.sum())
	} else {
		p.finish(total)
	}
	return nil
}

// equals replaces the runs of p by all runs at the given squared distance or nearer. Each of these runs has the
// weight 1.
func (p *Prediction) equals(k *Regressor, x []float64, distance float64) {
	p.near.collect(distance * (1 + negligible))
	k.search(&p.near, x)
	p.runs = p.runs[:0]
	for _, run := range p.near.runs {
		p.runs = append(p.runs, weighted{run.seconds, 1})
	}
}

// sum sorts the runs by their time and returns the sum of their weights. Because of the sorting, the sum does not
// depend on the order in which the search found the runs.
func (p *Prediction) sum() (total float64) {
	slices.SortFunc(p.runs, func(a, b weighted) int {
		switch { // no time is NaN, so a plain comparison is enough, and faster than cmp.Compare
		case a.seconds < b.seconds:
			return -1
		case a.seconds > b.seconds:
			return 1
		}
		return cmp.Compare(a.upTo, b.upTo)
	})
	for _, run := range p.runs {
		total += run.upTo
	}
	return total
}

// finish computes the mean, and turns weights into shares of their total, which sum has returned.
func (p *Prediction) finish(total float64) {
	var upTo, seconds float64
	for i := range p.runs {
		weight := p.runs[i].upTo
		seconds += float64(weight * p.runs[i].seconds)
		upTo += weight
		p.runs[i].upTo = upTo / total
	}
	// Because of rounding, the quotient may be outside the range of the times, above all if the times are the
	// tiniest float64s. Here the mean is moved back into the range.
	p.mean = min(max(seconds/total, p.runs[0].seconds), p.runs[len(p.runs)-1].seconds)
}

// Known reports whether the prediction uses at least one run.
func (p *Prediction) Known() bool { return len(p.runs) > 0 }

// Len returns the number of past runs that have a weight in the prediction.
func (p *Prediction) Len() int { return len(p.runs) }

// Radius returns the distance of the farthest of the k nearest runs, in the units of the [Scaling]. The comment of
// Regressor calls it R. A large radius says that no past run is similar to the task. Radius is 0 if there is no
// prediction.
func (p *Prediction) Radius() float64 { return p.radius }

// Mean returns the predicted time in seconds: the weighted mean of the times of the nearest runs. Mean returns +Inf
// if there is no prediction.
func (p *Prediction) Mean() float64 {
	if !p.Known() {
		return math.Inf(1)
	}
	return p.mean
}

// CDF returns P(X <= x), the probability that the task takes at most x seconds.
func (p *Prediction) CDF(x float64) float64 {
	return p.share(sort.Search(len(p.runs), func(i int) bool { return p.runs[i].seconds > x }))
}

// Below returns P(X < x), the probability that the task takes less than x seconds.
func (p *Prediction) Below(x float64) float64 {
	return p.share(sort.Search(len(p.runs), func(i int) bool { return p.runs[i].seconds >= x }))
}

// share returns the share of the total weight that the first n runs have, in the order of their times.
func (p *Prediction) share(n int) float64 {
	if n == 0 {
		return 0
	}
	return p.runs[n-1].upTo
}

// Quantile returns the smallest time x, in seconds, with CDF(x) >= q. Quantile does not interpolate. A q outside
// [0, 1] is moved to the nearer end of that range, and NaN is moved to 0. Quantile returns +Inf if there is no
// prediction.
func (p *Prediction) Quantile(q float64) float64 {
	if !p.Known() {
		return math.Inf(1)
	}
	if q >= 1 { // the weight of the last runs may be so small that the rounded sum does not include it
		return p.runs[len(p.runs)-1].seconds
	}
	i := sort.Search(len(p.runs), func(i int) bool { return !(p.runs[i].upTo < q) })
	return p.runs[i].seconds
}
