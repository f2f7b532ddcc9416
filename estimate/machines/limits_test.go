package machines_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
)

// ran records attempts that took the given times as long as usual, one after the other.
func ran(r *machines.Record, machine, attempts int, times float64) {
	for i := range attempts {
		a := machines.Attempt{Ran: time.Duration(times * float64(time.Minute)), Usual: time.Minute}
		r.End(time.Unix(int64(i), 0), machine, uint64(i), a, machines.Finished)
	}
}

// Of the machines of a class, as many as MaxShare says are called slow, and at least one of two.
func TestMaxShareIsAShareOfTheClass(t *testing.T) {
	for _, c := range []struct{ machines, slow, want int }{{2, 1, 1}, {4, 2, 1}, {8, 2, 2}, {8, 3, 2}, {12, 3, 3}, {16, 5, 4}} {
		r, err := machines.New(machines.Config{})
		require.NoError(t, err)
		for m := range c.machines {
			times := 1.
			if m < c.slow {
				times = 4 + float64(m)
			}
			ran(r, m, 8, times)
		}
		slow := 0
		for m := range c.machines {
			if r.Judge(m).Standing == machines.Slow {
				slow++
			}
		}
		assert.Equal(t, c.want, slow, "%+v", c)
		assert.Len(t, r.AppendAvoid(nil), c.want, "%+v", c)
	}
}

// A machine without evidence has the factor of its class, compared with the median machine of all.
func TestTheFactorOfAClassIsRelativeToAllMachines(t *testing.T) {
	r, err := machines.New(machines.Config{Trust: 1e-3})
	require.NoError(t, err)
	for m := range 5 { // the class 0, the larger
		ran(r, m, 8, 2)
	}
	for m := 5; m < 8; m++ {
		r.SetClass(m, 1)
		ran(r, m, 8, 6)
	}
	r.SetClass(8, 1)
	r.SetClass(9, 0)
	assert.InDelta(t, 3, r.Factor(8), 1e-6)
	assert.InDelta(t, 1, r.Factor(9), 1e-6)
	assert.InDelta(t, 3, r.Factor(5), 1e-6)
}

// The totals of progress are halved once in each half-life, also in the second.
func TestProgressIsHalvedOnceInAHalfLife(t *testing.T) {
	r, err := machines.New(machines.Config{HalfLife: time.Hour})
	require.NoError(t, err)
	start := time.Unix(0, 0)
	total := func(at time.Duration) float64 {
		r.AddProgress(start.Add(at), 1, 0)
		all, _ := r.Progress(1)
		return all
	}
	r.AddProgress(start, 1, 16)
	for _, c := range []struct {
		minutes int
		want    float64
	}{{59, 16}, {60, 8}, {90, 8}, {119, 8}, {120, 4}, {179, 4}, {300, .5}} {
		assert.InDelta(t, c.want, total(time.Duration(c.minutes)*time.Minute), 1e-9, "after %d minutes", c.minutes)
	}
}
