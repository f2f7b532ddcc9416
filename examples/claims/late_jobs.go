package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

const sleepNodes, sweepReducers = 40, 76

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
	c.Machines = nodes(sleepNodes, 2, 2, 1)
	c.Jobs = []cluster.Job{{Phases: []cluster.Phase{
		{Tasks: sameTasks(2*sleepNodes, 15)},
		{Kind: cluster.Reduce, After: []int{0}, Tasks: sameTasks(reducers, 100*0.7), Luck: sleeps},
	}}}
	return must(c)
}

func lateSleep(seed uint64, speculativeCap float64) cluster.Result {
	return sleepJob(seed, sweepReducers, rules.LATE{SpeculativeCap: speculativeCap})
}

// The physical machines of EC2. They are inputs of L10 to L13.
const (
	// physicalDisk is the speed of the disks of a physical machine together, in bytes per second. It is chosen so
	// that a machine of k on a physical machine has min(virtualDisk, physicalDisk/k): 62, 62, 58, 44, 35, 29 and 25
	// MB/s. Table 2 has 61.8, 56.5, 53.6, 46.4, 34.2, 25.4 and 24.8.
	physicalDisk = 175e6
	// virtualDisk is the most that one virtual machine gets: Table 2, one machine on a physical machine.
	virtualDisk = 62e6
	// card is a network card of 1 Gbps, as was usual in 2008. The paper does not say.
	card = 125e6
)

// hardware describes physical machines by the number of virtual machines on them, counted from 0: their disks, and
// the scatter of these as a share. machine is the most that one virtual machine gets of a disk.
type hardware struct {
	disk, scatter []float64
	machine       float64
}

// The scatter on EC2 is Table 2's standard deviation by its mean for seven machines, which leave other users no room. It
// was measured in production. The jobs ran on a test cluster, of which the authors had nearly all machines (§5, Table
// 1), so other users' machines, which scatter the rates of fewer machines, are not there. The local physical machines
// have 1, 2 or 4 machines. Their disks have Table 4's speed times the number of machines.
var (
	ec2 = hardware{
		disk:    slices.Repeat([]float64{physicalDisk}, 8),
		scatter: slices.Repeat([]float64{0.9 / 24.8}, 8),
		machine: virtualDisk,
	}
	local = hardware{
		disk:    []float64{52.1e6, 2 * 20.9e6, 0, 4 * 10.1e6},
		scatter: []float64{13.7 / 52.1, 2.7 / 20.9, 0, 1.1 / 10.1},
		machine: 52.1e6,
	}
)

// The numbers of physical machines with 1, 2, ... machines: Tables 3 and 5, §5.2.2 with about ten machines at each
// level, and §5.2.3 with twice as many. Packed are 100 machines on 13 physical machines (§5.1.2).
var (
	physicalOf243 = []int{40, 20, 15, 10, 8, 4, 2}
	physicalOf100 = []int{13, 7, 3, 3, 2, 2, 2, 2}
	physicalOf204 = []int{23, 12, 8, 6, 5, 4, 4, 4}
	physicalOf15  = []int{5, 3, 0, 1}
	packed        = []int{0, 0, 0, 0, 0, 0, 4, 9}
	isolated      = []int{100}
)

// backgroundWrites is the number of endless writes on a straggler. The paper's stragglers run four processes that
// write and four that compute. It gives only their effect: without speculation, Sort took 3.2 times as long as under
// LATE. L11 is calibrated to this figure. A straggler's processor is shared with as many processes, and runs four
// tasks.
const backgroundWrites = 16

// work is the size of a job. The times are in seconds on a machine that is alone on its physical machine and has two
// such tasks at once: of a map, of the copying of a reduce, and of the rest of the reduce. Copying is the slowest part of
// a reduce, and the rest is quick (§3.2, §4.2). compute is the part of a map's time in which it uses no disk.
type work struct {
	maps, reduces                          int
	mapTime, compute, copyTime, reduceTime float64
}

// work100GB is the job of §5.1.2. Its times are chosen so that the job takes the paper's 408 s with one machine on
// each physical machine.
var work100GB = work{maps: 1600, reduces: 180, mapTime: 15.8, copyTime: 158, reduceTime: 94.5}

// on returns a function that runs a job on virtual machines with a number of stragglers.
func on(h hardware, physical []int, stragglers int, w work) func(seed uint64, policy restart.Policy) cluster.Result {
	return func(seed uint64, policy restart.Policy) cluster.Result {
		return hadoopJob(seed, policy, h, physical, stragglers, w)
	}
}

var (
	// §5.2.1: 30 GB, so two maps for each machine, and reduces in nine of ten slots.
	sortOn243 = on(ec2, physicalOf243, 0, work{maps: 486, reduces: 437, mapTime: 30, copyTime: 60, reduceTime: 30})
	// §5.2.2: 25 GB, so four maps for each machine.
	sortOn100 = on(ec2, physicalOf100, 8, work{maps: 400, reduces: 180, mapTime: 15, copyTime: 60, reduceTime: 30})
	// §5.2.3: 43 GB on 204 machines. The reduces of grep write half as much as Sort's.
	grep = on(ec2, physicalOf204, 8, work{maps: 672, reduces: 367, mapTime: 30, copyTime: 30, reduceTime: 15})
)

