package skew

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each test checks sentences of a paper and names the section.

// DynamicShare §4.1: S(i) is the sum of S_m(i) over all map tasks. The paper prints two index ranges, {0..M} and
// {1..M}. Here each of the M map tasks is included one time.
func TestSizesAreSummedOverMapTasks_4_1(t *testing.T) {
	s, err := NewSizes(3, 3)
	require.NoError(t, err)
	for m, sizes := range [][]int64{{1, 2, 3}, {10, 20, 30}, {100, 200, 300}} {
		used, err := s.Report(m, sizes)
		require.NoError(t, err)
		require.True(t, used)
	}
	assert.Equal(t, []int64{111, 222, 333}, s.Append(nil))
	assert.Equal(t, int64(666), s.Total())
	assert.Zero(t, s.Missing())

	s, err = NewSizes(2, 2)
	require.NoError(t, err)
	_, err = s.Report(0, []int64{math.MaxInt64 - 1, 2})
	assert.ErrorContains(t, err, "sizes[1] of map task 0 is 2")
	used, err := s.Report(0, []int64{math.MaxInt64 - 1, 1})
	assert.True(t, used && err == nil, "the largest sum: %v", err)
}

// DynamicShare §4.1, equations 6 and 7: each row of the global sketch has the sizes of the partitions under its
// hash function. A direct count of each key under that function gives the same sizes.
func TestRowsAreSimplePartitions_4_1(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	global, err := NewSketch(5, 45, 9)
	require.NoError(t, err)
	want := make([][]int64, 5)
	for row := range want {
		want[row] = make([]int64, 45)
	}
	for range 59 { // the number of map tasks in §5
		local, err := NewSketch(5, 45, 9)
		require.NoError(t, err)
		for range 100 {
			key, n := r.Uint64(), r.Int64N(50)
			require.NoError(t, local.Add(key, n))
			for row := range want {
				want[row][global.Partition(row, key)] += n
			}
		}
		require.NoError(t, global.Merge(local))
	}
	for row := range want {
		assert.Equal(t, want[row], global.Append(nil, row))
	}
	for key := range uint64(100) {
		assert.Equal(t, global.Partition(0, key), global.Partition(-1, key), "a row below 0 is the first row")
		assert.Equal(t, global.Partition(4, key), global.Partition(5, key), "a row that is too large is the last row")
	}
	assert.Equal(t, want[0], global.Append(nil, -1))
	assert.Equal(t, want[4], global.Append(nil, 5))
}

// DynamicShare §4.1 asks for pairwise independent functions: two keys share a partition of p partitions with the
// probability 1/p. The test draws 40,000 pairs of keys. Some pairs differ only above bit 61, where a hash function
// with a single factor modulo 2^61-1 could not distinguish 8 keys. The tolerance is 5 standard deviations.
func TestHashesArePairwiseIndependent_4_1(t *testing.T) {
	const partitions, pairs = 20, 40000
	r := rand.New(rand.NewPCG(3, 4))
	for name, other := range map[string]func(uint64) uint64{
		"next key":    func(k uint64) uint64 { return k + 1 },
		"random key":  func(uint64) uint64 { return r.Uint64() },
		"high bits":   func(k uint64) uint64 { return k + prime },
		"upper half":  func(k uint64) uint64 { return k ^ 1<<40 },
		"doubled key": func(k uint64) uint64 { return k << 1 },
	} {
		met, inPlace := 0, 0
		for i := range pairs {
			s, err := NewSketch(1, partitions, uint64(i))
			require.NoError(t, err)
			a := r.Uint64()>>3 | 1
			if s.Partition(0, a) == s.Partition(0, other(a)) {
				met++
			}
			if s.Partition(0, a) == 7 {
				inPlace++
			}
		}
		// the mean is 2000, and the standard deviation is sqrt(40000*.05*.95) = 43.6
		assert.InDelta(t, pairs/partitions, met, 5*43.6, name)
		assert.InDelta(t, pairs/partitions, inPlace, 5*43.6, name)
	}
}

// DynamicShare §4.2: "sort the partitions with respect to their sizes in descending order and try to find the reduce
// task with the smaller execution time". So the largest partitions go to the fastest workers.
func TestTheLargestPartitionsGoToTheFastestWorkers_4_2(t *testing.T) {
	plan, err := Assign(Problem{
		Sizes:    []int64{10, 30, 20},
		Reducers: []Reducer{{SecondsPerUnit: 4}, {SecondsPerUnit: 1}, {SecondsPerUnit: 2}},
	})
	require.NoError(t, err)
	// Size 30 takes 30 s on task 1, and size 20 takes 40 s on task 2. Size 10 would end at 40 s on each task, so it
	// goes to task 0.
	assert.Equal(t, []int{0, 1, 2}, plan.Reducer)
	assert.Equal(t, 40.0, plan.Seconds)
}

