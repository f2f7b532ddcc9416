package bounds_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/bounds"

	"github.com/straggler-go/straggler/placement"
)

func ExampleNoSkew() {
	times := []time.Duration{10 * time.Second, 10 * time.Second, 10 * time.Second, 30 * time.Second}
	fmt.Println(bounds.NoSkew(times, 2), bounds.ChopTail(times, 2), bounds.WorkConserving(times, 2))
	fmt.Println(bounds.Reduction(40*time.Second, bounds.NoSkew(times, 2)))
	// Output:
	// 30s 20s 1m0s
	// 0.25
}

// "NoSkew mimics the case when all tasks in a phase take the same amount of time, set to the average over the observed
// task durations. NoSkew + ChopTail goes even further, it removes the worst quartile of the observed durations."
func TestMantri61NoSkewAndChopTail(t *testing.T) {
	times := make([]time.Duration, 10)
	for i := range times {
		times[i] = time.Duration(i+1) * time.Second
	}
	assert.Equal(t, 3*5500*time.Millisecond, bounds.NoSkew(times, 4))
	assert.Equal(t, 3*4500*time.Millisecond, bounds.ChopTail(times, 4), "without 9 and 10: a quarter, rounded down")
	assert.Zero(t, bounds.NoSkew(nil, 4))
	assert.Zero(t, bounds.ChopTail(times, 0))
	assert.Equal(t, time.Second, bounds.ChopTail(times[:1], 4))
}

// "A naive work-conserving scheduler can take up to sum/s + max": never less than any list schedule takes.
func TestMantri31WorkConservingBound(t *testing.T) {
	alike := []time.Duration{time.Second, time.Second, time.Second, time.Second, time.Second}
	assert.Equal(t, 3*time.Second, bounds.NoSkew(alike, 2), "five tasks on two slots are three waves")
	assert.Zero(t, bounds.WorkConserving(nil, 2))
	assert.Zero(t, bounds.WorkConserving(alike, 0))
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		times, slots := make([]time.Duration, 1+r.IntN(30)), make([]time.Duration, 1+r.IntN(6))
		end := time.Duration(0)
		for i := range times {
			times[i] = time.Duration(r.IntN(1000)) * time.Millisecond
			first := 0
			for k := range slots {
				if slots[k] < slots[first] {
					first = k
				}
			}
			slots[first] += times[i]
			end = max(end, slots[first])
		}
		assert.LessOrEqual(t, end, bounds.WorkConserving(times, len(slots)))
	}
}

// "IdealRecompute uses future knowledge of which tasks will have their inputs recomputed and protects those inputs."
func TestMantri61IdealRecompute(t *testing.T) {
	times := []time.Duration{10, 20, 30, 40}
	assert.Equal(t, []time.Duration{10, 15, 0, 40}, bounds.WithoutRecompute(times, []time.Duration{-1, 5, 99}))
	assert.Equal(t, []time.Duration{10, 20, 30, 40}, times)
}

func TestMantri61Reduction(t *testing.T) {
	assert.InDelta(t, .5, bounds.Reduction(10, 5), 1e-12)
	assert.InDelta(t, -1, bounds.Reduction(10, 20), 1e-12)
	assert.Zero(t, bounds.Reduction(0, 5))
}

// "The IdealReduce strategy tracks perfectly the changes in available bandwidth of links due to the other jobs": where
// a link is about to become slow, the placement of the first moment alone goes wrong.
func TestMantri64IdealReduce(t *testing.T) {
	// Ten bytes go from rack 2 to rack 0 or 1. Rack 0 has the faster link for 2 s, and rack 1 after that: 2*3 + 2*2 bytes
	// or 2*1 + 2*4 bytes in 4 s. Of two equal assignments, the one for the last bandwidths is found first, and counts.
	a, takes, err := bounds.IdealReduce(placement.Problem{Input: [][]float64{{0, 0, 10}}, Slots: []int{1, 1, 0}}, []bounds.Bandwidths{
		{Up: []float64{9, 9, 9}, Down: []float64{3, 1, 9}}, {From: 2, Up: []float64{9, 9, 9}, Down: []float64{2, 4, 9}},
	}, placement.DefaultEffort)
	require.NoError(t, err)
	assert.Equal(t, 4.0, takes)
	assert.Equal(t, []int{1}, a.Rack)

	r := rand.New(rand.NewPCG(2, 2))
	better := 0
	for range 60 {
		racks := 3
		p := placement.Problem{}
		for range 5 {
			row := make([]float64, racks)
			for j := range row {
				row[j] = float64(r.IntN(200))
			}
			p.Input = append(p.Input, row)
		}
		var changes []bounds.Bandwidths
		for i := range 3 {
			b := bounds.Bandwidths{From: float64(4 * i)}
			for range racks {
				b.Up, b.Down = append(b.Up, float64(5+r.IntN(100))), append(b.Down, float64(5+r.IntN(100)))
			}
			changes = append(changes, b)
		}
		_, ideal, err := bounds.IdealReduce(p, changes, placement.DefaultEffort)
		require.NoError(t, err)
		first, _, err := bounds.IdealReduce(p, changes[:1], placement.DefaultEffort)
		require.NoError(t, err)
		blind := carriedAll(p, first.Rack, changes)
		assert.LessOrEqual(t, ideal, blind*(1+1e-9))
		least := math.Inf(1) // over all 3^5 placements
		rack := make([]int, len(p.Input))
		for n := range 243 {
			for k := range rack {
				rack[k] = n % 3
				n /= 3
			}
			least = min(least, carriedAll(p, rack, changes))
		}
		assert.GreaterOrEqual(t, ideal, least*(1-1e-9))
		assert.LessOrEqual(t, ideal, 1.25*least)
		if ideal < .95*blind {
			better++
		}
	}
	assert.Greater(t, better, 20)
}

// carriedAll steps through time until every link has carried its bytes.
func carriedAll(p placement.Problem, rack []int, changes []bounds.Bandwidths) float64 {
	const step = 1. / 32
	longest := 0.0
	for j := range changes[0].Up {
		for direction := range 2 {
			bytes := 0.0
			for k, row := range p.Input {
				for i, b := range row {
					if direction == 0 && i == j && rack[k] != j || direction == 1 && i != j && rack[k] == j {
						bytes += b
					}
				}
			}
			at := 0.0
			for bytes > 0 {
				now := changes[0]
				for _, c := range changes {
					if c.From <= at {
						now = c
					}
				}
				rate := now.Up[j]
				if direction == 1 {
					rate = now.Down[j]
				}
				at += min(step, bytes/rate)
				bytes -= rate * step
			}
			longest = max(longest, at)
		}
	}
	return longest
}

func TestIdealReduceRefuses(t *testing.T) {
	p := placement.Problem{Input: [][]float64{{1, 2}}}
	ok := bounds.Bandwidths{Up: []float64{1, 1}, Down: []float64{1, 1}}
	for want, changes := range map[string][]bounds.Bandwidths{
		"must be From 0":                        nil,
		"Bandwidths[1].From is 0":               {ok, ok},
		"Bandwidths[0] has 1 and 0 racks":       {{Up: []float64{1}}},
		"Input[0] has 2 racks, Bandwidths have": {{Up: []float64{1}, Down: []float64{1}}},
		"Problem.Up":                            {{Up: []float64{0, 0}, Down: []float64{0, 0}}},
	} {
		_, _, err := bounds.IdealReduce(p, changes, 0)
		assert.ErrorContains(t, err, want)
	}
}
