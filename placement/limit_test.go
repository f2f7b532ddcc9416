package placement

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The default effort proves the answer of every problem with at most a million placements.
func TestExactUpToAMillionPlacements(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{19, 2}, {12, 3}, {9, 4}, {8, 5}, {7, 7}, {6, 10}, {4, 30}, {3, 100}} {
		for _, family := range families {
			for seed := range uint64(part(4, 2)) {
				a, err := Assign(instance(family, size[0], size[1], seed), DefaultEffort)
				require.NoError(t, err)
				assert.True(t, a.Optimal, "%s: %v", instanceName(family, size[0], size[1], seed), a)
			}
		}
	}
}

// Assign spends steps of work before it does the work. So an effort that is too small for any step ends with the start
// placement. In this problem a single step of the search would take seconds.
func TestEffortBoundsTheWork(t *testing.T) {
	p := instance("skewed", 60_000, 2, 1)
	a, err := Assign(p, 1)
	require.NoError(t, err)
	assert.LessOrEqual(t, a.Bound, a.Seconds)
	p = instance("shuffle", 60, 10, 1)
	m := newModel(&p)
	for _, effort := range []Effort{1, 1000, 10_000, 100_000, 1_000_000} {
		s := newSolver(m, effort)
		feasible, err := m.feasible(&p)
		require.NoError(t, err)
		s.start(feasible)
		s.improve()
		assert.GreaterOrEqual(t, s.w.left, int64(0), "effort %d", effort)
		assert.Less(t, s.w.left, max(int64(effort/10), 2), "effort %d: most of the work is not used", effort)
	}
}

// Memory and time stay bounded for many racks.
func TestManyRacksStayWithinTimeAndMemory(t *testing.T) {
	for _, size := range [][2]int{{1, 100_000}, {2, 1000}, {50, 1000}} {
		p := instance("sparse", size[0], size[1], 1)
		a, err := Assign(p, DefaultEffort)
		require.NoError(t, err)
		link, seconds := a.Bottleneck, a.Seconds
		assert.True(t, link.Rack >= 0 && seconds > 0 && a.Bound <= seconds)
		assert.Equal(t, size[0] < 3, a.Optimal, "%v: %v", size, a)
	}
}

// Exhaustive solves problems with far more than a million placements exactly: 4^14 is 268 million.
func TestExhaustiveProvesItsAnswer(t *testing.T) {
	for _, family := range families {
		p := instance(family, 14, 4, 1)
		standard, err := Assign(p, DefaultEffort)
		require.NoError(t, err)
		a, err := Assign(p, Exhaustive)
		require.NoError(t, err)
		checked(t, p, a)
		assert.True(t, a.Optimal, family)
		assert.LessOrEqual(t, a.Seconds, standard.Seconds*(1+precise), family)
		assert.GreaterOrEqual(t, a.Seconds, standard.Bound*(1-precise), family)
	}
}

// A gain that comes from rounding errors alone must not be treated as progress. Otherwise an exhaustive search of
// this problem would never end.
func TestExhaustiveEndsWhereDataIsNearlyLocal(t *testing.T) {
	p := Problem{
		Input: [][]float64{
			{14623.889237356303, 9.692773341901694e-07}, {0.00016826062723104384, 0.0525665832023018},
			{3.964460807886312e-07, 63432.65135484432}, {0.0032312572615202373, 0.0007557521067395589},
			{6.899820106050853e-07, 0.05330804354760679},
		},
		Up: []float64{1.142803628541575, 0.11552924109117756}, Down: []float64{1575.5472446750853, 12.502591186051294},
	}
	a, err := Assign(p, Exhaustive)
	require.NoError(t, err)
	checked(t, p, a)
	assert.InDelta(t, bruteForce(p), a.Seconds, 1e-8*a.Seconds)
}
