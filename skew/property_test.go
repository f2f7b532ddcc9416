package skew

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// best returns the earliest end of all assignments. It tries every assignment, the largest partitions first. It
// leaves out an assignment if it could not end sooner even if the other partitions were split without limit.
func best(p Problem) float64 {
	end, speed, left := make([]float64, len(p.Reducers)), make([]float64, len(p.Reducers)), 0.
	for r := range end {
		end[r], speed[r] = max(p.Reducers[r].Ready, 0).Seconds(), 1/p.Reducers[r].SecondsPerUnit
	}
	sizes := slices.Clone(p.Sizes)
	slices.SortFunc(sizes, func(a, b int64) int { return cmp.Compare(b, a) })
	for _, size := range sizes {
		left += float64(size)
	}
	least := math.Inf(1)
	var place func(i int, latest, left float64)
	place = func(i int, latest, left float64) {
		room := 0.
		for r := range end {
			room += max(least-end[r], 0) * speed[r]
		}
		if latest >= least || room <= left {
			return
		}
		if i == len(sizes) {
			least = latest
			return
		}
		for r := range end {
			if slices.Contains(end[:r], end[r]) && slices.Max(speed) == slices.Min(speed) {
				continue // an equal worker was tried
			}
			before := end[r]
			end[r] += float64(sizes[i]) / speed[r]
			place(i+1, max(latest, end[r]), left-float64(sizes[i]))
			end[r] = before
		}
	}
	place(0, 0, left)
	return least
}

func randomProblem(r *rand.Rand) Problem {
	p := Problem{Reducers: randomReducers(r, 1+r.IntN(4))}
	for range len(p.Reducers) + r.IntN(9-len(p.Reducers)) {
		p.Sizes = append(p.Sizes, int64(r.ExpFloat64()*50))
	}
	return p
}

// On workers of different speeds that are ready at once, a plan ends within 2 - 2/(R+1) times the best end [Gonzalez
// et al. 1977].
func TestAssignIsWithinTheBoundOfGonzalez(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	optimal := 0
	for range 500 {
		p := randomProblem(r)
		plan, err := Assign(p)
		require.NoError(t, err)
		bound, least := 2-2/float64(len(p.Reducers)+1), best(p)
		require.LessOrEqual(t, plan.Seconds, least*bound*(1+1e-12), "%+v", p)
		require.GreaterOrEqual(t, plan.Seconds, least*(1-1e-12), "%+v", p)
		if plan.Seconds <= least*(1+1e-12) {
			optimal++
		}
	}
	assert.Greater(t, optimal, 200)
}

// The bound is right for every problem without deadlines. Let T be the time at which the last reduce task ends, and
// let s be the size of the last partition that this reduce task got. With s, every other reduce task would have
// ended no sooner. The sum over all reduce tasks, weighted by their speeds v, gives T sum(v) <= sum(v Ready) +
// sum(S) + (R-1) s.
func TestAssignIsWithinItsBound(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		p := Problem{Reducers: randomReducers(r, 1+r.IntN(40))}
		var speeds, ready, total float64
		for i := range p.Reducers {
			p.Reducers[i].Ready = time.Duration(r.IntN(100)) * time.Millisecond
			speeds += 1 / p.Reducers[i].SecondsPerUnit
			ready += p.Reducers[i].Ready.Seconds() / p.Reducers[i].SecondsPerUnit
		}
		for range len(p.Reducers) + r.IntN(100) {
			p.Sizes = append(p.Sizes, int64(r.ExpFloat64()*50))
			total += float64(p.Sizes[len(p.Sizes)-1])
		}
		plan, err := Assign(p)
		require.NoError(t, err)
		largest := float64(slices.Max(p.Sizes))
		require.LessOrEqual(t, plan.Seconds*speeds, (ready+total+float64(len(p.Reducers)-1)*largest)*(1+1e-12))
	}
}

// secondsOf returns the time of a reduce task with this size, by the comments of the fields.
func secondsOf(r Reducer, size int64) float64 {
	switch {
	case r.Seconds == nil:
		return float64(size) * r.SecondsPerUnit
	case size == 0:
		return 0
	case r.KnownTo > 0 && size > r.KnownTo:
		return r.Seconds(r.KnownTo) * float64(size) / float64(r.KnownTo)
	}
	return r.Seconds(size)
}

