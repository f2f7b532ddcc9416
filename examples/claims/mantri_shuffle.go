package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// placedAndNot has the results of the reduce phases of a seed, with placement and without, for M10 and M11.
type placedAndNot struct{ rates, spread []float64 }

// shuffles runs the reduce phases of M10 and M11. Other traffic uses the links of the racks to different degrees, and
// the free slots are at random places. The rate of a reducer is its bytes divided by the time of reading them.
var shuffles = oncePerSeed(func(seed uint64) placedAndNot {
	var slow, spread [2][]float64
	var sooner []float64
	for i := range 20 {
		c := shuffle(rand.New(rand.NewPCG(seed, uint64(1000+i))), seed<<8+uint64(i))
		var end [2]time.Duration
		for k, place := range []bool{true, false} {
			c.Place = place
			r := must(c)
			end[k] = r.Jobs[0].Phases[1].End - r.Jobs[0].Phases[1].Opened
			var rates []float64
			racks := map[int]bool{}
			for _, run := range r.Runs {
				if run.Phase == 1 {
					rates = append(rates, c.Jobs[0].Phases[1].Tasks[run.Task].Bytes/(run.Work-run.Begin).Seconds())
					racks[c.Machines[run.Machine].Rack] = true
				}
			}
			slices.Sort(rates)
			slow[k] = append(slow[k], rates[len(rates)/2]/rates[0])
			spread[k] = append(spread[k], float64(len(rates))/float64(len(racks)))
		}
		sooner = append(sooner, 1-ratio(end[0], end[1]))
	}
	return placedAndNot{
		rates:  []float64{quartile(slow[0], 2), slices.Max(slow[0]), quartile(slow[1], 2), quartile(slow[1], 3), quartile(sooner, 2)},
		spread: []float64{quartile(spread[0], 2), quartile(spread[1], 2), quartile(spread[0], 2) / quartile(spread[1], 2)},
	}
})

// quartile returns the first value after k quarters of the sorted values; the second is the median.
func quartile(x []float64, k int) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return sorted[len(sorted)*k/4]
}

// shuffle returns a job of maps on all machines and reduces on 40 of the slots of 20 racks. Other traffic leaves
// between a fifth and all of the bandwidth of each link.
func shuffle(r *rand.Rand, seed uint64) cluster.Config {
	const racks, servers, reduces = 20, 40, 30
	c := cluster.Config{Seed: seed, Record: true, Remote: 100e6}
	for range racks {
		c.Racks = append(c.Racks, cluster.Rack{Up: 250e6 * (0.2 + 0.8*r.Float64()), Down: 250e6 * (0.2 + 0.8*r.Float64())})
	}
	for i := range racks * servers {
		c.Machines = append(c.Machines, cluster.Machine{Rack: i / servers, Slots: [2]int{1, 0}})
	}
	// The free reduce slots lie where others have left them: together in few racks more often than apart.
	for n, rack := 0, r.IntN(racks); n < 3*reduces; n++ {
		if r.IntN(8) == 0 {
			rack = r.IntN(racks)
		}
		c.Machines[rack*servers+r.IntN(servers)].Slots[1]++
	}
	reducers := make([]cluster.Task, reduces)
	for i := range reducers {
		reducers[i] = cluster.Task{Bytes: 1e9, Seconds: 5}
	}
	c.Jobs = []cluster.Job{{Phases: []cluster.Phase{
		{Tasks: sameTasks(racks*servers/2, 10)}, {Kind: cluster.Reduce, After: []int{0}, Tasks: reducers},
	}}}
	return c
}
