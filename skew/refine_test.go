package skew

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomSuite returns a problem like a suite of tests on some machines. The times have all magnitudes, and some
// machines are slower or ready later.
func randomSuite(r *rand.Rand) Problem {
	p := Problem{Reducers: make([]Reducer, 2+r.IntN(4))}
	uneven := r.IntN(2) == 0
	for i := range p.Reducers {
		p.Reducers[i] = Reducer{SecondsPerUnit: 1e-3}
		if uneven {
			p.Reducers[i] = Reducer{SecondsPerUnit: 1e-3 * (1 + float64(r.IntN(4))/2), Ready: time.Duration(r.IntN(60)) * time.Second}
		}
	}
	spread := []float64{.3, .7, 1.5}[r.IntN(3)]
	for range len(p.Reducers) + r.IntN(12) {
		p.Sizes = append(p.Sizes, int64(math.Exp(8+spread*r.NormFloat64())))
	}
	return p
}

func TestRefinedIsWithinAPercentOfTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	var worst, greedy, mean float64
	const suites = 1000
	for range suites {
		p := randomSuite(r)
		plain, err := Assign(p)
		require.NoError(t, err)
		plan, err := Policy{Refine: true}.Assign(p)
		require.NoError(t, err)
		least := best(p)
		requireConsistent(t, p, plan)
		require.LessOrEqual(t, plan.Seconds, plain.Seconds)
		require.GreaterOrEqual(t, plan.Seconds, least*(1-1e-9), "%+v", p)
		bound, _, err := Bound(p)
		require.NoError(t, err)
		require.LessOrEqual(t, bound, least*(1+1e-9), "%+v", p)
		worst, greedy, mean = max(worst, plan.Seconds/least-1), max(greedy, plain.Seconds/least-1), mean+(plain.Seconds/least-1)/suites
	}
	t.Logf("at most %.2f%% above the best; without Refine %.1f%%, in the mean %.1f%%", 100*worst, 100*greedy, 100*mean)
	assert.LessOrEqual(t, worst, .0011)
	assert.Greater(t, greedy, .05)
}

func requireConsistent(t *testing.T, p Problem, plan Plan) {
	t.Helper()
	load, any := make([]int64, len(p.Reducers)), make([]bool, len(p.Reducers))
	for i, r := range plan.Reducer {
		if r >= 0 {
			load[r] += p.Sizes[i]
			any[r] = true
		}
	}
	require.Equal(t, load, plan.Load)
	latest := 0.
	for r, reducer := range p.Reducers {
		end := 0.
		if any[r] {
			end = max(reducer.Ready, 0).Seconds() + float64(load[r])*reducer.SecondsPerUnit
			if reducer.Seconds != nil {
				end = max(reducer.Ready, 0).Seconds() + reducer.Seconds(load[r])
			}
		}
		require.InDelta(t, end, plan.End[r], 1e-9*end)
		latest = max(latest, end)
	}
	require.InDelta(t, latest, plan.Seconds, 1e-9*latest)
}

// There are too many partitions for the search, so only the exchanges improve the plan.
func TestExchangesAloneComeNearTheBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	for range 20 {
		p := Problem{Reducers: randomReducers(r, 4+r.IntN(30))}
		for range 300 + r.IntN(300) {
			p.Sizes = append(p.Sizes, int64(math.Exp(8+1.5*r.NormFloat64())))
		}
		plan, err := Policy{Refine: true}.Assign(p)
		require.NoError(t, err)
		requireConsistent(t, p, plan)
		bound, _, _ := Bound(p)
		require.LessOrEqual(t, plan.Seconds, bound*1.01)
	}
}

