package delay

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// With 100 nodes of one slot and 3 replicas, jobs that never leave their slots find below 50 % of their data there at
// five jobs; delay scheduling mends that (Figure 5 and §4.2). Jobs that hold k of 100 nodes find 1-(1-k/100)^3.
func TestStickySlots_FAIR41(t *testing.T) {
	for _, b := range []struct {
		jobs   int
		sticky float64
	}{{2, .88}, {3, .70}, {4, .58}, {5, .49}, {10, .28}, {20, .15}, {50, .06}} {
		assert.InDelta(t, b.sticky, stickyCluster(t, b.jobs, 0), .02, "%d jobs, no wait", b.jobs)
	}
	assert.Greater(t, stickyCluster(t, 5, 10*time.Second), .95)
}

// stickyCluster runs so many scan jobs on 100 nodes of one slot and returns the share of the tasks that ran on a node
// that has their block. Tasks take 10 s and end one by one; the slot is offered to the job with the fewest running
// tasks, which is the one that just lost one, then to the others.
func stickyCluster(t *testing.T, jobs int, wait time.Duration) float64 {
	const nodes, blocks = 100, 6000
	source := rand.New(rand.NewPCG(4, uint64(jobs)))
	policy, err := New(Config{Waits: []time.Duration{wait}})
	require.NoError(t, err)
	type block struct {
		replicas [3]int
		done     bool
	}
	type scan struct {
		Locality
		blocks  []block
		on      [nodes][]int // blocks by node
		next    int          // all blocks before it are done
		running int
	}
	all := make([]scan, jobs)
	for i := range all {
		s := &all[i]
		s.Locality = policy.Start(start)
		s.running = nodes / jobs
		s.blocks = make([]block, blocks/jobs)
		for b := range s.blocks {
			copy(s.blocks[b].replicas[:], source.Perm(nodes)[:3])
			for _, node := range s.blocks[b].replicas {
				s.on[node] = append(s.on[node], b)
			}
		}
	}
	holder := make([]int, nodes)
	for node := range holder {
		holder[node] = node % jobs
	}
	order := make([]int, jobs)
	local, launched := 0, 0
	for step := 0; launched < blocks && step < 100*blocks; step++ {
		now, node := at(float64(step)*.1), step%nodes
		if last := holder[node]; last >= 0 {
			all[last].running--
		}
		for i := range order {
			order[i] = (max(holder[node], 0) + i) % jobs
		}
		slices.SortStableFunc(order, func(a, b int) int { return all[a].running - all[b].running })
		holder[node] = -1
		for _, i := range order {
			s := &all[i]
			for len(s.on[node]) > 0 && s.blocks[s.on[node][0]].done {
				s.on[node] = s.on[node][1:]
			}
			for s.next < len(s.blocks) && s.blocks[s.next].done {
				s.next++
			}
			if s.next == len(s.blocks) {
				continue
			}
			pick, level := s.next, 1
			if len(s.on[node]) > 0 {
				pick, level = s.on[node][0], 0
			}
			if s.Offer(now, level).Action == Launch {
				s.blocks[pick].done = true
				s.running++
				holder[node] = i
				launched++
				local += 1 - level
				break
			}
		}
	}
	require.Equal(t, blocks/jobs*jobs, launched)
	return float64(local) / float64(launched)
}