// checkPlan checks rules that hold for every plan, for all problems and policies.
func checkPlan(t *testing.T, c Policy, p Problem, plan Plan) {
	t.Helper()
	require.Len(t, plan.Reducer, len(p.Sizes))
	load, end := make([]int64, len(p.Reducers)), make([]float64, len(p.Reducers))
	for i, r := range plan.Reducer {
		if r < 0 {
			require.Contains(t, plan.Unfit, i)
			require.False(t, c.PlaceAll || c.Rule != EarliestEnd)
			continue
		}
		load[r] += p.Sizes[i]
	}
	require.Equal(t, load, plan.Load)
	latest := 0.0
	for r := range end {
		if slices.Contains(plan.Reducer, r) {
			end[r] = max(p.Reducers[r].Ready, 0).Seconds() + secondsOf(p.Reducers[r], load[r])
		}
		if end[r] != 0 {
			require.InEpsilon(t, end[r], plan.End[r], 1e-9)
		}
		latest = max(latest, plan.End[r])
		limit := p.Reducers[r].Deadline
		if len(plan.Unfit) == 0 && limit != 0 && plan.End[r] > 0 || c == (Policy{}) && limit != 0 && plan.End[r] > 0 {
			require.LessOrEqual(t, plan.End[r], limit.Seconds()+.5e-9) // to the nearest nanosecond
		}
	}
	require.Equal(t, latest, plan.Seconds)
	if c == (Policy{}) {
		checkUnfit(t, p, plan)
	}
}

// checkUnfit checks each partition in Unfit: no reduce task could take it in addition to its other partitions and
// end within its deadline.
func checkUnfit(t *testing.T, p Problem, plan Plan) {
	t.Helper()
	for _, i := range plan.Unfit {
		for r, reducer := range p.Reducers {
			end := max(reducer.Ready, 0).Seconds() + secondsOf(reducer, plan.Load[r]+p.Sizes[i])
			require.NotZero(t, reducer.Deadline)
			require.Greater(t, end*(1+1e-9), reducer.Deadline.Seconds())
		}
	}
}

func TestPlansAreConsistent(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 1000 {
		p := randomProblem(r)
		for i := range p.Reducers {
			p.Reducers[i].Ready = time.Duration(r.IntN(100)-50) * time.Millisecond
			p.Reducers[i].Deadline = time.Duration(max(0, r.IntN(300)-100)) * time.Millisecond
		}
		if r.IntN(2) == 0 {
			for i := range p.Reducers {
				fixed, perUnit := r.Float64()/20, p.Reducers[i].SecondsPerUnit
				p.Reducers[i].Seconds = func(size int64) float64 { return fixed + perUnit*float64(size) }
				p.Reducers[i].KnownTo = r.Int64N(100)
			}
		}
		for _, c := range []Policy{{}, {PlaceAll: true}, {Rule: LoadBalance}, {Rule: ByHash}} {
			plan, err := c.Assign(p)
			require.NoError(t, err)
			checkPlan(t, c, p, plan)
			again, err := c.Assign(p)
			require.NoError(t, err)
			require.Equal(t, plan, again)
		}
	}
}

// SecondsPerUnit, and Seconds with the same times, give the same plan.
func TestSecondsAgreeWithRates(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		p := Problem{Reducers: make([]Reducer, 1+r.IntN(4))}
		for i := range p.Reducers {
			p.Reducers[i].SecondsPerUnit = float64(1 + r.IntN(5)) // whole, so that sums and products are exact
		}
		for range len(p.Reducers) + r.IntN(9) {
			p.Sizes = append(p.Sizes, r.Int64N(50))
		}
		want, err := Assign(p)
		require.NoError(t, err)
		for i, reducer := range p.Reducers {
			p.Reducers[i] = Reducer{Seconds: func(size int64) float64 { return float64(size) * reducer.SecondsPerUnit }}
		}
		got, err := Assign(p)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestLargestFirstAgreesWithSelection(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		sizes := make([]int64, r.IntN(20))
		for i := range sizes {
			sizes[i] = r.Int64N(6)
		}
		var want []int
		for size := int64(5); size >= 0; size-- {
			for i := range sizes {
				if sizes[i] == size {
					want = append(want, i)
				}
			}
		}
		require.Equal(t, want, LargestFirst(nil, sizes))
	}
}
