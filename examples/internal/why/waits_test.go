package why

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// on returns a phase with one slot for each list of times, in seconds, whose tasks run in this order.
func on(slots ...[]float64) *sim.Phase {
	p := &sim.Phase{Interval: time.Second, Hosts: []string{"a", "b", "c"}}
	type start struct {
		at   float64
		task int
	}
	var starts []start
	for slot, times := range slots {
		at := 0.0
		for _, took := range times {
			starts = append(starts, start{at, len(p.Tasks)})
			p.Tasks = append(p.Tasks, sim.Task{
				Number: int32(len(p.Tasks)), Host: p.Hosts[slot], Attempts: []sim.Attempt{{Duration: time.Duration(took * 1e9)}},
			})
			at += took
		}
		p.Slots = append(p.Slots, sim.Slot{
			Machine: slot, Closes: time.Duration(at * 1e9),
		})
	}
	slices.SortStableFunc(starts, func(a, b start) int { return int(a.at - b.at) })
	for _, s := range starts {
		p.Order = append(p.Order, int32(s.task))
	}
	return p
}

// The phase waits for the slot that ends last, however much time the stragglers of other slots lose.
func TestWaits(t *testing.T) {
	// The median is 10 s. Without stragglers, the phase would take 40 s.
	p := on([]float64{10, 30, 10, 20}, []float64{10, 10, 10, 10}, []float64{10, 20, 10, 10})
	waits, err := Waits(p, 30)
	require.NoError(t, err)
	// Slots 0 and 2 share the first 10 s, and slot 0 has the next 20 s: 25 s, of which its stragglers have 2/3 and 1/3.
	assert.InDeltaSlice(t, []float64{0, 25. * 2 / 3, 0, 25. / 3, 0, 0, 0, 0, 0, 5, 0, 0}, waits, 1e-9)

	p.Apart = true
	waits, err = Waits(p, 20)
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{0, 10, 0, 5, 0, 0, 0, 0, 0, 5, 0, 0}, waits, 1e-9,
		"independent runs wait for no slot")
	waits, err = Waits(p, 0)
	require.NoError(t, err)
	assert.Equal(t, make([]float64, 12), waits)

	waits, err = Waits(on([]float64{10, 30}, []float64{40, 10, 10, 10}), 5)
	require.NoError(t, err)
	assert.InDelta(t, 5, waits[1]+waits[2], 1e-9, "the whole cost is divided")
}

// A machine stands out if most of the cost arose there, in several phases, and not because it ran most of the tasks.
func TestPlaces(t *testing.T) {
	worst := func(phases int, cost float64, slots ...[]float64) *Place {
		m := Places{}
		tasks := 0
		for range phases {
			p := on(slots...)
			costs := make([]float64, len(p.Tasks))
			costs[0] = 30
			tasks += len(p.Tasks)
			p.Tasks = append(p.Tasks, sim.Task{Attempts: []sim.Attempt{{Duration: 90e9}}}) // on an unknown machine
			m.Add(p, append(costs, 100))
		}
		return m.Worst(float64(phases)*cost, tasks)
	}
	few, many := []float64{20, 30}, []float64{10, 10, 10, 10}
	got := worst(3, 40, few, many, many)
	require.NotNil(t, got)
	assert.Equal(t, Place{Machine: "a", Cost: 90, Tasks: 6, Stragglers: 6, Phases: 3, most: 30}, *got)
	assert.Nil(t, worst(1, 40, few, many, many), "one phase proves nothing")
	assert.Nil(t, worst(3, 60, few, many, many), "half of the cost is not most of it")
	assert.Nil(t, worst(3, 40, []float64{20, 10, 10, 10}, many), "it ran half of the tasks")
	assert.NotNil(t, worst(3, 40, []float64{20, 30, 10}, many, []float64{10}), "3/8 of the tasks and 3/4 of the cost")
}

// One straggler is no evidence against a machine, however much it costs.
func TestOneStragglerNamesNoMachine(t *testing.T) {
	named := func(costs ...float64) *Place { // of the stragglers of machine a, one a phase; all other cost is 10
		m, sum := Places{}, 10.0
		for _, cost := range costs {
			p := on([]float64{40, 10}, []float64{10, 10, 10, 10}, []float64{10, 10, 10, 10}) // a ran 2 of 10 tasks
			m.Add(p, append([]float64{cost}, make([]float64, len(p.Tasks)-1)...))
			sum += cost
		}
		return m.Worst(sum, 10*len(costs))
	}
	assert.NotNil(t, named(20, 20, 20))
	assert.Nil(t, named(50, 5, 4), "without the first, it has 9 of 19")
	assert.NotNil(t, named(50, 6, 5), "without the first, it has 11 of 21")
	assert.Nil(t, named(100, 100), "two stragglers are too few")
}

// The share of a time is its Shapley value: the mean, over all orders, of what it adds to the largest time.
func TestRunway(t *testing.T) {
	assert.Equal(t, []float64{2, 0, 2, 32}, runway([]float64{6, -1, 6, 36}))
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		times := make([]float64, 1+r.IntN(6))
		for i := range times {
			times[i] = float64(r.IntN(8)) - 1
		}
		want := make([]float64, len(times))
		orders := permutations(len(times))
		for _, order := range orders {
			most := 0.0
			for _, i := range order {
				want[i] += max(0, times[i]-most) / float64(len(orders))
				most = max(most, times[i])
			}
		}
		assert.InDeltaSlice(t, want, runway(times), 1e-9, "%v", times)
	}
}

// permutations returns all orders of the numbers below n.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return all
}
