package report

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// training returns steps of twelve tasks of 10 s. Task 3 takes 30 s in each step, and task 8 of the second step takes
// 50 s, because it has five times the bytes. The tasks have numbers from 100 on in the log.
func training() (phases []*sim.Phase, facts []causes.Phase) {
	for step := range 6 {
		p := &sim.Phase{Job: "training", Name: fmt.Sprint("step ", step), Interval: time.Second,
			Begins: time.Duration(step) * time.Minute}
		p.Draw = func(*rand.Rand, int, int, bool) time.Duration { return 10 * time.Second }
		f := causes.Phase{Tasks: make([]causes.Task, 12)}
		for i := range 12 {
			took, bytes := 10*time.Second, 1e6
			switch {
			case i == 3:
				took = 30 * time.Second
			case i == 8 && step == 1:
				took, bytes = 50*time.Second, 5e6
			}
			f.Tasks[i] = causes.Task{Took: took, Bytes: bytes, Machine: -1}
			p.Tasks = append(p.Tasks, sim.Task{Number: int32(100 + i), Work: bytes, Attempts: []sim.Attempt{{Duration: took}}})
			p.Order, p.Slots = append(p.Order, int32(i)), append(p.Slots, sim.Slot{Machine: -1})
		}
		phases, facts = append(phases, p), append(facts, f)
	}
	return phases, facts
}

// Each straggler has its own cause. A recurring task is charged only with its own time.
func TestEachStragglerHasItsCause(t *testing.T) {
	phases, facts := training()
	r := build(t, phases, Input{Name: "training"})
	require.NoError(t, r.Explain(phases, facts, nil))
	require.Len(t, r.Worst, 7)
	assert.Equal(t, Straggler{
		Phase: 1, Job: "training", Name: "step 1", Task: "108", Start: 60, Seconds: 50, Times: 5, Cause: "data", Cost: 30,
	}, r.Worst[0], "the costliest is first")
	for i, step := range []int{0, 2, 3, 4, 5, 1} { // in step 1, task 3 costs less
		w := r.Worst[1+i]
		assert.Equal(t, []any{"103", SameTask, fmt.Sprint("step ", step)}, []any{w.Task, w.Cause, w.Name})
	}
	assert.InDelta(t, 10, r.Worst[6].Cost, 1e-9)
	// The stragglers lose 6 x 20 s and 40 s beyond the medians. A step costs 20 s, but step 1 costs 40 s: the slots of both
	// stragglers share the first 20 s, and the slot of task 8 has the other 20 s.
	assert.InDelta(t, 160, r.Causes.Excess, 1e-9)
	parts := func(parts []Part) map[string]float64 {
		m := map[string]float64{}
		for _, p := range parts {
			m[p.Cause] = p.Share
		}
		return m
	}
	assert.InDeltaMapValues(t, map[string]float64{SameTask: 120. / 160, "data": 40. / 160}, parts(r.Causes.Parts), 1e-9)
	assert.InDeltaMapValues(t, map[string]float64{SameTask: (5*20. + 10) / 140, "data": (10 + 20.) / 140},
		parts(r.Causes.CostParts), 1e-9)
	bars := 0
	for _, s := range r.Schedules {
		for _, b := range s.Before {
			if b.Kind == kindStraggler {
				bars++
				assert.Equal(t, map[string]string{"103": SameTask, "108": "data"}[b.Name], b.Cause)
			}
		}
	}
	assert.Positive(t, bars)
}
