package fairshare_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/fairshare"
)

// Section 4.2: "if the head-of-line job cannot launch a local task, we skip this job and look at subsequent jobs".
// The cluster has 20 machines with one slot each, and four machines store the data of a small job. If the small
// job never waits, it starts tasks on any machine, and a fifth of its tasks run on a machine with their data. If
// it waits, the index skips the job until its wait is over or until a slot on a machine with its data is offered.
// Then nearly all of its tasks run on such a machine. The job still gets its share, and no slot is idle.
func TestSection42SkippedJobsKeepTheirPlace(t *testing.T) {
	local, used := skipped(t, 0)
	assert.InDelta(t, .2, local, .06, "a fifth of the tasks must be local by chance")
	assert.InDelta(t, 3, used, .1, "the small job must have its share of 3 slots")
	local, used = skipped(t, 30*time.Second)
	assert.Greater(t, local, .95, "nearly all tasks must be local")
	assert.Greater(t, used, 2.5, "the small job must keep nearly its share of 3 slots")
}

// skipped simulates 20 machines for an hour in steps of a second. Tasks take 10 s on average. skipped returns the
// share of the small job's tasks that were local, and the mean number of slots that the small job used.
func skipped(t *testing.T, wait time.Duration) (local, used float64) {
	const machines, holders, steps, small = 20, 4, 3600, 0
	rng := rand.New(rand.NewPCG(42, 1))
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 3}, {Demand: 100}}, fairshare.Policy{})
	require.NoError(t, err)
	index := tree.Index()
	policy, err := delay.New(delay.Config{Waits: []time.Duration{wait}})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	job := policy.Start(now)
	var launched, hits, sum float64
	runs := make([]int, machines) // the pool of the task on each machine; -1 for none
	for n := range runs {
		runs[n] = -1
	}
	for range steps {
		for n := range runs {
			if runs[n] >= 0 && rng.IntN(10) == 0 {
				index.Add(runs[n], -1)
				runs[n] = -1
			}
		}
		for _, n := range rng.Perm(machines) {
			if runs[n] >= 0 {
				continue
			}
			next := index.Next().Pool
			if next == small {
				level := min(1, n/holders) // the first machines hold the job's data
				if job.Offer(now, level).Action == delay.Wait {
					index.Hold(small, true)
					next = index.Next().Pool
					index.Hold(small, false)
				} else {
					launched++
					hits += float64(1 - level)
				}
			}
			require.NotEqual(t, -1, next, "some pool must always want the slot")
			runs[n] = next
			index.Add(next, 1)
		}
		sum += float64(index.Usage(small))
		now = now.Add(time.Second)
	}
	return hits / launched, sum / steps
}
