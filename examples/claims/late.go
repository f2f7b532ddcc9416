package main

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// lateRuns are the experiments of the rows of LATE [OSDI 2008].
var lateRuns = map[string]func(seed uint64) []float64{
	"L1": func(seed uint64) []float64 {
		return []float64{slowNodeExample(restart.Off, seed), slowNodeExample(0.25, seed)}
	},
	"L2": figure2,
	"L3": copyPhase,
	"L4": rankByTimeLeft,
	"L5": func(seed uint64) []float64 { return []float64{sleepJob(seed, 72, nil).End.Seconds()} },
	"L6": func(seed uint64) []float64 {
		r := sleepJob(seed, 72, rules.Hadoop{})
		return []float64{r.End.Seconds(), r.Wasted.Seconds() / sleepNodes}
	},
	"L7": func(seed uint64) []float64 {
		at10, at20, at100 := lateSleep(seed, 0.1).End, lateSleep(seed, 0.2).End, lateSleep(seed, 1).End
		native := sleepJob(seed, sweepReducers, rules.Hadoop{}).End
		return []float64{1 - ratio(at20, at10), ratio(at100, at20), ratio(at20, native)}
	},
	"L8": func(seed uint64) []float64 {
		waste := func(r cluster.Result) float64 { return r.Wasted.Seconds() / sleepNodes }
		at10, at20 := waste(lateSleep(seed, 0.1)), waste(lateSleep(seed, 0.2))
		native := waste(sleepJob(seed, sweepReducers, rules.Hadoop{}))
		return []float64{at10 / at20, at20 / native, native, at20}
	},
	"L9": func(seed uint64) []float64 {
		base := lateSleep(seed, 0.2).End
		var v []float64
		for _, p := range []rules.LATE{{SlowTask: 0.5}, {SlowTask: 1}, {SlowNode: 0.05}, {SlowNode: 0.5}} {
			p.SpeculativeCap = 0.2
			v = append(v, ratio(sleepJob(seed, sweepReducers, p).End, base))
		}
		return v
	},
	"L10": func(seed uint64) []float64 { return against(seed, 2, sortOn243) },
	"L11": func(seed uint64) []float64 { return against(seed, 4, sortOn100) },
	"L12": func(seed uint64) []float64 {
		return slices.Concat(
			against(seed, 4, grep), against(seed, 4, wordCount(60)), against(seed, 4, wordCount(30)),
		)
	},
	"L13": func(seed uint64) []float64 {
		var together, apart time.Duration
		for i := range uint64(10) {
			together += hadoopJob(seed<<8+i, nil, ec2, packed, 0, work100GB).End
			apart += hadoopJob(seed<<8+i, nil, ec2, isolated, 0, work100GB).End
		}
		v := []float64{ratio(together, apart), apart.Seconds() / 10}
		for k := range 7 {
			v = append(v, writeRate(k+1))
		}
		return v
	},
	"L14": func(seed uint64) []float64 {
		return append(against(seed, 10, localSort(0)), against(seed, 10, localSort(2))...)
	},
}
