package clone

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each test checks a statement of Ananthanarayanan et al., NSDI 2013. Its name ends with the section.

// c = ⌈log(1-(1-ε)^(1/n))/log p⌉ with ε = 5 % (§3.2, Pseudocode 1 line 2). The expected counts were computed with 80 digits.
func TestCount_32(t *testing.T) {
	tasks := []int{1, 2, 5, 10, 20, 50, 150, 500, 1000}
	for p, want := range map[float64][]int{
		.05: {1, 2, 2, 2, 2, 3, 3, 4, 4},
		.1:  {2, 2, 2, 3, 3, 3, 4, 4, 5},
		.2:  {2, 3, 3, 4, 4, 5, 5, 6, 7},
	} {
		for i, n := range tasks {
			c, err := Count(n, p, .05)
			require.NoError(t, err)
			assert.Equal(t, want[i], c, "Count(%d, %v, .05)", n, p)
		}
	}
	assert.Equal(t, .05, Config{}.Effective().AcceptableRisk)
}

// The count keeps the share of straggling jobs within ε (§3.2, footnote 3).
func TestCountMeetsTheRisk_32(t *testing.T) {
	const jobs = 40000
	source := rand.New(rand.NewPCG(3, 2))
	for _, n := range []int{1, 2, 5, 10, 20, 50} {
		for _, p := range []float64{.05, .1, .2} {
			c, err := Count(n, p, .05)
			require.NoError(t, err)
			straggling := 0
			for range jobs {
				if straggles(source, n, c, p) {
					straggling++
				}
			}
			// The limit adds three standard deviations of a share of 5 % over this number of jobs.
			assert.Less(t, float64(straggling)/jobs, .05+3*math.Sqrt(.05*.95/jobs), "n=%d p=%v c=%d", n, p, c)
		}
	}
}

// straggles simulates a job of n tasks with c clones each, and reports whether the job straggles.
func straggles(source *rand.Rand, n, c int, p float64) bool {
	for range n {
		fine := 0
		for range c {
			if source.Float64() >= p {
				fine++
			}
		}
		if fine == 0 {
			return true
		}
	}
	return false
}

// If the decimal numbers meet the bound exactly, the naive formula takes one clone too many. If ε/n is below the precision
// of 1, the naive formula has no answer.
func TestNaiveCountFails_32(t *testing.T) {
	naive := func(n int, p, eps float64) float64 {
		return math.Ceil(math.Log(1-math.Pow(1-eps, 1/float64(n))) / math.Log(p))
	}
	// With one task, p^c ≤ ε. With ten tasks, ε is 1-(1-p^2)^10 for p = 0.01, to 20 digits.
	for _, b := range []struct {
		n      int
		p, eps float64
		want   int
	}{
		{1, .1, .1, 1},
		{10, .01, .00099955011997900125, 2},
	} {
		c, err := Count(b.n, b.p, b.eps)
		require.NoError(t, err)
		assert.Equal(t, b.want, c)
		assert.Equal(t, float64(b.want+1), naive(b.n, b.p, b.eps), "the naive formula for %+v", b)
	}
	assert.True(t, math.IsInf(naive(1000, .1, 1e-15), 1))
	c, err := Count(1000, .1, 1e-15)
	require.NoError(t, err)
	assert.Equal(t, 18, c, "each of the thousand tasks may run a risk of 10^-18")
}

// A job is cloned if B_U + c n ≤ β C and U + c n ≤ τ C. Either all its tasks are cloned or none (§3.2, Pseudocode 1 lines
// 3-4). §5 has 1800 slots: 150 nodes of 12 cores. β C is 90, τ C is 1440, and c is 3 for ten tasks at p = 0.1.
func TestAdmission_32(t *testing.T) {
	budget, err := NewBudget(Config{})
	require.NoError(t, err)
	job := Job{Tasks: 10}
	for range 3 {
		d := budget.Admit(job, Cluster{Capacity: 1800, Busy: 1410, Straggler: .1})
		assert.Equal(t, Clone, d.Action, d)
		assert.Equal(t, 3, d.Clones)
		assert.Equal(t, 10, d.Tasks)
		assert.Equal(t, 1440, d.Busy, "a use equal to the ceiling is allowed")
	}
	assert.Equal(t, 90, budget.Spent(), "a charge equal to the budget is allowed")
	d := budget.Admit(job, Cluster{Capacity: 1800, Straggler: .1})
	assert.Equal(t, "single over-budget wanted=3 spent=120 budget=90 busy=30 ceiling=1440", d.String())
	assert.Equal(t, 1, d.Clones)

	fresh, err := NewBudget(Config{})
	require.NoError(t, err)
	d = fresh.Admit(job, Cluster{Capacity: 1800, Busy: 1411, Straggler: .1})
	assert.Equal(t, "single over-ceiling wanted=3 spent=30 budget=90 busy=1441 ceiling=1440", d.String())
	assert.Zero(t, fresh.Spent())
}

