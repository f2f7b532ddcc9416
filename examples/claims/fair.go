package main

import (
	"time"

	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/fairshare"
)

// FAIR and delay scheduling [EECS-2009-55].

func fairRows() []row {
	return []row{
		{
			id: "H1", name: "fair shares of four pools", where: "Fig. 3", tier: exact, seeds: 1, claim: "100 slots among four pools: 46, 14, 25, 15",
			measures: []measure{
				is("pool 1", "46", 46, 0), is("pool 2", "14", 14, 0), is("pool 3", "25", 25, 0),
				is("pool 4", "15", 15, 0),
			},
			run: figure3,
		},
		{
			id: "H2", name: "local slot within 15 s", where: "§4.2", tier: exact, seeds: 1, claim: "in 15 s a job finds a local slot with 98.6 %",
			measures: []measure{is("probability", "98.6 %", 0.9866, 5e-5)},
			run: func(uint64) []float64 {
				p, err := delay.LocalWithin(15*time.Second, time.Minute, 5*3)
				check(err)
				return []float64{p}
			},
		},
		{
			id: "H3", name: "gain of waiting", where: "§4.3.1", tier: exact, seeds: 1,
			claim: "waiting pays exactly if D > t; w = 2t brings 86 % of what can be had",
			measures: []measure{
				is("share of the gain at w = 2t", "0.86", 0.8647, 5e-5),
				is("gain at t=3, D=10, w=6, s", "6.05", 6.05, 0.005), is("gain at D = t", "0", 0, 0),
			},
			run: gainOfWaiting,
		},
		{
			id: "H4", name: "sticky slots, formula", where: "Fig. 5", tier: exact, quick: true,
			claim:    "sticky slots, 100 nodes: locality falls below 50 % at 5 jobs",
			measures: []measure{is("locality at 5 jobs", "0.49", 0.488, 0.01)},
			run: func(seed uint64) []float64 {
				return []float64{sticky(seed, 100, 1, 5, 1000, 0, nil).local()}
			},
		},
		{
			id: "H5", name: "sticky slots, throughput", where: "Fig. 13-14", tier: experiment, seeds: 5,
			claim: "delay scheduling raises locality from 90-27 % to 99-100 %, throughput 1.1x, 1.6x, 2x at 10, " +
				"20, 50 jobs",
			measures: []measure{
				input("locality at 50 jobs", "27 %"), share("at 5 jobs", "90 %", 0.90),
				above("with a wait of 10 s, at 50 jobs", "99 %", 0.98), faster("throughput at 10 jobs", "1.1x", 1.1),
				faster("at 20 jobs", "1.6x", 1.6), input("at 50 jobs", "2x"), besides("locality at 50 jobs, one task a heartbeat"),
			},
			run: stickySlots,
		},
		{
			id: "H6", name: "small scans, locality", where: "Table 3", tier: experiment,
			claim: "node and rack locality of jobs with 3, 10 and 100 maps, without and with waits of 15 s, and 1.2x, 1.7x, 1.3x " +
				"the throughput",
			measures: []measure{
				share("3 maps, node", "2 %", 0.02), share("rack", "50 %", 0.50),
				share("delayed, node", "75 %", 0.75), share("rack", "96 %", 0.96), faster("throughput", "1.2x", 1.2),
				share("10 maps, node", "37 %", 0.37), share("rack", "98 %", 0.98),
				share("delayed, node", "99 %", 0.99), share("rack", "100 %", 1), faster("throughput", "1.7x", 1.7),
				share("100 maps, node", "84 %", 0.84), share("rack", "99 %", 0.99),
				share("delayed, node", "94 %", 0.94), share("rack", "99 %", 0.99), faster("throughput", "1.3x", 1.3),
			},
			run: func(seed uint64) []float64 {
				var v []float64
				for _, maps := range []int{3, 10, 100} {
					plain, delayed := smallJobs(seed, maps, nil), smallJobs(seed, maps, waiting(15*time.Second, 15*time.Second))
					v = append(v, plain.local(), plain.rack(), delayed.local(), delayed.rack(), ratio(plain.End, delayed.End))
				}
				return v
			},
		},
		{
			id: "H7", name: "two jobs, FIFO or fair", where: "Fig. 7", tier: exact, quick: true, seeds: 1,
			claim:    "two jobs take 300 s by FIFO and 400 s by fair sharing",
			measures: []measure{is("FIFO, s", "300", 300, 0), is("fair, s", "400", 400, 0)},
			run: func(seed uint64) []float64 {
				return []float64{twoJobs(seed, fairshare.FIFO), twoJobs(seed, fairshare.Fair)}
			},
		},
		{
			id: "H8", name: "slowdowns of 30 jobs", where: "Fig. 8-9", tier: experiment,
			claim: "FIFO has the best batch time; fair sharing, preemption and splitting each cut slowdown in half",
			measures: []measure{
				above("batch, fair / FIFO", "> 1", 1), above("batch, split / FIFO", "> 1", 1),
				times("worst slowdown, fair / FIFO", "0.5", 0.5), times("preempting / fair", "0.5", 0.5),
				times("split / fair", "0.5", 0.5), input("worst slowdown, FIFO", "up to 90"),
			},
			run: slowdowns,
		},
		{
			id: "H9", name: "five jobs, FIFO or fair", where: "§6.2.6", tier: experiment, quick: true, seeds: 5,
			claim:    "fair sharing 26.2 min, FIFO 22.1 min (19 %)",
			measures: []measure{faster("fair / FIFO", "1.19", 1.19), input("FIFO, min", "22.1")},
			run: func(seed uint64) []float64 {
				fair, fifo := fiveJobs(seed, fairshare.Fair), fiveJobs(seed, fairshare.FIFO)
				return []float64{ratio(fair, fifo), fifo.Minutes()}
			},
		},
		{
			id: "H10", name: "read rates", where: "§4.3.2", tier: exact, seeds: 1, claim: "64 MB in 5 s are 12.8 MB/s, in 25 s 2.56 MB/s",
			measures: []measure{
				is("MB/s in 5 s", "12.8", 12.8, 1e-9), is("MB/s in 25 s", "2.56", 2.56, 1e-9),
				is("the wait of each, s", "10 and 0", 10, 0),
			},
			run: readRates,
		},
		{
			id: "H11", name: "hot file, biased waits", where: "Fig. 15", tier: experiment,
			claim: "IO-rate biasing: +8 % scans and +10 % compute jobs over no delay, +15 % and +44 % over untuned " +
				"delay",
			measures: []measure{
				gain("scans, biased / none - 1", "8 %", 0.08), gain("biased / untuned - 1", "15 %", 0.15),
				gain("compute, biased / none - 1", "10 %", 0.10), gain("biased / untuned - 1", "44 %", 0.44),
			},
			run: hotFile,
		},
		{
			id: "H12", name: "Facebook's day of jobs", where: "Fig. 10", tier: experiment, seeds: manySeeds, quick: true,
			claim: "by fair sharing and splitting the jobs of bins 0 and 1 end 1.8 to 2x sooner in the median of three schedules, " +
				"and in all three those of bin 0 2, 2.5 and 5x",
			measures: []measure{
				faster("mean gain of bins 0 and 1, the median schedule", "1.8 to 2", 1.9),
				faster("of bin 0, mean of three schedules", "3.1", (1.9+2.5+5)/3),
			},
			run: macrobenchmark,
		},
		{
			id: "H13", name: "one job, splitting", where: "§5.2, 6.2.5", tier: experiment, seeds: 3,
			claim:    "a single job takes 11.8 instead of 12.9 min with splitting (9 %)",
			measures: []measure{gain("gain of splitting", "9 %", 0.09), besides("without, min")},
			run:      singleJob,
		},
		{
			id: "H14", name: "a tenth of the slots", where: "§3.2", tier: experiment, seeds: manySeeds, quick: true,
			claim:    "with tasks of a minute, a job that needs 10 % of the slots gets them in 6 s",
			measures: []measure{times("seconds", "6", 6)},
			run: func(seed uint64) []float64 {
				const times = 30
				sum := 0.0
				for i := range uint64(times) {
					sum += tenPercent(seed<<8 + i)
				}
				return []float64{sum / times}
			},
		},
		{
			id: "H15", name: "a small job that waits", where: "§6.2.3", tier: experiment,
			claim: "a job of 16 maps takes 35.4 s with and without a delay of 10 s, and its locality grows from 25 % to 100 %",
			measures: []measure{
				flat("time, delayed / not", "1"), share("locality", "25 %", 0.25), share("delayed", "100 %", 1),
				besides("time without delay, s"),
			},
			run: smallJobAlone,
		},
		{
			id: "H16", name: "Facebook's day, locality", where: "Fig. 11", tier: experiment,
			claim: "delay scheduling raises locality from 15-95 % to 99-100 %, and does not change response times",
			measures: []measure{
				share("locality of bin 0", "15 %", 0.15), share("of the largest job", "95 %", 0.95),
				above("of bin 0, delayed", "99 %", 0.98), above("of the largest job, delayed", "99 %", 0.98),
				flat("time of bins 0 and 1, delayed / not", "1"),
			},
			run: localDay,
		},
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
