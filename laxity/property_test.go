package laxity

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

// exactLOF is the definition of Breunig et al., word by word, in rational arithmetic. A nil density is infinite.
func exactLOF(values []float64, l int, floor float64) []float64 {
	n := len(values)
	distance := func(a, b int) *big.Rat {
		d := new(big.Rat).Sub(new(big.Rat).SetFloat64(values[a]), new(big.Rat).SetFloat64(values[b]))
		return d.Abs(d)
	}
	neighbours, radius, density := make([][]int, n), make([]*big.Rat, n), make([]*big.Rat, n)
	for a := range n {
		var all []*big.Rat
		for b := range n {
			if b != a {
				all = append(all, distance(a, b))
			}
		}
		slices.SortFunc(all, (*big.Rat).Cmp)
		radius[a] = all[l-1]
		for b := range n {
			if b != a && distance(a, b).Cmp(radius[a]) <= 0 {
				neighbours[a] = append(neighbours[a], b)
			}
		}
	}
	least := new(big.Rat).SetFloat64(floor)
	for a := range n {
		sum := new(big.Rat)
		for _, b := range neighbours[a] {
			reach := distance(a, b)
			for _, other := range []*big.Rat{radius[b], least} {
				if other.Cmp(reach) > 0 {
					reach = other
				}
			}
			sum.Add(sum, reach)
		}
		if sum.Sign() > 0 {
			density[a] = new(big.Rat).Quo(new(big.Rat).SetInt64(int64(len(neighbours[a]))), sum)
		}
	}
	factors := make([]float64, n)
	for a := range n {
		sum, infinite := new(big.Rat), false
		for _, b := range neighbours[a] {
			if density[b] == nil {
				infinite = true
				continue
			}
			sum.Add(sum, density[b])
		}
		switch {
		case density[a] == nil:
			factors[a] = 1
		case infinite:
			factors[a] = math.Inf(1)
		default:
			sum.Quo(sum, new(big.Rat).Mul(density[a], new(big.Rat).SetInt64(int64(len(neighbours[a])))))
			factors[a], _ = sum.Float64()
		}
	}
	return factors
}

// Values on a coarse grid, so that there are many ties and duplicates, as well as values that have none.
func randomValues(r *rand.Rand, n int) []float64 {
	values := make([]float64, n)
	grid := []float64{3, 10, 1000}[r.IntN(3)]
	for i := range values {
		values[i] = math.Round(r.NormFloat64() * grid)
		if grid == 1000 && r.IntN(2) == 0 {
			values[i] = math.Ldexp(r.Float64(), r.IntN(12))
		}
	}
	return values
}

func requireClose(t *testing.T, want, got []float64, tolerance float64, about ...any) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if math.IsInf(want[i], 1) {
			require.True(t, math.IsInf(got[i], 1), about...)
			continue
		}
		require.InEpsilon(t, want[i], got[i], tolerance, about...)
	}
}

func TestLOFAgainstTheDefinitionInExactArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var s Scorer
	for range 400 {
		n := 2 + r.IntN(30)
		l := 1 + r.IntN(n-1)
		values := randomValues(r, n)
		floor := []float64{0, 0, 1, 2.5}[r.IntN(4)]
		got, err := s.Score(nil, values, l, floor)
		require.NoError(t, err)
		requireClose(t, exactLOF(values, l, floor), got, 1e-12, "values %v, l %d, floor %v", values, l, floor)
	}
}

func TestLOFInvariants(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		n := 2 + r.IntN(60)
		l := 1 + r.IntN(n-1)
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(r.IntN(200)) // whole, so that what follows is exact and keeps ties
		}
		want, err := LOF(values, l)
		require.NoError(t, err)
		mapped := func(f func(float64) float64) []float64 {
			other := make([]float64, n)
			for i, v := range values {
				other[i] = f(v)
			}
			factors, err := LOF(other, l)
			require.NoError(t, err)
			return factors
		}
		require.Equal(t, want, mapped(func(v float64) float64 { return v + 1e9 }), "translation")
		require.Equal(t, want, mapped(func(v float64) float64 { return v * 1024 }), "scaling")
		requireClose(t, want, mapped(func(v float64) float64 { return v * 3e6 }), 1e-12, "scaling")
		requireClose(t, want, mapped(func(v float64) float64 { return -v }), 1e-12, "reflection")

		order := r.Perm(n)
		permuted := make([]float64, n)
		for i, k := range order {
			permuted[i] = values[k]
		}
		factors, err := LOF(permuted, l)
		require.NoError(t, err)
		for i, k := range order {
			require.Equal(t, want[k], factors[i], "permutation")
		}
	}
}

