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

// Section 5.2: on a machine with two cores at most 6 reducers run, 2 reducers compute, and 2 reducers of each job
// copy their input.
func TestSection52ExampleOfADualCoreMachine(t *testing.T) {
	g, err := gate.New(gate.Config{})
	require.NoError(t, err)
	assert.Equal(t, gate.Config{MaxComputing: 2, MaxReducers: 6, MaxCopying: 2}, g.Config())

	var machine gate.Machine
	launch := func(copying int) int {
		n := 0
		for g.Launch(machine, gate.Reducer{Copying: copying + n}).OK() {
			n++
			machine.Reducers++
		}
		return n
	}
	assert.Equal(t, 2, launch(0), "the large job must run only two reducers while its maps run")
	assert.Equal(t, 2, launch(0), "a smaller job must get other slots to copy")
	for range 2 { // the smaller job computes
		require.True(t, g.Compute(machine, gate.Reducer{}).OK())
		machine.Computing++
	}
	assert.Equal(t, gate.MachineComputing, g.Compute(machine, gate.Reducer{}).Reason)
	machine.Reducers, machine.Computing = machine.Reducers-2, machine.Computing-2 // the smaller job ends
	for range 2 {                                                                 // the large job's maps finish
		require.True(t, g.Compute(machine, gate.Reducer{}).OK())
		machine.Computing++
	}
	assert.Equal(t, 2, launch(0), "the large job must get two more reducers that copy while it computes")
	assert.Equal(t, gate.JobCopying, g.Launch(machine, gate.Reducer{Copying: 2}).Reason)
	assert.Equal(t, 2, launch(0))
	assert.Equal(t, gate.MachineFull, g.Launch(machine, gate.Reducer{}).Reason)
}

// Section 5.3 and Figure 7: two jobs each have 100 s of maps, which compete for IO, and 100 s of reduces, which
// compete for the CPU. They take 300 s in FIFO order, and 400 s if the maps share fairly.
func TestSection53FairSharingDelaysABatch(t *testing.T) {
	const step = 100 * time.Millisecond // one map task
	fifo := batchTime(t, fairshare.FIFO, step)
	fair := batchTime(t, fairshare.Fair, step)
	assert.InDelta(t, 300, fifo.Seconds(), 2*step.Seconds()) // the paper divides maps into infinitely small parts
	assert.InDelta(t, 400, fair.Seconds(), 2*step.Seconds())
	assert.InDelta(t, 1.33, fair.Seconds()/fifo.Seconds(), 0.01)
}

// batchTime returns how long the two jobs take. The index hands out one map slot, and the gate admits reducers to one
// CPU.
func batchTime(t *testing.T, d fairshare.Discipline, step time.Duration) time.Duration {
	const work = 100 * time.Second
	maps := int64(work / step)
	tree, err := fairshare.New([]fairshare.Pool{{Demand: maps}, {Demand: maps}}, fairshare.Policy{Discipline: d})
	require.NoError(t, err)
	index := tree.Index() // usage counts the maps that have run
	g, err := gate.New(gate.Config{MaxComputing: 1, MaxReducers: 2})
	require.NoError(t, err)
	machine := gate.Machine{Reducers: 2} // each job has one reducer, which copies from the start
	computing := [2]bool{}
	left := [2]time.Duration{work, work}
	var now time.Duration
	for ; left != [2]time.Duration{}; now += step {
		require.Less(t, now, time.Hour)
		for job := range left {
			if index.Usage(job) == maps && !computing[job] && left[job] > 0 && g.Compute(machine, gate.Reducer{}).OK() {
				computing[job] = true
				machine.Computing++
			}
		}
		for job := range left {
			if !computing[job] {
				continue
			}
			if left[job] -= step; left[job] == 0 {
				computing[job] = false
				machine.Computing--
				machine.Reducers--
			}
		}
		if next := index.Next().Pool; next >= 0 {
			index.Add(next, 1)
		}
	}
	return now
}

// Section 5.4: each job needs the whole disk, and a new job arrives shortly before the running job would finish. If
// the job with the most space is evicted, no job ever finishes. With both rules jobs finish.
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

// finished returns how many jobs finish in 1000 steps. Each job writes one unit in a step and finishes with ten
// units, which is the size of the disk. A new job arrives every eight steps.
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

