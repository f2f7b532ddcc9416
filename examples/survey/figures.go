package main

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/restart"
)

// row replays under all policies and seeds, on all processors.
func (o options) row(entries []compare.Entry, model sim.Progress, phases func(seed uint64) []*sim.Phase) ([]figures, error) {
	row := make([]figures, len(entries))
	errs := make([]error, o.seeds)
	all := make([][]figures, o.seeds)
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for k := range o.seeds {
		wait.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			all[k], errs[k] = o.seed(entries, model, phases(uint64(k+1)), uint64(k+1))
		})
	}
	wait.Wait()
	n := float64(o.seeds)
	for k := range o.seeds {
		for i, f := range all[k] {
			r := &row[i]
			r.p50 += f.p50 / n
			r.p75 += f.p75 / n
			r.all += f.all / n
			r.used += f.used / n
			r.copies += f.copies / n
			r.restarts += f.restarts / n
		}
	}
	return row, errors.Join(errs...)
}

func (o options) seed(entries []compare.Entry, model sim.Progress, phases []*sim.Phase, seed uint64) ([]figures, error) {
	none, err := replay(phases, compare.Entry{Policy: restart.Never{}, Progress: model}, seed)
	if err != nil {
		return nil, err
	}
	row := make([]figures, len(entries))
	for i, e := range entries {
		e.Progress = model
		results, err := replay(phases, e, seed)
		if err != nil {
			return nil, err
		}
		row[i] = figuresOf(none, results)
	}
	return row, nil
}

func replay(phases []*sim.Phase, e compare.Entry, seed uint64) ([]sim.Result, error) {
	results, _, err := compare.Replay(phases, e, seed, func() {})
	return results, err
}

type weighted struct{ value, weight float64 }

func figuresOf(none, results []sim.Result) (f figures) {
	var before, after, usedBefore, usedAfter, tasks float64
	changes := make([]weighted, 0, len(results))
	for i, r := range results {
		time := none[i].Time.Seconds()
		before += time
		after += r.Time.Seconds()
		usedBefore += none[i].Used.Seconds()
		usedAfter += r.Used.Seconds()
		tasks += float64(r.Tasks)
		f.copies += float64(r.Copies)
		f.restarts += float64(r.Restarts)
		if time > 0 {
			changes = append(changes, weighted{100 * (r.Time.Seconds() - time) / time, time})
		}
	}
	f.p50, f.p75 = quantile(changes, 0.5), quantile(changes, 0.25)
	f.all, f.used = 100*(after-before)/max(before, 1e-9), 100*(usedAfter-usedBefore)/max(usedBefore, 1e-9)
	f.copies /= max(tasks, 1)
	f.restarts /= max(tasks, 1)
	return f
}

// quantile returns the largest value above which at most the share 1-p of the weight lies.
func quantile(values []weighted, p float64) float64 {
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(b.value, a.value) })
	var all, sum float64
	for _, v := range values {
		all += v.weight
	}
	for _, v := range values {
		if sum += v.weight; sum >= (1-p)*all {
			return v.value
		}
	}
	return 0
}

// figures are the changes of time and use against no action, in percent, and what was done about a task.
type figures struct{ p50, p75, all, used, copies, restarts float64 }
