package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"straggler-examples/internal/cluster"
)

const (
	sleepNodes    = 40
	sweepReducers = 76
)

// sleepJob is the workload of §5.4: maps of 15 s, then reducers that sleep 100 times between 0 and 2t, t being 0.7 s
// times a factor of their machine: 1 or 1.5 for most, 3 for five, and 10 for one.
func sleepJob(seed uint64, reducers int, policy restart.Policy) cluster.Result {
	factors := make([]float64, sleepNodes)
	for i := range factors {
		factors[i] = []float64{1, 1.5}[i%2]
	}
	rng := rand.New(rand.NewPCG(seed, 54))
	order := rng.Perm(sleepNodes)
	for _, i := range order[:5] {
		factors[i] = 3
	}
	factors[order[5]] = 10
	sleeps := func(r *rand.Rand, _, machine, _ int) float64 {
		sum := 0.0
		for range 100 {
			sum += 2 * r.Float64()
		}
		return sum / 100 * factors[machine]
	}
	c := hadoopCluster(seed, policy)
	for range sleepNodes {
		c.Machines = append(c.Machines, cluster.Machine{Slots: [2]int{2, 2}})
	}
	c.Jobs = []cluster.Job{{Phases: []cluster.Phase{
		{Tasks: sameTasks(2*sleepNodes, 15)},
		{Kind: cluster.Reduce, After: []int{0}, Tasks: sameTasks(reducers, 100*0.7), Luck: sleeps},
	}}}
	return must(c)
}

func lateSleep(seed uint64, speculativeCap float64) cluster.Result {
	return sleepJob(seed, sweepReducers, rules.LATE{SpeculativeCap: speculativeCap})
}

// Table 2: how fast a VM writes with so many on its host, in MB/s, and how that scatters over VMs. For the eighth
// level, that of seven stands in.
var (
	table2       = []float64{61.8, 56.5, 53.6, 46.4, 34.2, 25.4, 24.8, 24.8}
	table2StdDev = []float64{4.9, 10.0, 11.2, 11.9, 7.9, 2.5, 0.9, 0.9}
)

// The VMs' hosts: Table 3, and §5.2.2 with about ten VMs at each level.
var (
	hostsOf243 = levels([]int{40, 20, 15, 10, 8, 4, 2})
	hostsOf100 = levels([]int{14, 7, 4, 3, 2, 2, 2, 2})[:100]
)

// levels returns the load level of each VM, counted from 0, given the number of hosts with 1, 2, ... VMs.
func levels(hosts []int) []int {
	var all []int
	for i, n := range hosts {
		for range n * (i + 1) {
			all = append(all, i)
		}
	}
	return all
}

const sortNote = "A VM works at the rate of Table 2 for its level, with that table's scatter, and each copy with " +
	"one of 10 %. Maps " +
	"and reduces are as long as makes the job take about five minutes, as the paper chose its data to."

// stragglerLoad is how many times slower the background load makes a VM. The paper says only what came of it: without
// speculation the job took 3.2 times as long as under LATE; here it is 2.8 times.
const stragglerLoad = 3.6

// work is how much a job of Sort's kind has to do; the times are those of an isolated VM, in seconds.
type work struct {
	maps, reduces                 int
	mapTime, copyTime, reduceTime float64
}

// work100GB is the job of §5.1.2.
var work100GB = work{maps: 1600, reduces: 180, mapTime: 15, copyTime: 90, reduceTime: 150}

// sortWork is the job of §5.2.1 and §5.2.2: two maps a VM, and reduces in 9 of 10 slots.
func sortWork(vms int) work {
	return work{maps: 2 * vms, reduces: vms * 18 / 10, mapTime: 30, copyTime: 30, reduceTime: 60}
}

func ec2Sort(seed uint64, policy restart.Policy, vms []int, stragglers int) cluster.Result {
	return sortJob(seed, policy, vms, stragglers, sortWork(len(vms)))
}

// wordCount is the same with reduces that have little to do.
func wordCount(seed uint64, policy restart.Policy) cluster.Result {
	w := sortWork(len(hostsOf100))
	w.copyTime, w.reduceTime = w.copyTime/10, w.reduceTime/10
	return sortJob(seed, policy, hostsOf100, 8, w)
}

func sortJob(seed uint64, policy restart.Policy, vms []int, stragglers int, w work) cluster.Result {
	rng := rand.New(rand.NewPCG(seed, 52))
	c := hadoopCluster(seed, policy)
	for _, i := range rng.Perm(len(vms)) {
		level := vms[i]
		rate := max(10, table2[level]+table2StdDev[level]*rng.NormFloat64())
		m := cluster.Machine{Slots: [2]int{2, 2}, Speed: rate / table2[0]}
		if len(c.Machines) < stragglers {
			m.Speed /= stragglerLoad
		}
		c.Machines = append(c.Machines, m)
	}
	scatter := func(r *rand.Rand, _, _, _ int) float64 { return math.Max(0.5, 1+0.1*r.NormFloat64()) }
	reducers := sameTasks(w.reduces, w.reduceTime)
	for i := range reducers {
		reducers[i].Bytes = w.copyTime
	}
	c.Jobs = []cluster.Job{{Phases: []cluster.Phase{
		{Tasks: sameTasks(w.maps, w.mapTime), Luck: scatter},
		{Kind: cluster.Reduce, After: []int{0}, Begin: 0.05, Fetch: 1, ReadScore: 1.0 / 3, Tasks: reducers, Luck: scatter},
	}}}
	return must(c)
}

// hadoopCluster assigns work as Hadoop did at the time: each machine asks every three seconds, when it also reports the
// progress of its tasks, and gets one task of each kind.
func hadoopCluster(seed uint64, policy restart.Policy) cluster.Config {
	return cluster.Config{
		Seed: seed, Interval: 3 * time.Second, Heartbeat: 3 * time.Second, OneTask: true, Restart: policy,
	}
}
