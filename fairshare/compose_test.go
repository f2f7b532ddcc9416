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

// Section 4.2: "if the head-of-line job cannot launch a local task, we skip this job and look at subsequent jobs". Of 20
// nodes with one slot each, four hold the data of a small job. Without a wait it launches where it stands when it is next,
// and a fifth of its tasks are local; where the index holds it until its wait is over or its node is on offer, nearly all
// are. It keeps its share, and no slot stands idle.
func TestSection42SkippedJobsKeepTheirPlace(t *testing.T) {
	local, used := skipped(t, 0)
	assert.InDelta(t, .2, local, .06)
	assert.InDelta(t, 3, used, .1)
	local, used = skipped(t, 30*time.Second)
	assert.Greater(t, local, .95)
	assert.Greater(t, used, 2.5, "of a share of 3")
}

// skipped runs 20 nodes for an hour in steps of a second, with tasks of 10 s on average, and returns the share of the small
// job's tasks that were local and how many slots it had on average.
func skipped(t *testing.T, wait time.Duration) (local, used float64) {
	const nodes, holders, steps, small = 20, 4, 3600, 0
	rng := rand.New(rand.NewPCG(42, 1))
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 3}, {Demand: 100}}, fairshare.Policy{})
	require.NoError(t, err)
	index := tree.Index()
	policy, err := delay.New(delay.Config{Waits: []time.Duration{wait}})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	job := policy.Start(now)
	var launched, hits, sum float64
	runs := make([]int, nodes) // the pool of the task on each node; -1 for none
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
		for _, n := range rng.Perm(nodes) {
			if runs[n] >= 0 {
				continue
			}
			next := index.Next().Pool
			if next == small {
				level := min(1, n/holders) // the first nodes hold its data
				if job.Offer(now, level).Action == delay.Wait {
					index.Hold(small, true)
					next = index.Next().Pool
					index.Hold(small, false)
				} else {
					launched++
					hits += float64(1 - level)
				}
			}
			require.NotEqual(t, -1, next, "somebody always wants the slot")
			runs[n] = next
			index.Add(next, 1)
		}
		sum += float64(index.Usage(small))
		now = now.Add(time.Second)
	}
	return hits / launched, sum / steps
}