// Section 5.2: users may "manually cap the number of reduces a job runs per node", if the values of the job need
// much memory.
func TestSection52UsersCapTheirReducersOnAMachine(t *testing.T) {
	var g gate.Gate
	assert.True(t, g.Launch(gate.Machine{Reducers: 1}, gate.Reducer{Running: 1}).OK())
	assert.Equal(t, gate.Answer{Action: gate.Wait, Reason: gate.JobCap, Have: 1, Limit: 1},
		g.Launch(gate.Machine{Reducers: 1}, gate.Reducer{Running: 1, MaxRunning: 1}))
}

// Section 5.2: long jobs could fill all maxReducers slots of a machine, so some slots are reserved for short or
// production jobs.
func TestSection52ReservedSlotsAreForPrivilegedJobs(t *testing.T) {
	g, err := gate.New(gate.Config{Reserved: 2})
	require.NoError(t, err)
	long, short := gate.Reducer{}, gate.Reducer{Privileged: true}
	assert.Equal(t, gate.Answer{Action: gate.Wait, Reason: gate.Reserved, Have: 4, Limit: 4},
		g.Launch(gate.Machine{Reducers: 4}, long))
	assert.True(t, g.Launch(gate.Machine{Reducers: 4}, short).OK())
	assert.True(t, g.Launch(gate.Machine{Reducers: 5, Privileged: 2}, long).OK(), "short jobs must use the reserved slots first")
	assert.Equal(t, gate.MachineFull, g.Launch(gate.Machine{Reducers: 6, Privileged: 2}, short).Reason)
}

// Section 5.2: "a slave may look at working set sizes of currently running tasks to determine when to admit more
// reducers into the compute phase, or the master may look at network IO utilization on each slave".
func TestSection52MemoryAndNetworkAreLimits(t *testing.T) {
	g, err := gate.New(gate.Config{MaxComputing: 4, Memory: 1000, MaxNetwork: .8})
	require.NoError(t, err)
	machine := gate.Machine{Reducers: 2, Computing: 1, Memory: 700, Network: .5}
	assert.True(t, g.Compute(machine, gate.Reducer{Memory: 300}).OK())
	assert.Equal(t, gate.Answer{Action: gate.Wait, Reason: gate.MemoryFull, Have: 700, Limit: 1000},
		g.Compute(machine, gate.Reducer{Memory: 301}))
	machine.Computing = 0
	assert.True(t, g.Compute(machine, gate.Reducer{Memory: 2000}).OK(), "no reducer computes, so a wait would never end")
	assert.Equal(t, gate.MemoryFull, g.Launch(machine, gate.Reducer{Memory: 2000}).Reason)
	assert.True(t, g.Launch(machine, gate.Reducer{}).OK())
	machine.Network = .8
	assert.Equal(t, gate.Answer{Action: gate.Wait, Reason: gate.NetworkBusy, Have: 800_000, Limit: 800_000},
		g.Launch(machine, gate.Reducer{}))
	unlimited, err := gate.New(gate.Config{Memory: 1000})
	require.NoError(t, err)
	assert.True(t, unlimited.Launch(machine, gate.Reducer{}).OK(), "without a limit a busy link must admit a reducer")
	unlimited, err = gate.New(gate.Config{})
	require.NoError(t, err)
	assert.True(t, unlimited.Launch(machine, gate.Reducer{Memory: 5000}).OK(), "without a limit of the memory")
}

// Section 5.4: "the node will refuse to admit tasks that are expected to overflow its disk".
func TestSection54TasksMustFitOnTheDisk(t *testing.T) {
	g, err := gate.New(gate.Config{DiskReserve: 10})
	require.NoError(t, err)
	machine := gate.Machine{DiskFree: 100, DiskOwed: 30}
	assert.True(t, g.Room(machine, 0, 60).OK())
	assert.Equal(t, gate.Answer{Action: gate.Wait, Reason: gate.DiskFull, Have: 61, Limit: 60}, g.Room(machine, 0, 61))
	assert.Equal(t, gate.DiskFull, g.Launch(machine, gate.Reducer{Disk: 61}).Reason)
	machine.DiskFree = 0
	assert.True(t, g.Room(machine, 0, 0).OK(), "a task that writes nothing must be admitted")
}
