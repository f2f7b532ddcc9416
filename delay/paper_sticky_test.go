package delay

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The cluster has 100 machines with one slot each, and each block is stored on 3 machines. If five jobs never
// leave their slots, they read less than 50 % of their blocks on the same machine. Delay scheduling solves this
// (Figure 5 and §4.2). A job that uses k of 100 machines finds the share 1-(1-k/100)^3 of its blocks there.
func TestStickySlots_FAIR41(t *testing.T) {
	for _, b := range []struct {
		jobs   int
		sticky float64
	}{{2, .88}, {3, .70}, {4, .58}, {5, .49}, {10, .28}, {20, .15}, {50, .06}} {
		assert.InDelta(t, b.sticky, stickyCluster(t, b.jobs, 0), .02, "the local share of %d jobs without a wait", b.jobs)
	}
	assert.Greater(t, stickyCluster(t, 5, 10*time.Second), .95)
}

const stickyMachines, stickyBlocks = 100, 6000

// scan is a job that reads blocks, each with three replicas.
type scan struct {
	Locality
	done    []bool
	on      [stickyMachines][]int // blocks by machine
	next    int                   // all blocks before this index are done
	running int
}

func newScan(policy *Policy, source *rand.Rand, blocks int) *scan {
	s := &scan{Locality: policy.Start(start), done: make([]bool, blocks)}
	for b := range blocks {
		for _, machine := range source.Perm(stickyMachines)[:3] {
			s.on[machine] = append(s.on[machine], b)
		}
	}
	return s
}

// pick returns the next block to read on the machine, and the block's level there: 0 if the machine has the block,
// and -1 if no block remains.
func (s *scan) pick(machine int) (block, level int) {
	for len(s.on[machine]) > 0 && s.done[s.on[machine][0]] {
		s.on[machine] = s.on[machine][1:]
	}
	if len(s.on[machine]) > 0 {
		return s.on[machine][0], 0
	}
	for s.next < len(s.done) && s.done[s.next] {
		s.next++
	}
	if s.next == len(s.done) {
		return 0, -1
	}
	return s.next, 1
}

// stickyCluster runs a number of scans on 100 machines with one slot each. The result is the share of tasks that ran
// on a machine with their block. Tasks take 10 s and end one by one. The slot is offered first to the job with the
// fewest running tasks, which is the job of the task that ended, and then to the other jobs.
func stickyCluster(t *testing.T, jobs int, wait time.Duration) float64 {
	source := rand.New(rand.NewPCG(4, uint64(jobs)))
	policy, err := New(Config{Waits: []time.Duration{wait}})
	require.NoError(t, err)
	all := make([]*scan, jobs)
	for i := range all {
		all[i] = newScan(policy, source, stickyBlocks/jobs)
	}
	holder := make([]int, stickyMachines) // by machine: the job that uses the slot, or -1
	for machine := range holder {
		holder[machine] = machine % jobs
		all[machine%jobs].running++
	}
	order := make([]int, jobs)
	local, launched := 0, 0
	for step := 0; launched < stickyBlocks/jobs*jobs && step < 100*stickyBlocks; step++ {
		now, machine := at(float64(step)*.1), step%stickyMachines
		if last := holder[machine]; last >= 0 {
			all[last].running--
		}
		for i := range order {
			order[i] = (max(holder[machine], 0) + i) % jobs
		}
		slices.SortStableFunc(order, func(a, b int) int { return all[a].running - all[b].running })
		holder[machine] = -1
		for _, i := range order {
			block, level := all[i].pick(machine)
			if all[i].Offer(now, level).Action == Launch {
				all[i].done[block] = true
				all[i].running++
				holder[machine] = i
				launched++
				local += 1 - level
				break
			}
		}
	}
	require.Equal(t, stickyBlocks/jobs*jobs, launched)
	return float64(local) / float64(launched)
}
