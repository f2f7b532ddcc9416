package main

import (
	"time"

	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/fairshare"
)

// fairRuns are the experiments of the rows of FAIR and delay scheduling [EECS-2009-55].
var fairRuns = map[string]func(seed uint64) []float64{
	"H1": figure3,
	"H2": func(uint64) []float64 {
		p, err := delay.LocalWithin(15*time.Second, time.Minute, 5*3)
		check(err)
		return []float64{p}
	},
	"H3": gainOfWaiting,
	"H4": func(seed uint64) []float64 {
		return []float64{sticky(seed, 100, 1, 5, 1000, 0, nil).local()}
	},
	"H5": stickySlots,
	"H6": func(seed uint64) []float64 {
		var v []float64
		for _, maps := range []int{3, 10, 100} {
			plain, delayed := smallJobs(seed, maps, nil), smallJobs(seed, maps, waiting(15*time.Second, 15*time.Second))
			v = append(v, plain.local(), plain.rack(), delayed.local(), delayed.rack(), ratio(plain.End, delayed.End))
		}
		return v
	},
	"H7": func(seed uint64) []float64 {
		return []float64{twoJobs(seed, fairshare.FIFO), twoJobs(seed, fairshare.Fair)}
	},
	"H8": slowdowns,
	"H9": func(seed uint64) []float64 {
		fair, fifo := fiveJobs(seed, fairshare.Fair), fiveJobs(seed, fairshare.FIFO)
		return []float64{ratio(fair, fifo), fifo.Minutes()}
	},
	"H10": readRates,
	"H11": hotFile,
	"H12": macrobenchmark,
	"H13": singleJob,
	"H14": func(seed uint64) []float64 {
		const times = 30
		sum := 0.0
		for i := range uint64(times) {
			sum += tenPercent(seed<<8 + i)
		}
		return []float64{sum / times}
	},
	"H15": smallJobAlone,
	"H16": localDay,
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