// wordCount runs §5.2.3: 21 GB on 204 machines. Its reduces write nearly nothing. A map reads what a map of grep reads, and
// computes for the rest of its time.
func wordCount(mapTime float64) func(seed uint64, policy restart.Policy) cluster.Result {
	return on(ec2, physicalOf204, 8, work{maps: 328, reduces: 367, mapTime: mapTime, compute: mapTime - 15, copyTime: 6, reduceTime: 3})
}

// localSort runs §5.3.2: one map for each machine, with a number of stragglers.
func localSort(stragglers int) func(seed uint64, policy restart.Policy) cluster.Result {
	return on(local, physicalOf15, stragglers, work{maps: 15, reduces: 27, mapTime: 30, copyTime: 60, reduceTime: 30})
}

// hadoopJob runs a job of maps and reduces on virtual machines. A map reads a block of two replicas, computes, and
// writes as much as it has read to its disk, if it does not compute. A reduce copies from the memory of the machines
// that ran the maps. Then it writes to its disk. The replica of its output is left out: the bytes of a job stand for
// all that its tasks do with their disks, and are many times its data.
func hadoopJob(seed uint64, policy restart.Policy, h hardware, physical []int, stragglers int, w work) cluster.Result {
	rng := rand.New(rand.NewPCG(seed, 52))
	c := hadoopCluster(seed, policy)
	c.Physical, c.Machines = virtualMachines(rng, h, physical)
	for _, i := range rng.Perm(len(c.Machines))[:stragglers] {
		m := &c.Machines[i]
		m.Background, m.Speed = backgroundWrites, 4.0/(4+backgroundWrites)
	}
	bytes := func(seconds float64) float64 { return seconds * h.machine / 2 } // two tasks share the disk
	scatter := func(r *rand.Rand, _, _, _ int) float64 { return math.Max(0.5, 1+0.1*r.NormFloat64()) }
	maps, reduces := make([]cluster.Task, w.maps), make([]cluster.Task, w.reduces)
	for i := range maps {
		maps[i] = cluster.Task{Replicas: replicas(rng, len(c.Machines), 2), Seconds: w.compute}
		if w.compute > 0 {
			maps[i].Bytes = bytes(w.mapTime - w.compute)
		} else {
			maps[i].Bytes, maps[i].Writes = bytes(w.mapTime)/2, bytes(w.mapTime)/2
		}
	}
	for i := range reduces {
		reduces[i] = cluster.Task{Bytes: bytes(w.copyTime), Writes: bytes(w.reduceTime)}
	}
	c.Jobs = []cluster.Job{{Phases: []cluster.Phase{
		{Tasks: maps, Luck: scatter},
		{
			Kind: cluster.Reduce, After: []int{0}, Begin: 0.05, ReadScore: 1.0 / 3, Tasks: reduces, Luck: scatter,
		},
	}}}
	return must(c)
}

// virtualMachines returns physical machines with 1, 2, ... machines. Their disks scatter. The most that a machine
// gets scatters as the disk of a machine that is alone.
func virtualMachines(rng *rand.Rand, h hardware, physical []int) (list []cluster.Physical, machines []cluster.Machine) {
	drawn := func(mean, scatter float64) float64 { return mean * max(0.25, 1+scatter*rng.NormFloat64()) }
	for level, n := range physical {
		for range n {
			for range level + 1 {
				machines = append(machines, cluster.Machine{
					Slots: [2]int{2, 2}, Physical: len(list), DiskRate: drawn(h.machine, h.scatter[0]),
				})
			}
			disk := h.disk[level]
			if level > 0 {
				disk = drawn(disk, h.scatter[level])
			}
			list = append(list, cluster.Physical{Disk: disk, Card: card})
		}
	}
	return list, machines
}

// writeRate returns the speed in MB/s at which one of k virtual machines writes 5000 MB on a physical machine of EC2,
// as in §5.1.1.
func writeRate(k int) float64 {
	const written = 5000e6
	return written / 1e6 / must(cluster.Config{
		Physical: []cluster.Physical{{Disk: physicalDisk, Card: card}},
		Machines: slices.Repeat([]cluster.Machine{{Slots: [2]int{1}, DiskRate: virtualDisk}}, k),
		Jobs:     []cluster.Job{{Phases: []cluster.Phase{{Tasks: slices.Repeat([]cluster.Task{{Writes: written}}, k)}}}},
	}).End.Seconds()
}

// hadoopCluster assigns work as Hadoop did then. Each machine asks for work every three seconds, reports the progress
// of its tasks in the same message, and gets one task of each kind.
func hadoopCluster(seed uint64, policy restart.Policy) cluster.Config {
	return cluster.Config{
		Seed: seed, Interval: 3 * time.Second, Heartbeat: 3 * time.Second, OneTask: true, Restart: policy,
	}
}
