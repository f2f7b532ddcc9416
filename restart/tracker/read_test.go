package tracker_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Waiting yields the waiting tasks by their work and index, whatever the loop starts and wherever it ends, and Next then
// starts the first task that still waits.
func TestWaitingIsInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 2))
	for range 50 {
		work := make([]float64, 1+rng.IntN(20))
		waits := map[int]bool{}
		for i := range work {
			work[i], waits[i] = float64(1+rng.IntN(4)), true
		}
		p, err := tracker.New(tracker.Config{Work: work, Slots: len(work) + 1, Interval: time.Second})
		require.NoError(t, err)
		now := time.Unix(0, 0)
		for range 20 {
			left := []int{}
			for i := range work {
				if waits[i] {
					left = append(left, i)
				}
			}
			slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(work[b], work[a]) })
			most, seen := rng.IntN(len(left)+2), []int{}
			for task := range p.Waiting() {
				require.True(t, p.Task(task).Waits)
				seen = append(seen, task)
				if rng.IntN(3) == 0 {
					if p.Submit(now, task, -1); !p.Task(task).Waits {
						delete(waits, task)
					}
				}
				if len(seen) == most {
					break
				}
			}
			if most > 0 {
				assert.Equal(t, left[:min(most, len(left))], seen)
			}
			assert.Equal(t, len(work)-len(waits), p.Running())
			if task := rng.IntN(len(work)); !waits[task] && rng.IntN(2) == 0 { // it waits again, and its place in the heap may be an old one
				for a := range p.Attempts(task) {
					p.Fail(now, task, a.Attempt)
					break
				}
				waits[task] = true
			}
		}
	}
}

// A loop that ends by a panic, or with a loop in it, loses no task.
func TestWaitingLosesNoTask(t *testing.T) {
	p, err := tracker.New(tracker.Config{Tasks: 4, Slots: 4, Interval: time.Second})
	require.NoError(t, err)
	assert.Panics(t, func() {
		for task := range p.Waiting() {
			if task == 2 {
				panic("the host has a fault")
			}
		}
	})
	assert.Equal(t, []int{0, 1, 2, 3}, slices.Collect(p.Waiting()))
	for range p.Waiting() {
		for range p.Waiting() {
			continue
		}
	}
	assert.Equal(t, []int{0, 1, 2, 3}, slices.Collect(p.Waiting()))
}

// A task that does not exist has no facts, and a tracker that New did not make has no tasks.
func TestWhatDoesNotExistHasNoFacts(t *testing.T) {
	p, err := tracker.New(tracker.Config{Tasks: 1, Slots: 1, Interval: time.Second})
	require.NoError(t, err)
	for _, p := range []*tracker.Tracker{p, new(tracker.Tracker)} {
		for _, task := range []int{-1, 1} {
			assert.Zero(t, p.Task(task))
			for range p.Attempts(task) {
				assert.Fail(t, "an attempt of no task")
			}
		}
	}
	for range new(tracker.Tracker).Waiting() {
		assert.Fail(t, "a task of no phase")
	}
	assert.Zero(t, new(tracker.Tracker).Running())
}

// The facts of a task are those of the events, and a restored tracker has the same.
func TestFactsOfATask(t *testing.T) {
	p, err := tracker.New(tracker.Config{Tasks: 2, Slots: 2, Interval: time.Second})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	want := tracker.TaskInfo{Waits: true}
	says := func() {
		t.Helper()
		assert.Equal(t, want, p.Task(0))
		data, err := p.MarshalBinary()
		require.NoError(t, err)
		again, err := tracker.Restore(tracker.Config{}, data)
		require.NoError(t, err)
		assert.Equal(t, want, again.Task(0))
	}
	says()
	p.Start(now, 0, 3)
	want.Launched, want.Waits = 1, false
	says()
	p.SetEligible(0, false, true)
	want.NoCopy = true
	says()
	p.SetEligible(0, true, false)
	want.NoCopy, want.NoRestart = false, true
	says()
	p.Fail(now, 0, 0)
	want.Waits = true
	says()
	p.GiveUp(now, 0)
	want.Waits, want.GivenUp = false, true
	says()
	p.Retry(now, 0)
	p.Finish(now, 0, p.Start(now, 0, 3))
	want.Launched, want.GivenUp, want.Finished = 2, false, true
	says()
}