// The largest and the smallest numbers there are make no NaN.
func TestLOFExtremes(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	for _, values := range [][]float64{
		{-maxValue, maxValue, 0, 1}, {0, tiny, 2 * tiny, 1}, {0, tiny, 5 * tiny, maxValue}, {0, math.Copysign(0, -1), 0, tiny},
	} {
		for l := 1; l < len(values); l++ {
			factors, err := LOF(values, l)
			require.NoError(t, err)
			for _, f := range factors {
				assert.True(t, f >= 0, "%v, l=%d: %v", values, l, factors)
			}
		}
	}
}

// A queue gives the order of sorting the jobs that it holds, whatever happened before.
func TestQueueAgainstSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		p := Policy{Rule: Rule(r.IntN(3))}
		q, err := NewQueue(p)
		require.NoError(t, err)
		now := time.Unix(500, 0)
		type model struct {
			job    Job // as of at
			at     time.Time
			ticket int
			rank   int
		}
		var held []model
		rank := 0
		for range 60 {
			switch k := r.IntN(10); {
			case k < 4:
				j := randomJob(r)
				held = append(held, model{j, now, q.Push(now, j), rank})
				rank++
			case k < 6 && len(held) > 0:
				i := r.IntN(len(held))
				held[i].job, held[i].at = randomJob(r), now
				require.True(t, q.Update(now, held[i].ticket, held[i].job))
			case k == 6 && len(held) > 0:
				i := r.IntN(len(held))
				require.True(t, q.Remove(held[i].ticket))
				held = slices.Delete(held, i, i+1)
			default:
				now = now.Add(time.Duration(r.IntN(4)))
			}
			require.Equal(t, len(held), q.Len())
		}
		slices.SortFunc(held, func(a, b model) int { return cmp.Compare(a.rank, b.rank) })
		jobs := make([]Job, len(held))
		for i, m := range held {
			jobs[i] = m.job
			if m.job.Left != NoDeadline {
				jobs[i].Left -= now.Sub(m.at)
			}
		}
		for _, i := range p.Order(nil, jobs) {
			c, ok := q.Pop(now)
			require.True(t, ok)
			require.Equal(t, held[i].ticket, c.Ticket)
			require.Equal(t, jobs[i].Laxity(), c.Laxity)
			require.Equal(t, jobs[i].Left, c.Left)
		}
		_, ok := q.Pop(now)
		require.False(t, ok)
	}
}

func randomJob(r *rand.Rand) Job {
	j := Job{Left: time.Duration(r.IntN(30) - 5), Projected: time.Duration(r.IntN(20))}
	switch r.IntN(10) {
	case 0:
		j.Left = NoDeadline
	case 1:
		j.Projected = estimate.Unknown
	}
	return j
}

