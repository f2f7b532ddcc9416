package estimate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

// Two tasks of two halves [LATE §4.2, figure 2]: T1 is slow in its second half, T2 has yet to get there.
func ExampleSubphases() {
	books, err := estimate.NewSubphases(1, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	t1 := books.Report(estimate.NoSample, 0, 0, 0)
	books.Report(t1, 1, 0, 10*time.Second)
	books.Report(t1, 1, .2, 20*time.Second)
	t2 := books.Report(estimate.NoSample, 0, 0, 0)
	books.Report(t2, 1, 0, 10*time.Second)

	fmt.Println("T1:", books.Score(t1), books.TimeLeft(t1, 20*time.Second))
	fmt.Println("T2:", books.Score(t2), books.TimeLeft(t2, 10*time.Second))
	// Output:
	// T1: 0.6 40s
	// T2: 0.5 50s
}

// "A task halfway through the copy phase has a progress score of 1/6, while a task halfway through the reduce phase
// scores 1/3 + 1/3 + 1/6 = 5/6."
func TestLATE21ScoreOfThirds(t *testing.T) {
	books, err := estimate.NewSubphases(1, 1, 1)
	require.NoError(t, err)
	id := books.Report(estimate.NoSample, 0, .5, time.Minute)
	assert.InDelta(t, 1./6, books.Score(id), 1e-15)
	books.Report(id, 2, .5, 2*time.Minute)
	assert.InDelta(t, 5./6, books.Score(id), 1e-15)
	books.Report(id, 1, .9, 2*time.Minute)
	books.Report(id, 2, .4, 2*time.Minute)
	assert.InDelta(t, 5./6, books.Score(id), 1e-15, "progress never falls")
	books.Report(id, 2, 7, 3*time.Minute)
	assert.Equal(t, 1.0, books.Score(id))
	assert.Zero(t, books.TimeLeft(id, 3*time.Minute))
}

// Tasks whose subphases differ in speed: what the books foresee at each report is what comes to pass, once one task has
// been through all subphases; LATE's own estimate is off by half.
func TestLATE42BooksForeseeTheEnd(t *testing.T) {
	takes := []time.Duration{10 * time.Second, 50 * time.Second, 5 * time.Second}
	books, err := estimate.NewSubphases(1, 1, 1)
	require.NoError(t, err)
	run := func(check bool) {
		id, worst := estimate.NoSample, time.Duration(0)
		for age := time.Duration(0); age <= 65*time.Second; age += time.Second {
			k, in := 0, age
			for k < 2 && in >= takes[k] {
				in -= takes[k]
				k++
			}
			id = books.Report(id, k, in.Seconds()/takes[k].Seconds(), age)
			if check {
				assert.InDelta(t, (65*time.Second - age).Seconds(), books.TimeLeft(id, age).Seconds(), 1e-6, "%v", age)
				worst = max(worst, (65*time.Second - age - estimate.TimeLeft(books.Score(id), age)).Abs())
			}
		}
		if check {
			assert.Greater(t, worst, 30*time.Second, "by the whole score")
		}
	}
	run(false)
	run(true)
}

// Against TimeLeftBySubphase with means over lists.
func TestSubphasesAgainstLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		books, err := estimate.NewSubphases(1, 2, 1)
		require.NoError(t, err)
		share := []float64{.25, .5, .25}
		type task struct {
			id, at  int
			done    float64
			entered [3]time.Duration
			rate    [3]float64
			age     time.Duration
		}
		var tasks []*task
		for range 60 {
			switch {
			case len(tasks) == 0 || r.IntN(6) == 0:
				tasks = append(tasks, &task{id: estimate.NoSample})
			case r.IntN(12) == 0:
				i := r.IntN(len(tasks))
				require.True(t, books.Drop(tasks[i].id) || tasks[i].id == estimate.NoSample)
				tasks = append(tasks[:i], tasks[i+1:]...)
				continue
			}
			x := tasks[r.IntN(len(tasks))]
			x.age += time.Duration(1+r.IntN(5000)) * time.Millisecond
			k, done := min(2, x.at+r.IntN(4)/3), r.Float64()
			x.id = books.Report(x.id, k, done, x.age)
			for x.at < k {
				x.rate[x.at] = share[x.at] / (x.age - x.entered[x.at]).Seconds()
				x.at, x.done = x.at+1, 0
				x.entered[x.at] = x.age
			}
			x.done = max(x.done, done)
			if in := x.age - x.entered[k]; in > 0 {
				x.rate[k] = share[k] * x.done / in.Seconds()
			}
		}
		for _, x := range tasks {
			if x.id == estimate.NoSample {
				continue
			}
			parts := make([]estimate.Subphase, 3)
			for k := range parts {
				parts[k] = estimate.Subphase{Share: share[k]}
				sum, n := 0.0, 0.0
				for _, y := range tasks {
					if y != x && y.rate[k] > 0 {
						sum += y.rate[k]
						n++
					}
				}
				if n > 0 {
					parts[k].PeerRate = sum / n
				}
				if k < x.at {
					parts[k].Score, parts[k].Age = share[k], x.entered[k+1]-x.entered[k]
				}
			}
			age := x.age + time.Duration(r.IntN(1000))*time.Millisecond
			parts[x.at].Score, parts[x.at].Age = share[x.at]*x.done, age-x.entered[x.at]
			want := estimate.TimeLeftBySubphase(parts)
			assert.InEpsilon(t, want.Seconds()+1, books.TimeLeft(x.id, age).Seconds()+1, 1e-6)
		}
	}
}