// If no plan reaches the bound, the search does not know that its plan is the best. It ends when it has visited the
// largest number of nodes.
func TestRefineEndsIfTheBoundCannotBeReached(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := Problem{Reducers: randomReducers(r, 12)}
	for range 60 {
		p.Sizes = append(p.Sizes, int64(math.Exp(8+1.5*r.NormFloat64())))
	}
	plan, err := Policy{Refine: true}.Assign(p)
	require.NoError(t, err)
	requireConsistent(t, p, plan)
	bound, _, _ := Bound(p)
	t.Logf("%.2f%% above the bound", 100*(plan.Seconds/bound-1))
	require.LessOrEqual(t, plan.Seconds, bound*1.1)
	p = Problem{Sizes: make([]int64, 36), Reducers: slices.Repeat([]Reducer{{SecondsPerUnit: 1}}, 7)}
	for i := range p.Sizes {
		p.Sizes[i] = 1000 + int64(i) // the best plan has six reduce tasks with five partitions and one reduce task with six
	}
	plan, err = Policy{Refine: true}.Assign(p)
	require.NoError(t, err)
	requireConsistent(t, p, plan)
	require.Less(t, plan.Seconds, 6100.)
}

func TestRefinedPlansObserveDeadlines(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	better, estimated := 0, 0
	for range 300 {
		p := randomSuite(r)
		plain, err := Assign(p)
		require.NoError(t, err)
		for i := range p.Reducers {
			switch unit := p.Reducers[i].SecondsPerUnit; r.IntN(3) {
			case 0:
				p.Reducers[i].Deadline = time.Duration(plain.Seconds * (.5 + r.Float64()/2) * 1e9)
			case 1:
				p.Reducers[i].Seconds = func(size int64) float64 { return 5 + float64(size)*unit }
				estimated++
			}
		}
		for _, all := range []bool{false, true} {
			plain, err := Policy{PlaceAll: all}.Assign(p)
			require.NoError(t, err)
			plan, err := Policy{Refine: true, PlaceAll: all}.Assign(p)
			require.NoError(t, err)
			requireConsistent(t, p, plan)
			require.Equal(t, plain.Unfit, plan.Unfit)
			if len(plan.Unfit) > 0 && all {
				continue
			}
			for i, reducer := range p.Reducers {
				if reducer.Deadline != 0 {
					require.LessOrEqual(t, plan.End[i], reducer.Deadline.Seconds()+1e-9)
				}
			}
			require.LessOrEqual(t, plan.Seconds, plain.Seconds)
			if plan.Seconds < plain.Seconds {
				better++
			}
		}
	}
	assert.Greater(t, better, 100)
	assert.Greater(t, estimated, 100)
}

func TestBoundIsTheLargestOfThreeTimes(t *testing.T) {
	even := []Reducer{{SecondsPerUnit: 1}, {SecondsPerUnit: 1}, {SecondsPerUnit: 1}}
	slow := []Reducer{{SecondsPerUnit: 1}, {SecondsPerUnit: 2, Ready: 10 * time.Second}}
	known := []Reducer{{Seconds: func(size int64) float64 { return 3 + float64(size) }}, {SecondsPerUnit: 1}}
	for _, c := range []struct {
		sizes     []int64
		reducers  []Reducer
		seconds   float64
		partition int
	}{
		{[]int64{1, 9, 2, 3}, even, 9, 1},         // the largest partition
		{[]int64{5, 5, 5, 5}, even, 10, -1},       // two partitions on one reduce task
		{[]int64{4, 4, 4, 3, 3, 3}, even, 7, -1},  // the sum of all sizes
		{[]int64{10, 10, 10, 10}, slow, 30, -1},   // 30 on the fast worker and 10 on the slow worker
		{[]int64{1, 1}, slow, 2, -1},              // the slow worker is not ready, so both go to the fast worker
		{[]int64{10, 11}, known, 12, -1},          // 9 + 3 = 12 on the first reduce task, 12 on the second
		{[]int64{0, 0, 0}, even, 0, 0},            // all partitions are empty
		{[]int64{math.MaxInt64, 0}, slow, 1, -2},  // -2: only the size of the bound is checked
		{[]int64{math.MaxInt64, 0}, known, 1, -2}, // the bound must not overflow
	} {
		seconds, partition, err := Bound(Problem{c.sizes, c.reducers})
		require.NoError(t, err)
		if c.partition == -2 {
			assert.Greater(t, seconds, 1e18)
			continue
		}
		assert.InDelta(t, c.seconds, seconds, 1e-6, "%v", c.sizes)
		assert.Equal(t, c.partition, partition, "%v", c.sizes)
	}
	_, _, err := Bound(Problem{})
	assert.EqualError(t, err, "skew: len(Problem.Reducers) is 0, want 1 or more")
}
