package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/straggler-go/straggler/replicate"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// lostOutputs runs three clusters with machines that lose outputs: without protection, with replicas and outputs
// computed ahead of need, and without losses.
func lostOutputs(seed uint64) []float64 {
	var guarded, unguarded, ideal, copied, processed, replicas, runs, aheadTime, used float64
	var byReplica, byRun, late, recomputed float64
	var sooner weighted
	for i := range uint64(3) {
		base, known := losingCluster(seed<<8 + i)
		lost := must(base)
		unguarded += meanTime(lost)
		safe := base
		safe.Machines = slices.Clone(base.Machines)
		for i := range safe.Machines {
			safe.Machines[i].Loses = nil
		}
		ideal += meanTime(must(safe))
		base.Replicate = &cluster.Replication{
			Losses: replicate.LossesConfig{Weight: 5}, Bandwidth: 125e6, History: known, Ahead: new(cluster.Ahead),
		}
		with := must(base)
		guarded += meanTime(with)
		for k := range with.Jobs {
			sooner.add(1-ratio(with.Jobs[k].Took(), lost.Jobs[k].Took()), 1)
		}
		copied, processed = copied+with.Replicated, processed+with.Processed
		byReplica, byRun = byReplica+float64(with.Saved-with.AheadSaved), byRun+float64(with.AheadSaved)
		late, recomputed = late+float64(with.AheadLate), recomputed+float64(with.Recomputed)
		replicas, runs = replicas+float64(with.Replicas), runs+float64(with.Ahead)
		aheadTime += with.AheadTime.Seconds()
		used += (with.Used[cluster.Map] + with.Used[cluster.Reduce]).Seconds()
	}
	all := max(1, byReplica+byRun+recomputed)
	return []float64{
		guarded / ideal, unguarded / ideal, sooner.quantile(0.5), sooner.quantile(0.75), copied / processed,
		(byReplica + byRun) / all, byReplica / all, byRun / all,
		byReplica / max(1, replicas), (byRun + late) / max(1, runs), aheadTime / used,
	}
}

// betweenLosses is the mean time in seconds between two losses on an ordinary machine. Mantri's paper has no such
// figure. M12 is calibrated with it to the median of 20 % by which guarded jobs end sooner.
const betweenLosses = 2250.0

// losingCluster returns jobs of four phases, which read 160 GB and write 7.6 GB of intermediate output, on machines
// that lose outputs. known has the losses of each machine in the week before: how many of a thousand outputs it lost
// within a minute.
func losingCluster(seed uint64) (base cluster.Config, known []cluster.Record) {
	const n, outputs = 100, 40
	base = cluster.Config{Seed: seed, LateNotice: true}
	rng := rand.New(rand.NewPCG(seed, 12))
	for i := range n {
		m := cluster.Machine{Slots: [2]int{1, 0}}
		mean := betweenLosses // half of all losses are on 5 % of the machines
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
			} else {
				for i := range ph.Tasks {
					ph.Tasks[i].Bytes = 4e9 // 160 GB a job, of which 7.6 GB are read again
				}
			}
			phases = append(phases, ph)
		}
		base.Jobs = append(base.Jobs, cluster.Job{At: time.Duration(k) * 100 * time.Second, Phases: phases})
	}
	return base, known
}

func meanTime(r cluster.Result) float64 {
	sum := 0.0
	for _, j := range r.Jobs {
		sum += j.Took().Seconds()
	}
	return sum / float64(len(r.Jobs))
}
