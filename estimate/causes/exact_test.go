package causes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In a mixed moment no machine has more than half of the tasks. The number of tasks includes tasks with an unknown
// machine.
func TestMixedAgreesWithACount(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	both := map[bool]int{}
	for range 5000 {
		n := 1 + r.IntN(12)
		ids, machines := make([]int32, n), make([]int32, n)
		var total [2]int
		var most [2]map[int32]int
		for i := range ids {
			ids[i], machines[i] = int32(r.IntN(3))-1, int32(r.IntN(4))-1
			if m := ids[i]; m >= 0 {
				if total[m]++; most[m] == nil {
					most[m] = map[int32]int{}
				}
				if machines[i] >= 0 {
					most[m][machines[i]]++
				}
			}
		}
		for m, ok := range mixed(ids, machines, 2, 3) {
			largest := 0
			for _, tasks := range most[m] {
				largest = max(largest, tasks)
			}
			if 2*largest != total[m] { // if two machines have half each, either answer is right
				require.Equal(t, 2*largest < total[m], ok, "%v %v", ids, machines)
				both[ok]++
			}
		}
	}
	assert.Greater(t, min(both[false], both[true]), 1000)
	same := []int32{0, 0, 0, 0}
	assert.Equal(t, []bool{false}, mixed(same, []int32{1, 1, 0, 2}, 1, 3), "half")
	assert.Equal(t, []bool{true}, mixed(same, same, 1, 1), "with a single machine every moment counts as mixed")
	assert.Equal(t, []bool{false}, mixed(same, same, 1, 2))
}

func TestMomentsNeedSixteenTasks(t *testing.T) {
	for n, want := range map[int]int{15: 0, 16: 2, 17: 2, 24: 3} {
		tasks, ratios := make([]Task, n), make([]float64, n)
		for i := range tasks {
			tasks[i].Start = time.Duration(i) * time.Second
		}
		_, bounds := moments(tasks, ratios)
		assert.Len(t, bounds, want, "%d tasks", n)
	}
}

// The probability of a coincidence comes from the slow tasks elsewhere: that this many of the group's tasks are
// over the bar, or that half are over the group's median.
func TestCoincidenceAgreesWithItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 500 {
		ratios := make([]float64, 10+r.IntN(60))
		ids := make([]int32, len(ratios))
		for i := range ratios {
			ratios[i] = 1 + .025 + .05*float64(r.IntN(40)) // in the middle of a step
			ids[i] = int32(r.IntN(2))
		}
		const bar = 1.5
		a := analysis{ranks: rank(ratios, bar)}
		for id, g := range summarise(ids, ratios, 2, bar) {
			var own []float64
			slow, slowElsewhere, over := 0, 0, 0
			for i, v := range ratios {
				switch {
				case ids[i] == int32(id):
					own = append(own, v)
					if v >= bar {
						slow++
					}
				case v >= bar:
					slowElsewhere++
				}
			}
			if len(own) == 0 {
				continue
			}
			elsewhere := len(ratios) - len(own)
			slices.Sort(own)
			for _, v := range ratios {
				if v >= own[(len(own)-1)/2] {
					over++
				}
			}
			half := len(own) - (len(own)-1)/2 // at or over the lower median
			want := min(chance(slow, len(own), slowElsewhere, elsewhere), chance(half, len(own), over-half, elsewhere))
			require.InDelta(t, want, a.coincidence(&g), 1e-15)
			require.Equal(t, 1., chance(0, len(own), slowElsewhere, elsewhere), "at least 0 slow tasks are certain")
		}
	}
}

// The finaliser of splitmix64: its first three numbers from seed 0.
func TestHashIsSplitmix64(t *testing.T) {
	assert.Equal(t, []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f}, []uint64{hash(0), hash(1), hash(2)})
}

// Up to 8,192 tasks all take part in a fit; of more tasks the hash chooses some.
func TestOnlyALargePhaseIsSampled(t *testing.T) {
	for _, finished := range []int{10, sampled, sampled + 1, 2 * sampled, 10 * sampled} {
		a, taken := analysis{}, 0
		a.finished = finished
		for i := range 5 * sampled {
			want := finished <= sampled || hash(i)%uint64(finished) < sampled
			if got := a.sample(i); got != want {
				t.Fatalf("task %d of %d: %v, want %v", i, finished, got, want)
			}
			if want {
				taken++
			}
		}
		assert.InDelta(t, min(1, sampled/float64(finished)), float64(taken)/(5*sampled), .01)
	}
}

