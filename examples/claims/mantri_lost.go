package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/straggler-go/straggler/replicate"

	"straggler-examples/internal/cluster"
)

// lostOutputs runs jobs of four phases on machines that lose what they have: as they are, with replication, and without
// losses.
func lostOutputs(seed uint64) []float64 {
	const n, outputs = 100, 40
	base := cluster.Config{Seed: seed}
	var known []cluster.Record // of a week before: how many of a thousand outputs each machine lost within a minute
	rng := rand.New(rand.NewPCG(seed, 12))
	for i := range n {
		m := cluster.Machine{Slots: [2]int{1, 0}}
		mean := 3600.0 // seconds between losses: half of all losses lie on 5 % of the machines
		if i < n/20 {
			mean /= 19
		}
		known = append(known, cluster.Record{Outputs: 1000, Lost: int(60 * 1000 / mean)})
		for at := rng.ExpFloat64() * mean; at < 4000; at += rng.ExpFloat64() * mean {
			m.Loses = append(m.Loses, time.Duration(at*float64(time.Second)))
		}
		base.Machines = append(base.Machines, m)
	}
	for k := range 20 {
		var phases []cluster.Phase
		for p := range 4 {
			ph := cluster.Phase{Tasks: make([]cluster.Task, outputs/(p+1))}
			for i := range ph.Tasks {
				ph.Tasks[i] = cluster.Task{Seconds: 20 + 40*rng.Float64(), Bytes: float64(p) * 100e6}
			}
			if p > 0 {
				ph.After = []int{p - 1}
			}
			phases = append(phases, ph)
		}
		base.Jobs = append(base.Jobs, cluster.Job{At: time.Duration(k) * 100 * time.Second, Phases: phases})
	}
	lost := must(base)
	guarded := base
	guarded.Replicate = &cluster.Replication{
		Losses: replicate.LossesConfig{Weight: 5}, Bandwidth: 50e6, History: known,
	}
	safe := base
	safe.Machines = slices.Clone(base.Machines)
	for i := range safe.Machines {
		safe.Machines[i].Loses = nil
	}
	ideal := must(safe)
	with := must(guarded)
	covered := float64(with.Saved) / max(1, float64(with.Saved+with.Recomputed))
	return []float64{
		meanTime(with) / meanTime(ideal), meanTime(lost) / meanTime(ideal), with.Replicated / with.Processed, covered,
	}
}

func meanTime(r cluster.Result) float64 {
	sum := 0.0
	for _, j := range r.Jobs {
		sum += j.Took().Seconds()
	}
	return sum / float64(len(r.Jobs))
}
