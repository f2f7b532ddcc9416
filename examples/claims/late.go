package main

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// LATE [OSDI 2008].

func lateRows() []row {
	return []row{
		{
			id: "L1", name: "waiting for a fast node", where: "§5.4.3", tier: exact, seeds: 1, quick: true,
			claim: "without SlowNodeThreshold the job takes 5.8 min, with it 4 min",
			measures: []measure{
				is("minutes without the threshold", "5.8", 5.8, 1e-6), is("minutes with it", "4", 4, 1e-6),
			},
			run: func(seed uint64) []float64 {
				return []float64{slowNodeExample(restart.Off, seed), slowNodeExample(0.25, seed)}
			},
		},
		{
			id: "L2", name: "time left by score", where: "Fig. 2, §4.2", tier: exact, seeds: 1,
			claim: "the heuristic gives T1 13.3 s and T2 10 s; in truth T2 ends last",
			measures: []measure{
				is("T1 by score", "13.3", 13.33, 0.005), is("T2 by score", "10", 10, 1e-6),
				is("T1 by subphase", "40", 40, 1e-6), is("T2 by subphase", "50", 50, 1e-6),
			},
			run: figure2,
		},
		{
			id: "L3", name: "reducers behind the mean", where: "§3.2", tier: exact, seeds: 1,
			claim: "after 30 % of the reducers have ended, every reducer in the copy phase is 20 % behind",
			measures: []measure{
				is("mean score", "53 %", 0.5333, 5e-5), is("lag of a copying reducer", "20 %", 0.2, 1e-9),
				is("share of them that the native rule copies, one reducer later", "all", 1, 0),
				is("copies under LATE's cap of 10 %", "capped", 2, 0),
			},
			run: copyPhase,
		},
		{
			id: "L4", name: "which task is copied", where: "§4.1", tier: exact, seeds: 1,
			claim:    "A is 5x slower at 90 %, B 2x slower at 10 %: LATE takes B",
			measures: []measure{is("task chosen (B is 1)", "B", 1, 0)},
			run:      rankByTimeLeft,
		},
		{
			id: "L5", name: "sleep job, no copies", where: "§5.4.1", tier: experiment, seeds: manySeeds, quick: true, claim: "without speculation 745 s",
			measures: []measure{times("seconds", "745", 745)},
			run:      func(seed uint64) []float64 { return []float64{sleepJob(seed, 72, nil).End.Seconds()} },
		},
		{
			id: "L6", name: "sleep job, Hadoop's copies", where: "§5.4.1", tier: experiment, seeds: manySeeds, quick: true,
			claim:    "native Hadoop 247 s (sd 22), 35 s of waste a node (sd 16)",
			measures: []measure{times("seconds", "247", 247), times("waste a node, s", "35", 35)},
			run: func(seed uint64) []float64 {
				r := sleepJob(seed, 72, rules.Hadoop{})
				return []float64{r.End.Seconds(), r.Wasted.Seconds() / sleepNodes}
			},
		},
		{
			id: "L7", name: "SpeculativeCap, time", where: "Fig. 10", tier: experiment, seeds: manySeeds, quick: true,
			claim: "response drops sharply at a SpeculativeCap of 20 % and stays low",
			measures: []measure{
				above("drop from cap 10 % to 20 %", "sharp", 0.20), flat("at 100 % over at 20 %", "low"),
				below("LATE at 20 % / native", "< 1", 1),
			},
			run: func(seed uint64) []float64 {
				at10, at20, at100 := lateSleep(seed, 0.1).End, lateSleep(seed, 0.2).End, lateSleep(seed, 1).End
				native := sleepJob(seed, sweepReducers, rules.Hadoop{}).End
				return []float64{1 - ratio(at20, at10), ratio(at100, at20), ratio(at20, native)}
			},
		},
		{
			id: "L8", name: "SpeculativeCap, waste", where: "Fig. 10", tier: experiment, seeds: manySeeds,
			claim: "the waste at a cap of 10 % exceeds that at 20 %, and LATE at 20 % wastes less than native's 35 s a node",
			measures: []measure{
				above("waste at 10 % over at 20 %", "> 1", 1), below("LATE at 20 % over native", "< 1", 1),
				times("native, s a node", "35", 35), besides("LATE at 20 %, s a node"),
			},
			run: func(seed uint64) []float64 {
				waste := func(r cluster.Result) float64 { return r.Wasted.Seconds() / sleepNodes }
				at10, at20 := waste(lateSleep(seed, 0.1)), waste(lateSleep(seed, 0.2))
				native := waste(sleepJob(seed, sweepReducers, rules.Hadoop{}))
				return []float64{at10 / at20, at20 / native, native, at20}
			},
		},
		{
			id: "L9", name: "SlowTask- and SlowNodeThreshold", where: "Fig. 11-12", tier: experiment, seeds: manySeeds,
			claim: "SlowTaskThreshold past 25 % and SlowNodeThreshold from 5 to 50 % have no effect",
			measures: []measure{
				flat("SlowTask 50 % / 25 %", "flat"), flat("SlowTask 100 % / 25 %", "flat"),
				flat("SlowNode 5 % / 25 %", "flat"), flat("SlowNode 50 % / 25 %", "flat"),
			},
			run: func(seed uint64) []float64 {
				base := lateSleep(seed, 0.2).End
				var v []float64
				for _, p := range []rules.LATE{{SlowTask: 0.5}, {SlowTask: 1}, {SlowNode: 0.05}, {SlowNode: 0.5}} {
					p.SpeculativeCap = 0.2
					v = append(v, ratio(sleepJob(seed, sweepReducers, p).End, base))
				}
				return v
			},
		},
		{
			id: "L10", name: "Sort on 243 machines", where: "Fig. 3", tier: experiment,
			claim: "LATE is 27 % faster than native Hadoop and 31 % faster than none",
			measures: []measure{
				faster("native / LATE", "1.27", 1.27), faster("none / LATE", "1.31", 1.31), besides("native, min"),
			},
			run: func(seed uint64) []float64 { return against(seed, 2, sortOn243) },
		},
		{
			id: "L11", name: "Sort with 8 stragglers", where: "Fig. 4", tier: experiment,
			claim: "with 8 stragglers of 100, LATE is 58 % faster than native and 220 % faster than none",
			measures: []measure{
				faster("native / LATE", "1.58", 1.58), input("none / LATE", "3.2 (2 to 4)"), besides("native, min"),
			},
			run: func(seed uint64) []float64 { return against(seed, 4, sortOn100) },
		},
		{
			id: "L12", name: "Grep and WordCount", where: "Fig. 5-6", tier: experiment,
			claim: "with 8 stragglers of 204, Grep is 36 % faster than native and 57 % faster than none, WordCount 8.5 % and " +
				"179 %: the less the reduces do, the less LATE gains",
			measures: []measure{
				faster("Grep, native / LATE", "1.36", 1.36), faster("none / LATE", "1.57", 1.57), besides("native, min"),
				faster("WordCount, native / LATE", "1.085", 1.085), faster("none / LATE", "2.79", 2.79), besides("native, min"),
				besides("WordCount with maps of 30 s, native / LATE"), besides("none / LATE"), besides("native, min"),
			},
			run: func(seed uint64) []float64 {
				return slices.Concat(
					against(seed, 4, grep), against(seed, 4, wordCount(60)), against(seed, 4, wordCount(30)),
				)
			},
		},
		{
			id: "L13", name: "Sort on packed machines", where: "§5.1.2", tier: experiment, quick: true, seeds: 10,
			claim: "packed VMs 1094 s, isolated 408 s (2.7x)",
			measures: []measure{
				times("packed / isolated", "2.68", 1094.0/408), input("isolated, s", "408"),
				input("MB/s of one writer on a physical machine (Table 2)", "61.8"), input("of 2", "56.5"), input("of 3", "53.6"),
				input("of 4", "46.4"), input("of 5", "34.2"), input("of 6", "25.4"), input("of 7", "24.8"),
			},
			run: func(seed uint64) []float64 {
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
		},
		{
			id: "L14", name: "Sort on 15 local machines", where: "Fig. 7-8", tier: experiment,
			claim: "Sort on 15 local VMs: 162 % faster than native and 104 % faster than none; with two stragglers 53 % and 121 %",
			measures: []measure{
				faster("native / LATE", "2.62", 2.62), faster("none / LATE", "2.04", 2.04), besides("native, min"),
				faster("stragglers, native / LATE", "1.53", 1.53), faster("none / LATE", "2.21", 2.21), besides("native, min"),
			},
			run: func(seed uint64) []float64 {
				return append(against(seed, 10, localSort(0)), against(seed, 10, localSort(2))...)
			},
		},
	}
}