// DynamicShare §4.2: with a new partition a reduce task must still end within its deadline.
func TestDeadlinesHold_4_2(t *testing.T) {
	plan, err := Assign(Problem{
		Sizes:    []int64{5, 4, 3, 2},
		Reducers: []Reducer{{SecondsPerUnit: 1, Deadline: 6 * time.Second}, {SecondsPerUnit: 1, Deadline: 7 * time.Second, Ready: time.Second}},
	})
	require.NoError(t, err)
	// Size 5 goes to task 0 and ends at 5 s. Size 4 goes to task 1 and ends at 5 s. Size 3 would end at 8 s on both
	// and is left out. Size 2 ends at 7 s on both, which only the deadline of task 1 allows.
	assert.Equal(t, []int{0, 1, -1, 1}, plan.Reducer)
	assert.Equal(t, []int{2}, plan.Unfit)
	assert.Equal(t, []float64{5, 7}, plan.End)
}

// DynamicShare §2: partitions_size is the total size of the partitions of a reduce task on a worker, and r_{i,t} is
// its time. Two reduce tasks take 5 s plus 1 or 2 s for each unit. If the times of ten single partitions were added
// up, the plan would be 5 and 5 partitions. It would seem to end after 35 s and would end after 15 s. Timed together,
// the plan is 7 and 3 partitions, and it ends after 12 s.
func TestPartitionsAreTimedTogether_2(t *testing.T) {
	slope := func(perUnit float64) func(int64) float64 {
		return func(size int64) float64 { return 5 + perUnit*float64(size) }
	}
	p := Problem{
		Sizes:    []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		Reducers: []Reducer{{Seconds: slope(1)}, {Seconds: slope(2)}},
	}
	plan, err := Assign(p)
	require.NoError(t, err)
	assert.Equal(t, []int64{7, 3}, plan.Load)
	assert.Equal(t, []float64{12, 11}, plan.End)
	assert.Equal(t, 12.0, plan.Seconds)
	// With the fixed time as Ready the problem is the same.
	same, err := Assign(Problem{Sizes: p.Sizes, Reducers: []Reducer{
		{Ready: 5 * time.Second, SecondsPerUnit: 1}, {Ready: 5 * time.Second, SecondsPerUnit: 2},
	}})
	require.NoError(t, err)
	assert.Equal(t, same, plan)
}

// DynamicShare §4.2: the k-NN estimator is called with the total size of the task's partitions and the new partition.
func TestEstimateIsAskedForTheSum_4_2(t *testing.T) {
	var asked []int64
	_, err := Assign(Problem{Sizes: []int64{9, 4, 2}, Reducers: []Reducer{
		{Seconds: func(size int64) float64 { asked = append(asked, size); return float64(size) }},
	}})
	require.NoError(t, err)
	assert.Equal(t, []int64{9, 13, 15}, asked)
}

// DynamicShare §4.2: each row of the sketch is assigned by the same procedure, including the k-NN estimates. Times
// with a fixed part lead to another row than times without a fixed part.
func TestSketchPlansUseEstimates_4_2(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	differ := 0
	for seed := range uint64(30) {
		s := randomSketch(t, r, 6, 12, seed)
		rates, estimates := randomReducers(r, 5), make([]Reducer, 5)
		for i, reducer := range rates {
			estimates[i].Seconds = func(size int64) float64 {
				return 50*reducer.SecondsPerUnit*float64(i) + float64(size)*reducer.SecondsPerUnit
			}
		}
		row, plan, err := Policy{}.AssignSketch(s, estimates)
		require.NoError(t, err)
		for i := range 6 {
			other, err := Assign(Problem{Sizes: s.Append(nil, i), Reducers: estimates})
			require.NoError(t, err)
			require.LessOrEqual(t, plan.Seconds, other.Seconds)
			if i == row {
				require.Equal(t, other, plan)
			}
		}
		if byRate, _, err := (Policy{}).AssignSketch(s, rates); err == nil && byRate != row {
			differ++
		}
	}
	assert.Positive(t, differ)
}

