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

const stickyNodes, stickyBlocks = 100, 6000

// scan is a job that reads blocks with three replicas each.
type scan struct {
	Locality
	done    []bool
	on      [stickyNodes][]int // blocks by node
	next    int                // all blocks before it are done
	running int
}

func newScan(policy *Policy, source *rand.Rand, blocks int) *scan {
	s := &scan{Locality: policy.Start(start), done: make([]bool, blocks)}
	for b := range blocks {
		for _, node := range source.Perm(stickyNodes)[:3] {
			s.on[node] = append(s.on[node], b)
		}
	}
	return s
}

// pick returns a block to read next on the node, and its level there: 0 if the node has it, -1 if there is no block
// left.
func (s *scan) pick(node int) (block, level int) {
	for len(s.on[node]) > 0 && s.done[s.on[node][0]] {
		s.on[node] = s.on[node][1:]
	}
	if len(s.on[node]) > 0 {
		return s.on[node][0], 0
	}
	for s.next < len(s.done) && s.done[s.next] {
		s.next++
	}
	if s.next == len(s.done) {
		return 0, -1
	}
	return s.next, 1
}

// stickyCluster runs so many scans on 100 nodes of one slot and returns the share of the tasks that ran on a node that
// has their block. Tasks take 10 s and end one by one; the slot is offered to the job with the fewest running tasks,
// which is the one that just lost one, then to the others.
func stickyCluster(t *testing.T, jobs int, wait time.Duration) float64 {
	source := rand.New(rand.NewPCG(4, uint64(jobs)))
	policy, err := New(Config{Waits: []time.Duration{wait}})
	require.NoError(t, err)
	all := make([]*scan, jobs)
	for i := range all {
		all[i] = newScan(policy, source, stickyBlocks/jobs)
	}
	holder := make([]int, stickyNodes) // -1 is nobody
	for node := range holder {
		holder[node] = node % jobs
		all[node%jobs].running++
	}
	order := make([]int, jobs)
	local, launched := 0, 0
	for step := 0; launched < stickyBlocks/jobs*jobs && step < 100*stickyBlocks; step++ {
		now, node := at(float64(step)*.1), step%stickyNodes
		if last := holder[node]; last >= 0 {
			all[last].running--
		}
		for i := range order {
			order[i] = (max(holder[node], 0) + i) % jobs
		}
		slices.SortStableFunc(order, func(a, b int) int { return all[a].running - all[b].running })
		holder[node] = -1
		for _, i := range order {
			block, level := all[i].pick(node)
			if all[i].Offer(now, level).Action == Launch {
				all[i].done[block] = true
				all[i].running++
				holder[node] = i
				launched++
				local += 1 - level
				break
			}
		}
	}
	require.Equal(t, stickyBlocks/jobs*jobs, launched)
	return float64(local) / float64(launched)
}