func TestSubphasesRefuse(t *testing.T) {
	for _, weights := range [][]float64{nil, {0}, {1, -1}, {math.NaN()}, {math.Inf(1)}, {1e308, 1e308}} {
		_, err := estimate.NewSubphases(weights...)
		assert.ErrorContains(t, err, "estimate: Subphases")
	}
	books, err := estimate.NewSubphases(1, 1)
	require.NoError(t, err)
	assert.Equal(t, estimate.NoSample, books.Report(estimate.NoSample, 2, .5, 1))
	assert.Equal(t, estimate.NoSample, books.Report(estimate.NoSample, -1, .5, 1))
	assert.Equal(t, estimate.NoSample, books.Report(estimate.NoSample, 0, math.NaN(), 1))
	assert.Equal(t, estimate.NoSample, books.Report(estimate.NoSample, 0, -1, 1))
	assert.Equal(t, estimate.NoSample, books.Report(estimate.NoSample, 0, 1, -1))
	assert.Equal(t, 7, books.Report(7, 0, 1, 1))
	assert.False(t, books.Drop(7))
	assert.False(t, books.Drop(estimate.NoSample))
	assert.Zero(t, books.Score(7))
	assert.Equal(t, estimate.Unknown, books.TimeLeft(7, time.Second))
	id := books.Report(estimate.NoSample, 0, .5, time.Second)
	assert.True(t, books.Drop(id))
	assert.False(t, books.Drop(id))
	assert.Equal(t, id, books.Report(estimate.NoSample, 0, .5, time.Second), "given out again")
	var zero estimate.Subphases
	assert.Equal(t, estimate.NoSample, zero.Report(estimate.NoSample, 0, .5, 1))
	assert.Zero(t, zero.Score(0))
}

func TestSubphasesDoNotAllocate(t *testing.T) {
	books, err := estimate.NewSubphases(1, 1, 1)
	require.NoError(t, err)
	id := books.Report(estimate.NoSample, 0, .1, time.Second)
	age := time.Second
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		age += time.Second
		books.Report(id, int(age/time.Second)%3, .5, age)
		books.TimeLeft(id, age)
		other := books.Report(estimate.NoSample, 1, .1, age)
		books.Drop(other)
	}))
}

func FuzzSubphases(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		books, err := estimate.NewSubphases(1, 3)
		require.NoError(t, err)
		ids := [4]int{estimate.NoSample, estimate.NoSample, estimate.NoSample, estimate.NoSample}
		for ; len(data) >= 4; data = data[4:] {
			i := data[0] % 4
			if data[0] > 240 {
				books.Drop(ids[i])
				ids[i] = estimate.NoSample
				continue
			}
			age := time.Duration(data[1]) << (data[2] % 56)
			ids[i] = books.Report(ids[i], int(data[3])%3, float64(data[2])/200, age)
			score := books.Score(ids[i])
			require.True(t, score >= 0 && score <= 1)
			if left := books.TimeLeft(ids[i], age); left != estimate.Unknown {
				require.GreaterOrEqual(t, left, time.Duration(0))
			}
		}
	})
}