// DynamicShare §4.2: the sketch-based approach chooses the hash function with the plan that ends first.
func TestSketchPicksTheBestRow_4_2(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for seed := range uint64(30) {
		s, reducers := randomSketch(t, r, 6, 12, seed), randomReducers(r, 5)
		for _, rule := range []Rule{EarliestEnd, LoadBalance, ByHash} {
			row, plan, err := Policy{Rule: rule}.AssignSketch(s, reducers)
			require.NoError(t, err)
			for i := range 6 {
				other, err := Policy{Rule: rule}.Assign(Problem{Sizes: s.Append(nil, i), Reducers: reducers})
				require.NoError(t, err)
				if i == row {
					require.Equal(t, other, plan)
				}
				if rule == LoadBalance {
					require.GreaterOrEqual(t, plan.Balance(), other.Balance())
				} else {
					require.LessOrEqual(t, plan.Seconds, other.Seconds)
				}
			}
		}
	}
	// Without values, all rows are equal, and the first row counts. With a single value, a row is as good as any other.
	s, err := NewSketch(6, 12, 1)
	require.NoError(t, err)
	for range 2 {
		for _, rule := range []Rule{EarliestEnd, LoadBalance, ByHash} {
			row, plan, err := Policy{Rule: rule}.AssignSketch(s, []Reducer{{SecondsPerUnit: 1}, {SecondsPerUnit: 1}})
			require.NoError(t, err)
			assert.Zero(t, row, "%v", rule)
			assert.Equal(t, float64(s.Total()), plan.Seconds)
		}
		require.NoError(t, s.Add(1, 5))
	}
}

func randomSketch(t testing.TB, r *rand.Rand, rows, partitions int, seed uint64) *Sketch {
	s, err := NewSketch(rows, partitions, seed)
	require.NoError(t, err)
	for range 200 {
		require.NoError(t, s.Add(r.Uint64(), int64(r.ExpFloat64()*100)))
	}
	return s
}

func randomReducers(r *rand.Rand, n int) []Reducer {
	reducers := make([]Reducer, n)
	for i := range reducers {
		reducers[i] = Reducer{SecondsPerUnit: .001 * (.5 + r.Float64())}
	}
	return reducers
}

// DynamicShare §5: Balance = 100 sum/(R max) and skewness = 100 - 100 sum/(p max), here as shares. The text says that
// a value closer to 1 is less skewed, but by the formula even sizes have the skewness 0.
func TestBalanceAndSkewnessAsPrinted_5(t *testing.T) {
	assert.Equal(t, .75, Balance([]int64{300, 600}))
	assert.Equal(t, 1.0, Balance([]int64{7, 7, 7}))
	assert.Equal(t, 1.0, Balance(nil))
	assert.Equal(t, 1.0, Balance([]int64{0, 0}))
	// If one of four tasks has the whole load, Balance is 1/4.
	assert.Equal(t, .25, Balance([]int64{0, 9, 0, 0}))
}

// DynamicShare §5: with 40 partitions that have a skewness of 80 %, on 23 reduce tasks, no assignment has a Balance
// above 40*.2/23 = 34.8 %. The reason is that the largest load is at least the largest partition. So the 90 % of
// Figure 10 cannot belong to this state.
func TestSkewnessBoundsBalance_5(t *testing.T) {
	sizes := make([]int64, 40)
	for i := range sizes {
		sizes[i] = 7 * 39 // 39 of these sizes and one size of 1521 have the sum 12168, and 12168/(40*1521) = .2
	}
	sizes[0] = 1521
	require.InDelta(t, .8, 1-Balance(sizes), 1e-12)
	reducers := make([]Reducer, 23)
	for i := range reducers {
		reducers[i].SecondsPerUnit = 1
	}
	plan, err := Policy{Rule: LoadBalance}.Assign(Problem{Sizes: sizes, Reducers: reducers})
	require.NoError(t, err)
	assert.InDelta(t, .348, plan.Balance(), .0005)
}

// Mantri §5.4, after Graham: on s equal workers, largest first ends within 4/3 - 1/(3s) times the best end. The
// test finds the best end: it tries every assignment of up to 10 tasks. The sizes 3, 3, 2, 2, 2 on two workers
// reach the bound: 7 instead of 6.
func TestLargestFirstIsWithinGrahamsBound_Mantri_5_4(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 400 {
		workers := 1 + r.IntN(4)
		sizes := make([]int64, workers+r.IntN(11-workers))
		for i := range sizes {
			sizes[i] = 1 + r.Int64N(20)
		}
		p := Problem{Sizes: sizes, Reducers: make([]Reducer, workers)}
		for i := range p.Reducers {
			p.Reducers[i].SecondsPerUnit = 1
		}
		plan, err := Assign(p)
		require.NoError(t, err)
		require.LessOrEqual(t, plan.Seconds, best(p)*graham(workers)*(1+1e-12), "%v on %d", sizes, workers)
	}
	p := Problem{Sizes: []int64{3, 3, 2, 2, 2}, Reducers: []Reducer{{SecondsPerUnit: 1}, {SecondsPerUnit: 1}}}
	plan, err := Assign(p)
	require.NoError(t, err)
	assert.Equal(t, 7.0, plan.Seconds)
	assert.Equal(t, 6.0, best(p))
}

// graham returns Graham's bound for largest first on s equal workers.
func graham(s int) float64 { return 4./3 - 1/(3*float64(s)) }
