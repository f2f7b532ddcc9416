package main

import (
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/fairshare"

	"github.com/straggler-go/straggler/examples/internal/cluster"
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
	"H4": func(seed uint64) []float64 { return []float64{sticky(seed, 100, 1, 5, 1000, 0).Near.Share(0)} },
	"H5": stickySlots,
	"H6": func(seed uint64) []float64 {
		var v []float64
		for _, maps := range []int{3, 10, 100} {
			plain, delayed := smallJobs(seed, maps, nil), smallJobs(seed, maps, waiting(15*time.Second, 15*time.Second))
			v = append(v, plain.Near.Share(0), plain.Near.Share(1), delayed.Near.Share(0), delayed.Near.Share(1), ratio(plain.End, delayed.End))
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
	"H14": func(seed uint64) []float64 { return means(30, seed, tenPercent) },
	"H15": func(seed uint64) []float64 { return means(20, seed, smallJobAlone) },
	"H16": localDay,
}

// means returns the means of the figures of a number of repetitions, each with a seed of its own.
func means(times int, seed uint64, figures func(seed uint64) []float64) []float64 {
	var mean []float64
	for i := range times {
		for k, x := range figures(seed<<8 + uint64(i)) {
			if i == 0 {
				mean = append(mean, 0)
			}
			mean[k] += x / float64(times)
		}
	}
	return mean
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func figure3(uint64) []float64 {
	pools := []fairshare.Pool{{Min: 50, Demand: 46}, {Min: 10, Demand: 18}, {Min: 25, Demand: 28}, {Min: 15, Demand: 16}}
	shares, err := fairshare.Shares(pools, 100)
	check(err)
	var v []float64
	for _, s := range shares {
		v = append(v, float64(s.Slots))
	}
	return v
}

func gainOfWaiting(uint64) []float64 {
	gain := func(w, t, d time.Duration) float64 {
		g, err := delay.Gain(w, t, d)
		check(err)
		return g.Seconds()
	}
	s := time.Second
	return []float64{
		gain(20*s, 10*s, 20*s) / gain(delay.Forever, 10*s, 20*s), gain(6*s, 3*s, 10*s), gain(6*s, 3*s, 3*s),
	}
}

// readRates finds the classes of a scan job and of a compute job. Only the scan job waits.
func readRates(uint64) []float64 {
	wait := delay.Config{Waits: []time.Duration{10 * time.Second, 0}}
	classes, err := delay.NewByReadRate(
		delay.Class{MinRate: 5e6, Config: wait}, delay.Class{Config: delay.Config{Waits: []time.Duration{0, 0}}},
	)
	check(err)
	scan, compute := 64e6/5, 64e6/25
	waits := classes.For(scan).Config().Waits[0] - classes.For(compute).Config().Waits[0]
	return []float64{scan / 1e6, compute / 1e6, waits.Seconds()}
}

// waiting returns delay scheduling with the waits T1, T2, ...
func waiting(waits ...time.Duration) *delay.Policy {
	p, err := delay.New(delay.Config{Waits: waits})
	check(err)
	return p
}

// nodes returns machines with map and reduce slots, divided over racks.
func nodes(n, maps, reduces, racks int) []cluster.Machine {
	list := make([]cluster.Machine, n)
	for i := range list {
		list[i] = cluster.Machine{Rack: i % racks, Slots: [2]int{maps, reduces}}
	}
	return list
}

// heartbeat is the time between two heartbeats of a node in Hadoop ("every few seconds", §2).
const heartbeat = 3 * time.Second

// networkOf returns the bandwidth of the network of n nodes, in the disks' speed for a scan: so many scans can read away from
// their blocks without being slower. A large cluster's network carries much less than its disks read together (§4); the paper
// has no figure. It is calibrated on the seeds 51001 to 51003: 50 jobs gain 2x on 90 nodes of 360 slots (Fig. 13).
func networkOf(n int) float64 { return 130. / 90 * float64(n) }

// scans returns jobs that all read the same blocks, with three replicas each. A task takes 9 s at its block. The
// times of tasks scatter, and the jobs arrive one after the other. The caller chooses Hadoop's rules at a heartbeat.
func scans(seed uint64, n, slots, jobs, blocks int, apart time.Duration, wait *delay.Policy) cluster.Config {
	rng := rand.New(rand.NewPCG(seed, 41))
	tasks := make([]cluster.Task, blocks)
	for i := range tasks {
		tasks[i] = cluster.Task{Bytes: 9, Replicas: replicas(rng, n, 3)}
	}
	for i := range tasks {
		tasks[i].Bytes *= 0.8 + 0.4*rng.Float64()
	}
	c := cluster.Config{
		Seed: seed, Machines: nodes(n, slots, 0, 1), Disk: 1, Remote: 1, Network: networkOf(n), Delay: wait, Heartbeat: heartbeat,
	}
	for range jobs {
		own := make([]cluster.Task, blocks)
		for k, i := range rng.Perm(blocks) {
			own[k] = tasks[i]
		}
		at := time.Duration(len(c.Jobs)) * apart
		c.Jobs = append(c.Jobs, cluster.Job{At: at, Phases: []cluster.Phase{{Tasks: own}}})
	}
	return c
}

// sticky runs scans with Hadoop's rules: one task in each heartbeat, and machines with equal load.
func sticky(seed uint64, n, slots, jobs, blocks int, apart time.Duration) cluster.Result {
	c := scans(seed, n, slots, jobs, blocks, apart, nil)
	c.OneTask, c.EvenLoad = true, true
	return must(c)
}

// stickySlots runs §6.2.2: 180 GB on 90 nodes, whose heartbeats bring a task for every free slot. The paper does not
// say how many its modified scheduler assigns. This choice is calibrated to the locality at 50 jobs.
func stickySlots(seed uint64) []float64 {
	run := func(jobs int, wait *delay.Policy) cluster.Result {
		return must(scans(seed, 90, 4, jobs, 1440, time.Second, wait))
	}
	wait := waiting(10 * time.Second)
	five, fifty, waits := run(5, nil), run(50, nil), run(50, wait)
	gain := func(jobs int) float64 { return ratio(run(jobs, nil).End, run(jobs, wait).End) }
	return []float64{fifty.Near.Share(0), five.Near.Share(0), waits.Near.Share(0), gain(10), gain(20), ratio(fifty.End, waits.End),
		sticky(seed, 90, 4, 50, 1440, time.Second).Near.Share(0)}
}

// replicas draws a number of different machines.
func replicas(rng *rand.Rand, n, copies int) []int32 {
	var at []int32
	for _, m := range rng.Perm(n)[:copies] {
		at = append(at, int32(m))
	}
	return at
}

// smallJobs runs §6.2.1: scans of 3, 10 or 100 blocks of 128 MB on 100 nodes in four racks, with three replicas in
// two racks. All nodes have the same number of blocks, because the blocks of each job are on permutations of the
// nodes. Hadoop assigns one task in each heartbeat, and keeps the load of the nodes equal.
func smallJobs(seed uint64, maps int, wait *delay.Policy) cluster.Result {
	const n, racks, seconds = 100, 4, 15
	rng := rand.New(rand.NewPCG(seed, 62))
	c := cluster.Config{
		Seed: seed, Machines: nodes(n, 6, 0, racks), Racks: make([]cluster.Rack, racks), OneTask: true, EvenLoad: true,
		Disk: 1, Remote: 1 / 2.1, Delay: wait, Heartbeat: heartbeat,
	}
	for i := range max(3000/maps, 60) {
		job := cluster.Job{Phases: []cluster.Phase{{}}}
		at, near, far := rng.Perm(n), racks*(1+rng.IntN(n/racks-1)), 1+racks*rng.IntN(n/racks)
		for k := range maps {
			first := at[k%n]
			second := (first + near) % n // a node in the same rack
			third := (first + far) % n   // a node in another rack
			job.Phases[0].Tasks = append(job.Phases[0].Tasks, cluster.Task{
				Bytes: seconds * (0.8 + 0.4*rng.Float64()), Replicas: []int32{int32(first), int32(second), int32(third)},
			})
		}
		if together := max(100/maps, 1); i >= together {
			job.Follows = i - together + 1
		}
		c.Jobs = append(c.Jobs, job)
	}
	return must(c)
}

// twoJobs runs Figure 7: two jobs whose maps need the disks for 100 s, and whose reduces need the processors for 100
// s.
func twoJobs(seed uint64, discipline fairshare.Discipline) float64 {
	c := cluster.Config{Seed: seed, Machines: nodes(10, 1, 1, 1)}
	c.Order.Policy.Discipline = discipline
	for range 2 {
		c.Jobs = append(c.Jobs, cluster.Job{Phases: []cluster.Phase{
			{Tasks: sameTasks(100, 10)}, {Kind: cluster.Reduce, After: []int{0}, Tasks: sameTasks(10, 100)},
		}})
	}
	return must(c).End.Seconds()
}
