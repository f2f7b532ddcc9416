package fairshare_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

// Section 5.2: a dual-core machine with 6 reducers, 2 computing, 2 copying per job.
func TestSection52Example(t *testing.T) {
	gate, err := fairshare.NewGate(fairshare.GateConfig{})
	require.NoError(t, err)
	assert.Equal(t, fairshare.GateConfig{MaxComputing: 2, MaxReducers: 6, MaxCopying: 2}, gate.Config())

	var node fairshare.NodeLoad
	launch := func(copying int) int {
		n := 0
		for gate.Launch(node, copying+n).OK() {
			n++
			node.Reducers++
		}
		return n
	}
	assert.Equal(t, 2, launch(0), "the large job runs only two of its reducers while its maps run")
	assert.Equal(t, 2, launch(0), "a smaller job uses other slots for copying")
	for range 2 { // and for computing
		require.True(t, gate.Compute(node).OK())
		node.Computing++
	}
	assert.Equal(t, fairshare.NodeComputing, gate.Compute(node).Reason)
	node.Reducers, node.Computing = node.Reducers-2, node.Computing-2 // the smaller job ends
	for range 2 {                                                     // the large job's maps finish
		require.True(t, gate.Compute(node).OK())
		node.Computing++
	}
	assert.Equal(t, 2, launch(0), "the large job launches two more to overlap copying with computation")
	assert.Equal(t, fairshare.JobCopying, gate.Launch(node, 2).Reason)
	assert.Equal(t, 2, launch(0))
	assert.Equal(t, fairshare.NodeFull, gate.Launch(node, 0).Reason)
}

// Section 5.3 and Figure 7: two jobs of 100 s of maps, which compete for IO, and 100 s of reduces, which compete for the
// CPU, take 300 s in FIFO order and 400 s if the maps share fairly.
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
	gate, err := fairshare.NewGate(fairshare.GateConfig{MaxComputing: 1, MaxReducers: 2})
	require.NoError(t, err)
	node := fairshare.NodeLoad{Reducers: 2} // one reducer a job, copying from the start
	computing := [2]bool{}
	left := [2]time.Duration{work, work}
	var now time.Duration
	for ; left != [2]time.Duration{}; now += step {
		require.Less(t, now, time.Hour)
		for job := range left {
			if index.Usage(job) == maps && !computing[job] && left[job] > 0 && gate.Compute(node).OK() {
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

// Section 5.4: one job needs all the disk, and a new one arrives just before the running one would finish. Evicting the
// job that uses the most space never lets one finish; both rules do.
func TestSection54SomeJobAlwaysProgresses(t *testing.T) {
	mostSpace := func(jobs []fairshare.Job) int {
		most := 0
		for i := range jobs {
			if jobs[i].Bytes > jobs[most].Bytes {
				most = i
			}
		}
		return most
	}
	assert.Zero(t, finished(t, mostSpace))
	for _, rule := range []fairshare.EvictRule{fairshare.LatestSubmitted, fairshare.LeastProgress} {
		assert.Greater(t, finished(t, func(jobs []fairshare.Job) int { return rule.Evict(jobs).Job }), 9, "%v", rule)
	}
}

// finished counts the jobs that finish in 1000 steps. Each job writes one unit a step and finishes with ten, which is all
// the disk there is; a job arrives every eight steps.
func finished(t *testing.T, evict func([]fairshare.Job) int) (n int) {
	const disk = 10
	var jobs []fairshare.Job
	for step := range 1000 {
		if step%8 == 0 && len(jobs) < 5 {
			jobs = append(jobs, fairshare.Job{Submitted: time.Unix(int64(step), 0), Tasks: disk})
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

func used(jobs []fairshare.Job) (sum int64) {
	for _, j := range jobs {
		sum += j.Bytes
	}
	return sum
}