// The order is total: the same jobs in another sequence give the same order of laxities and deadlines.
func TestOrderAgainstPairwiseRule(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 500 {
		jobs := make([]Job, 1+r.IntN(12))
		for i := range jobs {
			jobs[i] = randomJob(r)
		}
		order := Order(jobs)
		require.ElementsMatch(t, seq(len(jobs)), order)
		for k := 1; k < len(order); k++ {
			a, b := jobs[order[k-1]].most(), jobs[order[k]].most()
			if (a < 0) == (b < 0) {
				require.LessOrEqual(t, a, b)
			} else {
				require.Negative(t, b)
			}
			if a == b && jobs[order[k-1]].Left == jobs[order[k]].Left {
				require.Less(t, order[k-1], order[k])
			}
		}
	}
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// The least laxity of a job's map tasks is that of equation 3, and each worker's is that of its own tasks.
func TestViewsAgainstEquation3(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		left, reduce := time.Duration(r.IntN(100)), time.Duration(r.IntN(30))
		var maps []time.Duration
		var tasks []Task
		least := map[int]time.Duration{}
		for range 1 + r.IntN(20) {
			task := Task{Job: 1, Worker: r.IntN(4), Left: left, Remaining: time.Duration(r.IntN(80)), After: reduce}
			maps, tasks = append(maps, task.Remaining), append(tasks, task)
			if before, ok := least[task.Worker]; !ok || task.Laxity() < before {
				least[task.Worker] = task.Laxity()
			}
		}
		jobs, err := PerJob(tasks, 2)
		require.NoError(t, err)
		require.Equal(t, Job{Left: left, Projected: Projected(maps, []time.Duration{reduce})}.Laxity(), jobs[1].Least)
		require.Equal(t, Summary{Least: NoDeadline, First: -1}, jobs[0])
		require.Equal(t, len(tasks), jobs[1].Tasks)
		workers, err := PerWorker(tasks, 4)
		require.NoError(t, err)
		for w, summary := range workers {
			if want, ok := least[w]; ok {
				require.Equal(t, want, summary.Least)
				require.Equal(t, w, tasks[summary.First].Worker)
				require.Equal(t, want < 0, summary.Late > 0)
			}
		}
	}
	sums, err := PerJob([]Task{{Remaining: estimate.Unknown}, {After: estimate.Unknown, Left: 3}}, 1)
	require.NoError(t, err)
	require.Equal(t, []Summary{{Tasks: 2, Unestimated: 2, Least: NoDeadline, First: -1}}, sums)
}

// Of all sets of tasks that may leave, Offload picks a smallest one after which the rest end in time.
func TestOffloadAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 1500 {
		tasks := make([]Pending, r.IntN(8))
		for i := range tasks {
			tasks[i] = Pending{Left: time.Duration(r.IntN(25)), Remaining: time.Duration(r.IntN(9)), Elsewhere: time.Duration(r.IntN(25))}
			switch r.IntN(12) {
			case 0:
				tasks[i].Started = true
			case 1:
				tasks[i].Remaining = num63 // never ends here
			case 2:
				tasks[i].Left = NoDeadline
			case 3:
				tasks[i].Elsewhere = estimate.Unknown
			}
		}
		leave := func(set int) bool { return onTime(tasks, set) }
		fewest := len(tasks) + 1
		for set := range 1 << len(tasks) {
			if leave(set) {
				fewest = min(fewest, popCount(set))
			}
		}
		left, set := 0, 0
		for i, v := range Offload(nil, tasks) {
			if v.Reason == MakesRoom || v.Reason == LateElsewhere {
				left, set = left+1, set|1<<i
			}
			require.Equal(t, v.Reason == MakesRoom, v.Move)
			if v.Move {
				require.GreaterOrEqual(t, v.Laxity, time.Duration(0))
			}
		}
		require.True(t, leave(set), "%+v %b", tasks, set)
		require.Equal(t, fewest, left, "%+v", tasks)
	}
}

const num63 = time.Duration(math.MaxInt64)

func popCount(set int) (n int) {
	for ; set != 0; set &= set - 1 {
		n++
	}
	return n
}

// onTime reports whether the tasks outside set all end in time, by deadline after those that have started. A started
// task cannot leave, and is not asked to end in time.
func onTime(tasks []Pending, set int) bool {
	end := 0.0
	var stay []Pending
	for i, t := range tasks {
		switch {
		case t.Started && set>>i&1 == 1:
			return false
		case t.Started:
			end += float64(t.Remaining)
		case set>>i&1 == 0:
			stay = append(stay, t)
		}
	}
	slices.SortStableFunc(stay, func(a, b Pending) int { return cmp.Compare(a.Left, b.Left) })
	for _, t := range stay {
		end += float64(t.Remaining)
		if t.Left != NoDeadline && end > float64(t.Left) {
			return false
		}
	}
	return true
}
