package gate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/gate"
)

// Section 5.2: a dual-core machine with 6 reducers, 2 computing, 2 copying per job.
func TestSection52Example(t *testing.T) {
	g, err := gate.New(gate.Config{})
	require.NoError(t, err)
	assert.Equal(t, gate.Config{MaxComputing: 2, MaxReducers: 6, MaxCopying: 2}, g.Config())

	var node gate.Node
	launch := func(copying int) int {
		n := 0
		for g.Launch(node, gate.Reducer{Copying: copying + n}).OK() {
			n++
			node.Reducers++
		}
		return n
	}
	assert.Equal(t, 2, launch(0), "the large job runs only two of its reducers while its maps run")
	assert.Equal(t, 2, launch(0), "a smaller job uses other slots for copying")
	for range 2 { // and for computing
		require.True(t, g.Compute(node, gate.Reducer{}).OK())
		node.Computing++
	}
	assert.Equal(t, gate.NodeComputing, g.Compute(node, gate.Reducer{}).Reason)
	node.Reducers, node.Computing = node.Reducers-2, node.Computing-2 // the smaller job ends
	for range 2 {                                                     // the large job's maps finish
		require.True(t, g.Compute(node, gate.Reducer{}).OK())
		node.Computing++
	}
	assert.Equal(t, 2, launch(0), "the large job launches two more to overlap copying with computation")
	assert.Equal(t, gate.JobCopying, g.Launch(node, gate.Reducer{Copying: 2}).Reason)
	assert.Equal(t, 2, launch(0))
	assert.Equal(t, gate.NodeFull, g.Launch(node, gate.Reducer{}).Reason)
}

// Section 5.3 and Figure 7: two jobs of 100 s of maps, which compete for IO, and 100 s of reduces, which compete for
// the CPU, take 300 s in FIFO order and 400 s if the maps share fairly.
func TestSection53BatchTime(t *testing.T) {
	const step = 100 * time.Millisecond // one map task
	fifo := batchTime(t, fairshare.FIFO, step)
	fair := batchTime(t, fairshare.Fair, step)
	assert.InDelta(t, 300, fifo.Seconds(), 2*step.Seconds()) // the paper's maps are infinitely divisible
	assert.InDelta(t, 400, fair.Seconds(), 2*step.Seconds())
	assert.InDelta(t, 1.33, fair.Seconds()/fifo.Seconds(), 0.01)
}

// batchTime runs the two jobs on one map slot, which the index hands out, and one CPU, which the gate guards.
func batchTime(t *testing.T, d fairshare.Discipline, step time.Duration) time.Duration {
	const work = 100 * time.Second
	maps := int64(work / step)
	tree, err := fairshare.New([]fairshare.Pool{{Demand: maps}, {Demand: maps}}, fairshare.Policy{Discipline: d})
	require.NoError(t, err)
	index := tree.Index() // usage counts the maps that were given a turn
	g, err := gate.New(gate.Config{MaxComputing: 1, MaxReducers: 2})
	require.NoError(t, err)
	node := gate.Node{Reducers: 2} // one reducer a job, copying from the start
	computing := [2]bool{}
	left := [2]time.Duration{work, work}
	var now time.Duration
	for ; left != [2]time.Duration{}; now += step {
		require.Less(t, now, time.Hour)
		for job := range left {
			if index.Usage(job) == maps && !computing[job] && left[job] > 0 && g.Compute(node, gate.Reducer{}).OK() {
				computing[job] = true
				node.Computing++
			}
		}
		for job := range left {
			if !computing[job] {
				continue
			}
			if left[job] -= step; left[job] == 0 {
				computing[job] = false
				node.Computing--
				node.Reducers--
			}
		}
		if next := index.Next().Pool; next >= 0 {
			index.Add(next, 1)
		}
	}
	return now
}

// Section 5.4: one job needs all the disk, and a new one arrives just before the running one would finish. Evicting
// the job that uses the most space never lets one finish; both rules do.
func TestSection54SomeJobAlwaysProgresses(t *testing.T) {
	mostSpace := func(jobs []gate.Job) int {
		most := 0
		for i := range jobs {
			if jobs[i].Bytes > jobs[most].Bytes {
				most = i
			}
		}
		return most
	}
	assert.Zero(t, finished(t, mostSpace))
	for _, rule := range []gate.EvictRule{gate.LatestSubmitted, gate.LeastProgress} {
		assert.Greater(t, finished(t, func(jobs []gate.Job) int { return rule.Evict(jobs).Job }), 9, "%v", rule)
	}
}

