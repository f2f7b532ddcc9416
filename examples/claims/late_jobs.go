package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

const (
	sleepNodes    = 40
	sweepReducers = 76
)

// sleepJob runs the workload of §5.4: maps of 15 s, then reducers that sleep 100 times, each time between 0 and 2t. t
// is 0.7 s times a factor of the machine: 1 or 1.5 for most machines, 3 for five machines, and 10 for one machine.
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

// disks has the write speed of a VM in MB/s by the number of VMs on its host, and the scatter of this speed over VMs.
type disks struct{ rate, scatter []float64 }

// Tables 2 and 4. Where there are eight VMs on a host, the rate of seven stands in; the local hosts have 1, 2 or 4.
var (
	ec2 = disks{
		[]float64{61.8, 56.5, 53.6, 46.4, 34.2, 25.4, 24.8, 24.8}, []float64{4.9, 10.0, 11.2, 11.9, 7.9, 2.5, 0.9, 0.9},
	}
	local = disks{[]float64{52.1, 20.9, 10.1}, []float64{13.7, 2.7, 1.1}}
)

// The VMs' levels of load: Tables 3 and 5, §5.2.2 with about ten VMs at each level, and §5.2.3 with twice as many.
var (
	levelsOf243 = levels([]int{40, 20, 15, 10, 8, 4, 2})
	levelsOf100 = levels([]int{14, 7, 4, 3, 2, 2, 2, 2})[:100]
	levelsOf204 = levels([]int{26, 13, 8, 6, 5, 4, 4, 4})[:204]
	levelsOf15  = []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2}
)

// levels returns the load level of each VM, counted from 0. hosts has the numbers of hosts with 1, 2, ... VMs.
func levels(hosts []int) []int {
	var all []int
	for i, n := range hosts {
		for range n * (i + 1) {
			all = append(all, i)
		}
	}
	return all
}

// stragglerLoad is the factor by which the background load makes a VM slower. The paper gives only its effect:
// without speculation, Sort took 3.2 times as long as under LATE. L11 is calibrated to this figure.
const stragglerLoad = 3.6

// work is the size of a job. The times are in seconds on a VM that is alone on its host.
type work struct {
	maps, reduces                 int
	mapTime, copyTime, reduceTime float64
}

// work100GB is the job of §5.1.2. Its times are chosen so that the job takes the paper's 408 s with one VM on each
// host.
var work100GB = work{maps: 1600, reduces: 180, mapTime: 17.2, copyTime: 103, reduceTime: 172}

// sortOn243 runs §5.2.1: 30 GB, so two maps for each VM, and reduces in nine of ten slots.
func sortOn243(seed uint64, policy restart.Policy) cluster.Result {
	w := work{maps: 486, reduces: 437, mapTime: 30, copyTime: 30, reduceTime: 60}
	return sortJob(seed, policy, ec2, levelsOf243, 0, w)
}

// sortOn100 runs §5.2.2: 25 GB, so four maps for each VM.
func sortOn100(seed uint64, policy restart.Policy) cluster.Result {
	w := work{maps: 400, reduces: 180, mapTime: 15, copyTime: 30, reduceTime: 60}
	return sortJob(seed, policy, ec2, levelsOf100, 8, w)
}

// grep and wordCount run §5.2.3: 43 and 21 GB on 204 VMs. The reduces of grep write half as much as Sort's, and the
// reduces of wordCount nearly nothing.
func grep(seed uint64, policy restart.Policy) cluster.Result {
	w := work{maps: 672, reduces: 367, mapTime: 30, copyTime: 15, reduceTime: 30}
	return sortJob(seed, policy, ec2, levelsOf204, 8, w)
}

func wordCount(mapTime float64) func(seed uint64, policy restart.Policy) cluster.Result {
	return func(seed uint64, policy restart.Policy) cluster.Result {
		w := work{maps: 328, reduces: 367, mapTime: mapTime, copyTime: 3, reduceTime: 6}
		return sortJob(seed, policy, ec2, levelsOf204, 8, w)
	}
}

// localSort returns a function that runs §5.3.2: one map for each VM, with a number of stragglers.
func localSort(stragglers int) func(seed uint64, policy restart.Policy) cluster.Result {
	return func(seed uint64, policy restart.Policy) cluster.Result {
		w := work{maps: 15, reduces: 27, mapTime: 30, copyTime: 30, reduceTime: 60}
		return sortJob(seed, policy, local, levelsOf15, stragglers, w)
	}
}

func sortJob(seed uint64, policy restart.Policy, d disks, vms []int, stragglers int, w work) cluster.Result {
	rng := rand.New(rand.NewPCG(seed, 52))
	c := hadoopCluster(seed, policy)
	for _, i := range rng.Perm(len(vms)) {
		level := vms[i]
		rate := max(d.rate[level]/4, d.rate[level]+d.scatter[level]*rng.NormFloat64())
		m := cluster.Machine{Slots: [2]int{2, 2}, Speed: rate / d.rate[0]}
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

// hadoopCluster assigns work as Hadoop did then. Each machine asks for work every three seconds, reports the progress
// of its tasks in the same message, and gets one task of each kind.
func hadoopCluster(seed uint64, policy restart.Policy) cluster.Config {
	return cluster.Config{
		Seed: seed, Interval: 3 * time.Second, Heartbeat: 3 * time.Second, OneTask: true, Restart: policy,
	}
}
