package risk

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each test checks a statement of Ananthanarayanan et al., NSDI 2013. Its name ends with the section.

func of(t *testing.T, s Scheme, n, c int, p float64) float64 {
	t.Helper()
	r, err := Of(s, n, c, p)
	require.NoError(t, err)
	return r
}

// With ten tasks and p = 0.1, a clone of each task reduces the risk far more than a clone of the job (§3.1, Figure
// 3). The expected numbers are the two formulas in the text, (1-(1-p)^n)^c and 1-(1-p^c)^n, computed by hand.
func TestTaskLevelBeatsJobLevel_31(t *testing.T) {
	job := []float64{.651322, .424220, .276303, .179963, .117213}
	task := []float64{.651322, .0956179, .00995512, .000999550, .0000999955}
	for i := range job {
		assert.InEpsilon(t, job[i], of(t, JobLevel, 10, i+1, .1), 1e-5, "job-level, c=%d", i+1)
		assert.InEpsilon(t, task[i], of(t, TaskLevel, 10, i+1, .1), 1e-5, "task-level, c=%d", i+1)
	}
}

// With three clones and ten or twenty tasks in each phase, CAC straggles "over 10% and 30%" more than CC (§4.2, Figure
// 5). The text states no p; with p = 8 % the two differences are 13 and 31 percentage points.
func TestAvoidanceStragglesMore_42(t *testing.T) {
	gap := func(n int, p float64) float64 { return of(t, Avoidance, n, 3, p) - of(t, Contention, n, 3, p) }
	assert.InDelta(t, .134, gap(10, .08), .0005)
	assert.InDelta(t, .314, gap(20, .08), .0005)
	assert.InDelta(t, .099, gap(10, .07), .0005)
	assert.InDelta(t, .246, gap(20, .07), .0005)
}

// Equation 2 as printed, with Ψ(d)-Ψ(d-1), is not a probability. With Ψ(d)-Ψ(d+1) it equals a simulation (§4.2).
func TestEquation2IsMisprinted_42(t *testing.T) {
	psi := func(n, c, d int, p float64) float64 {
		sum := 0.0
		for i := 0; i <= c-d; i++ {
			sum += binomial(c, i, p)
		}
		return math.Pow(sum, float64(n))
	}
	printed := func(n, c int, p float64) float64 {
		r := 1.0
		for d := 1; d <= c; d++ {
			r -= (psi(n, c, d, p) - psi(n, c, d-1, p)) * math.Pow(1-math.Pow(p, float64(d)), float64(n))
		}
		return r
	}
	assert.Greater(t, printed(10, 3, .1), 1.)
	const jobs = 30000
	source := rand.New(rand.NewPCG(4, 2))
	for _, b := range []struct {
		n, c int
		p    float64
	}{{10, 3, .1}, {10, 3, .08}, {20, 3, .08}, {5, 2, .2}, {2, 4, .4}, {1, 1, .3}} {
		for _, s := range []struct {
			scheme    Scheme
			straggles func(source *rand.Rand, n, c int, p float64) bool
		}{{Avoidance, avoidingStraggles}, {RandomAvoidance, carelessStraggles}, {Contention, contendingStraggles}} {
			straggling := 0
			for range jobs {
				if s.straggles(source, b.n, b.c, b.p) {
					straggling++
				}
			}
			want := of(t, s.scheme, b.n, b.c, b.p)
			z := (float64(straggling)/jobs - want) / math.Sqrt(want*(1-want)/jobs)
			assert.Less(t, math.Abs(z), 4., "%v %+v: %v, simulated %v", s.scheme, b, want, float64(straggling)/jobs)
		}
	}
	// The effect of the pairing; the expected numbers were computed by enumeration.
	assert.InDelta(t, .233, of(t, Avoidance, 10, 3, .1), .0005)
	assert.InDelta(t, .588, of(t, RandomAvoidance, 10, 3, .1), .0005)
}

// avoidingStraggles simulates a job of two phases with coordinated pairing. For each task of the first phase, the
// i-th clone that does not straggle is read by clone i of every task in the second phase.
func avoidingStraggles(source *rand.Rand, n, c int, p float64) bool {
	fed := c
	for range n {
		fine := 0
		for range c {
			if source.Float64() >= p {
				fine++
			}
		}
		fed = min(fed, fine)
	}
	return straggles(source, n, fed, p)
}

// carelessStraggles simulates a job of two phases in which each upstream task assigns its clones at random.
func carelessStraggles(source *rand.Rand, n, c int, p float64) bool {
	good := make([]bool, c)
	for i := range good {
		good[i] = true
	}
	for range n {
		for _, i := range source.Perm(c) {
			good[i] = good[i] && source.Float64() >= p
		}
	}
	fed := 0
	for _, g := range good {
		if g {
			fed++
		}
	}
	return straggles(source, n, fed, p)
}

// contendingStraggles simulates a job of two phases in which all downstream clones read the first upstream clone.
func contendingStraggles(source *rand.Rand, n, c int, p float64) bool {
	upstream, downstream := straggles(source, n, c, p), straggles(source, n, c, p)
	return upstream || downstream
}

// straggles simulates a job of n tasks with c clones each.
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