// finished counts the jobs that finish in 1000 steps. Each job writes one unit a step and finishes with ten, which is
// all the disk there is; a job arrives every eight steps.
func finished(t *testing.T, evict func([]gate.Job) int) (n int) {
	const disk = 10
	var jobs []gate.Job
	for step := range 1000 {
		if step%8 == 0 && len(jobs) < 5 {
			jobs = append(jobs, gate.Job{Submitted: time.Unix(int64(step), 0), Tasks: disk})
		}
		for i := 0; i < len(jobs); i++ {
			if used(jobs) == disk {
				victim := evict(jobs)
				if victim < 0 {
					continue
				}
				jobs[victim].Done, jobs[victim].Bytes = 0, 0
				if victim == i {
					continue
				}
			}
			if used(jobs) < disk {
				jobs[i].Done++
				jobs[i].Bytes++
			}
			if jobs[i].Done == disk {
				n++
				jobs = slices.Delete(jobs, i, i+1)
				i--
			}
		}
	}
	require.LessOrEqual(t, used(jobs), int64(disk))
	return n
}

func used(jobs []gate.Job) (sum int64) {
	for _, j := range jobs {
		sum += j.Bytes
	}
	return sum
}

// Section 5.2: users may "manually cap the number of reduces a job runs per node", whose values need much memory.
func TestSection52CapPerJobAndNode(t *testing.T) {
	var g gate.Gate
	assert.True(t, g.Launch(gate.Node{Reducers: 1}, gate.Reducer{Running: 1}).OK())
	assert.Equal(t, gate.Answer{Action: gate.Wait, Reason: gate.JobCap, Have: 1, Limit: 1},
		g.Launch(gate.Node{Reducers: 1}, gate.Reducer{Running: 1, MaxRunning: 1}))
}

// Section 5.2: long jobs could fill all maxReducers slots of a node; some are reserved for short jobs or production
// jobs.
func TestSection52ReservedSlots(t *testing.T) {
	g, err := gate.New(gate.Config{Reserved: 2})
	require.NoError(t, err)
	long, short := gate.Reducer{}, gate.Reducer{Privileged: true}
	assert.Equal(t, gate.Answer{Action: gate.Wait, Reason: gate.Reserved, Have: 4, Limit: 4},
		g.Launch(gate.Node{Reducers: 4}, long))
	assert.True(t, g.Launch(gate.Node{Reducers: 4}, short).OK())
	assert.True(t, g.Launch(gate.Node{Reducers: 5, Privileged: 2}, long).OK(), "short jobs take their own slots first")
	assert.Equal(t, gate.NodeFull, g.Launch(gate.Node{Reducers: 6, Privileged: 2}, short).Reason)
}

// Section 5.2: "a slave may look at working set sizes of currently running tasks to determine when to admit more
// reducers into the compute phase, or the master may look at network IO utilization on each slave".
func TestSection52MemoryAndNetwork(t *testing.T) {
	g, err := gate.New(gate.Config{MaxComputing: 4, Memory: 1000, MaxNetwork: .8})
	require.NoError(t, err)
	node := gate.Node{Reducers: 2, Computing: 1, Memory: 700, Network: .5}
	assert.True(t, g.Compute(node, gate.Reducer{Memory: 300}).OK())
	assert.Equal(t, gate.Answer{Action: gate.Wait, Reason: gate.MemoryFull, Have: 700, Limit: 1000},
		g.Compute(node, gate.Reducer{Memory: 301}))
	node.Computing = 0
	assert.True(t, g.Compute(node, gate.Reducer{Memory: 2000}).OK(), "nobody else computes: waiting would not help")
	assert.Equal(t, gate.MemoryFull, g.Launch(node, gate.Reducer{Memory: 2000}).Reason)
	assert.True(t, g.Launch(node, gate.Reducer{}).OK())
	node.Network = .8
	assert.Equal(t, gate.Answer{Action: gate.Wait, Reason: gate.NetworkBusy, Have: 800_000, Limit: 800_000},
		g.Launch(node, gate.Reducer{}))
}

// Section 5.4: "the node will refuse to admit tasks that are expected to overflow its disk".
func TestSection54DiskAdmission(t *testing.T) {
	g, err := gate.New(gate.Config{DiskReserve: 10})
	require.NoError(t, err)
	node := gate.Node{DiskFree: 100, DiskOwed: 30}
	assert.True(t, g.Room(node, 0, 60).OK())
	assert.Equal(t, gate.Answer{Action: gate.Wait, Reason: gate.DiskFull, Have: 61, Limit: 60}, g.Room(node, 0, 61))
	assert.Equal(t, gate.DiskFull, g.Launch(node, gate.Reducer{Disk: 61}).Reason)
	node.DiskFree = 0
	assert.True(t, g.Room(node, 0, 0).OK(), "a task that writes nothing overflows nothing")
}
