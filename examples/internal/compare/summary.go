package compare

import (
	"cmp"
	"slices"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// summary collects the figures of a policy, seed by seed.
type summary struct {
	outcome Outcome
	seeds   int
	won     int // number of seeds with copies or restarts
}

func (f *Figure) add(v float64, n int) {
	if n == 0 {
		*f = Figure{v, v, v}
		return
	}
	f.Mean += (v - f.Mean) / float64(n+1)
	f.Low, f.High = min(f.Low, v), max(f.High, v)
}

func (s *summary) add(phases []*sim.Phase, none, results []sim.Result) {
	var total sim.Result
	var before, used0 float64
	reductions := make([]weighted, 0, len(results))
	for i, r := range results {
		was := none[i].Time.Seconds()
		before += was
		used0 += none[i].Used.Seconds()
		total.Time += r.Time
		total.Used += r.Used
		total.Wasted += r.Wasted
		total.Tasks += r.Tasks
		total.Copies += r.Copies
		total.Restarts += r.Restarts
		total.Won += r.Won
		if was > 0 {
			reductions = append(reductions, weighted{(was - r.Time.Seconds()) / was, was})
		}
	}
	o, n := &s.outcome, s.seeds
	o.P50.add(quantile(reductions, 0.5), n)
	o.P75.add(quantile(reductions, 0.75), n)
	for i := range reductions {
		reductions[i].weight = 1
	}
	o.PlainP50.add(quantile(reductions, 0.5), n)
	o.PlainP75.add(quantile(reductions, 0.75), n)
	o.All.add(share(before-total.Time.Seconds(), before), n)
	o.Resource.add(share(used0-total.Used.Seconds(), used0), n)
	o.Time.add(total.Time.Seconds(), n)
	o.Used.add(total.Used.Seconds(), n)
	o.Wasted.add(total.Wasted.Seconds(), n)
	jobs := chained(phases, none)
	o.Jobs.add(share((jobs-chained(phases, results)).Seconds(), jobs.Seconds()), n)
	tasks := float64(max(total.Tasks, 1))
	o.Copies.add(float64(total.Copies)/tasks, n)
	o.Restarts.add(float64(total.Restarts)/tasks, n)
	if launched := total.Copies + total.Restarts; launched > 0 {
		if o.Won == nil {
			o.Won = &Figure{}
		}
		o.Won.add(float64(total.Won)/float64(launched), s.won)
		s.won++
	}
	s.seeds++
}

type weighted struct{ value, weight float64 }

// quantile returns the smallest value for which the values up to it have at least the share p of the weight.
func quantile(values []weighted, p float64) float64 {
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	var all, sum float64
	for _, v := range values {
		all += v.weight
	}
	for _, v := range values {
		if sum += v.weight; sum >= p*all {
			return v.value
		}
	}
	return 0
}