// Every task of a cloned job gets the same number of clones (§3.2).
func TestAllTasksHaveAsManyClones_32(t *testing.T) {
	for n := 1; n <= 12; n++ {
		budget, err := NewBudget(Config{})
		require.NoError(t, err)
		d := budget.Admit(Job{Tasks: n}, Cluster{Capacity: 1800, Straggler: .1})
		require.Equal(t, Clone, d.Action)
		want, err := Count(n, .1, .05)
		require.NoError(t, err)
		launched := 0
		for i := range n {
			assert.Equal(t, want, d.ClonesOf(i), "task %d out of %d has another number of clones", i, n)
			launched += d.ClonesOf(i)
		}
		assert.Equal(t, launched, budget.Spent(), "the budget must be charged for all launched clones")
	}
}

// The printed charge is c n; cloning adds only (c-1) n attempts. Charge offers both readings (§3.2).
func TestBothReadingsOfTheCharge_32(t *testing.T) {
	for charge, want := range map[Charge]int{AllClones: 30, ExtraClones: 20} {
		budget, err := NewBudget(Config{Charge: charge})
		require.NoError(t, err)
		d := budget.Admit(Job{Tasks: 10}, Cluster{Capacity: 1800, Straggler: .1})
		assert.Equal(t, want, d.Spent, charge)
		assert.Equal(t, 30, d.Busy, "the use of the cluster must not depend on the charge %v", charge)
		assert.Equal(t, want/10*4, budget.Release(d.Grant, 4), charge)
		assert.Equal(t, want/10*6, budget.Cancel(d.Grant), charge)
		assert.Zero(t, budget.Spent())
	}
}

// A phase never has more clones of a task than its upstream phase (§3.2, multi-phased jobs).
func TestDownstreamNeverExceedsUpstream_32(t *testing.T) {
	budget, err := NewBudget(Config{})
	require.NoError(t, err)
	now := Cluster{Capacity: 180000, Straggler: .1}
	assert.Equal(t, 4, budget.Admit(Job{Tasks: 150}, now).Clones)
	assert.Equal(t, 3, budget.Admit(Job{Tasks: 150, Upstream: 3}, now).Clones)
	assert.Equal(t, 3, budget.Admit(Job{Tasks: 10, Upstream: 4}, now).Clones, "a phase gets no more clones than it needs")
	d := budget.Admit(Job{Tasks: 150, Upstream: 1}, now)
	assert.Equal(t, UpstreamSingle, d.Reason)
	assert.Equal(t, 1, d.Clones)
}

// A task straggles if it progresses at less than half the median rate of its phase (§2.1.2), and p is computed every
// hour (§3.2).
func TestEstimateOfP_32(t *testing.T) {
	e, err := NewEstimator(EstimatorConfig{MinTasks: 10})
	require.NoError(t, err)
	start := time.Unix(0, 0)
	phase := []float64{10, 10, 10, 10, 10, 10, 10, 10, 5, 4.9} // a task with exactly half the median is not a straggler
	assert.Equal(t, 1, stragglers(e, start, phase))
	p, known := e.P(start.Add(59 * time.Minute))
	assert.True(t, known)
	assert.Equal(t, .1, p, "in the first hour, P is the share so far")
	e.P(start.Add(time.Hour))
	assert.Equal(t, 0, stragglers(e, start.Add(61*time.Minute), make([]float64, 10)), "all rates are 0, so no task is below half the median")
	p, _ = e.P(start.Add(119 * time.Minute))
	assert.Equal(t, .1, p, "the estimate of the last hour is valid")
	p, known = e.P(start.Add(2 * time.Hour))
	assert.True(t, known)
	assert.Zero(t, p)
}

// The prediction depends equally on the latest window and on the past. A machine above the threshold is banned for one
// window, and considered again in the next window (§2.1.2).
func TestBlacklist_212(t *testing.T) {
	b, err := NewBlacklist(10, BlacklistConfig{})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	window := func(slow int) { // ten tasks on each machine, with slow stragglers on machine 7
		for machine := range 10 {
			for i := range 10 {
				b.Observe(now, machine, machine == 7 && i < slow)
			}
		}
		now = now.Add(5 * time.Minute)
	}
	window(4)
	assert.Empty(t, b.AppendBanned(nil, now))
	p, known := b.Predicted(7)
	assert.True(t, known)
	assert.InDelta(t, .5*.4+.5*.04, p, 1e-15, "a machine without a past starts with the average of all machines, 4 stragglers out of 100")
	window(10)
	assert.Equal(t, []int{7}, b.AppendBanned(nil, now))
	p, _ = b.Predicted(7)
	assert.InDelta(t, .5*1+.5*.22, p, 1e-15)
	for _, machine := range []int{-1, 10} {
		_, known = b.Predicted(machine)
		assert.False(t, known, "machine %d", machine)
	}
	assert.True(t, b.Banned(now.Add(5*time.Minute-1), 7))
	assert.False(t, b.Banned(now.Add(5*time.Minute), 7), "no task ran on machine 7, so the ban must end")
}