func TestFitIsExact(t *testing.T) {
	c := coefficients{1, 2, 3}
	assert.Equal(t, .06, c.floor(), "the floor is a hundredth of the mean task")
	assert.Equal(t, 10., c.at(&coefficients{1, 1.5, 2}))

	// All rows are beyond the trim: a fit without rows leaves the model unchanged.
	rows := []row{{coefficients{1, 1, 1}, 100}, {coefficients{1, 2, 1}, 200}}
	assert.Equal(t, c, refine(rows, c))

	// The trim is inclusive: a row that takes 1.5 times its expected time takes part in the fit, and a row that
	// takes more does not.
	one := coefficients{1}
	for seconds, want := range map[float64]float64{1.5: 1.25, 1.5000001: 1, .5: .75, .4999999: 1} {
		got, ok := refit([]row{{one, 1}, {one, seconds}}, &coefficients{1}, .5, 1.5)
		require.True(t, ok)
		assert.InDelta(t, want, got[0], 1e-12, "with %v s", seconds)
	}
	var e equations
	e.add(&coefficients{1, 2, 0}, 3)
	e.add(&coefficients{1, 5, 1}, 4)
	assert.Equal(t, 25., e.total)
	assert.Equal(t, coefficients{7, 26, 4}, e.b)
	assert.Equal(t, 29., e.a[1][1])
}

// If two fits are equally good, the fit with fewer columns wins, however large the numbers are.
func TestFewerColumnsWinIfTheyExplainAsMuch(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, scale := range []float64{1e-9, 1, 1e9} {
		for range 100 {
			var e equations
			for range 20 {
				x := coefficients{1, r.Float64(), r.Float64()}
				e.add(&x, scale*(3+2*x[1]))
			}
			c, ok := e.solve()
			require.True(t, ok)
			require.Zero(t, c[2])
		}
	}
}

// Progress is bytes per second: of the rates 4, 2 and 1 the median is twice the slowest. A task without bytes is
// left out.
func TestSlowdownIsExact(t *testing.T) {
	tasks := []Task{{Took: 1, Bytes: 4}, {Took: 1, Bytes: 2}, {Took: 1, Bytes: 1}, {Took: 1}, {Took: 1, Bytes: 1e-9, Censored: true}}
	assert.Equal(t, 2., slowdown(tasks))
	assert.Equal(t, 5., slowdown([]Task{{Took: 1}, {Took: 1}, {Took: 5}, {Took: 0}}))
	assert.Equal(t, 0., units(1e-31))
	assert.Equal(t, 1e30, units(1e30))
	assert.True(t, math.IsNaN(units(1.1e30)))
}

// Of twenty tasks the last takes 50 s and the others 10 s. The wait beyond the mean is 38 s, and the bytes of the
// last task explain it or not.
func TestBillIsExact(t *testing.T) {
	for bytes, want := range map[float64]Bill{
		500: {Phases: 1, Tasks: 20, Slowest: 50 * time.Second, Wait: 38 * time.Second, Data: 38 * time.Second},
		100: {Phases: 1, Tasks: 20, Slowest: 50 * time.Second, Wait: 38 * time.Second, Unexplained: 38 * time.Second},
	} {
		p := Phase{Tasks: slices.Repeat([]Task{{Took: 10 * time.Second, Bytes: 100, Machine: -1}}, 20)}
		for i := range 6 {
			p.Tasks[i].Bytes, p.Tasks[i].Took = 50, 5*time.Second // bytes determine the time
			p.Tasks[i+6].Bytes, p.Tasks[i+6].Took = 150, 15*time.Second
		}
		p.Tasks[19] = Task{Took: 50 * time.Second, Bytes: bytes, Machine: -1}
		assert.Equal(t, want, Charge([]Phase{p}))
	}
}

// Bytes are charged the time that they explain after the time of the cohort was removed. If bytes and cohort
// explain everything, nothing is unexplained.
func TestBytesAreChargedBesideCohorts(t *testing.T) {
	phase := Phase{Tasks: make([]Task, 40)}
	for i := range phase.Tasks {
		cohort, bytes := i%2, 1+i/2%4
		phase.Tasks[i] = Task{Took: time.Duration(10*bytes) * time.Second << cohort, Bytes: float64(bytes), Machine: -1, Cohort: cohort}
	}
	b := Charge([]Phase{phase, phase, phase})
	assert.InDelta(t, 0, b.Unexplained.Seconds(), .1, "%v", b)
	assert.InDelta(t, b.Wait.Seconds(), b.Split.Seconds()+b.Data.Seconds(), .1)
	assert.Greater(t, b.Data, 30*time.Second, "%v", b)
}

// The median of two tasks is the faster one, so chance alone would make an outlier of the other. A third task makes them a phase
// with a middle; it may still run. A task without a positive time does not count.
func TestTwoTasksHaveNoOutlier(t *testing.T) {
	two := []Task{{Took: time.Second}, {Took: time.Minute}}
	for _, more := range [][]Task{nil, {{}}, {{}, {Took: -1}}} {
		r := Explain(Phase{Tasks: append(slices.Clone(two), more...)})
		assert.Empty(t, r.Outliers)
		assert.Zero(t, r.Excess)
		assert.Equal(t, time.Second, r.Median)
	}
	for _, third := range []Task{{Took: time.Second}, {Took: time.Second, Censored: true}} {
		r := Explain(Phase{Tasks: append(slices.Clone(two), third)})
		require.Len(t, r.Outliers, 1)
		assert.Equal(t, 1, r.Outliers[0].Task)
	}
}
