package tracker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Candidates returns the tasks from which Next would choose a task to copy. A restored tracker has the same
// candidates.
func TestCandidatesAreTheTasksOfNext(t *testing.T) {
	s := newSteady(t, 1000, rules.LATE{MinAge: restart.Off})
	list := func(tr *tracker.Tracker) []int { return slices.Sorted(tr.Candidates()) }
	var want []int
	for task := range 1000 {
		if a := s.tracker.Decide(s.now, task); a.Action == restart.Copy || a.Reason == restart.NoFreeSlot {
			want = append(want, task)
		}
	}
	assert.Greater(t, len(want), 100)
	assert.Equal(t, want, list(s.tracker))
	assert.Contains(t, want, s.tracker.Next(s.now, 3).Task)

	data, err := s.tracker.MarshalBinary()
	assert.NoError(t, err)
	restored, err := tracker.Restore(tracker.Config{}, data)
	assert.NoError(t, err)
	assert.Equal(t, want, list(restored))
	seen := 0
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for task := range s.tracker.Candidates() {
			if seen += task; task < 0 {
				break
			}
		}
	}))
	s.tracker.Close(s.now)
	assert.Empty(t, list(s.tracker))
}

// crossing is a policy that copies each task. The gain of the task on machine 0 is 10 s, and that of another is its age.
type crossing struct{}

func (crossing) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	d := restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot, Gain: 10 * time.Second}
	if a := t.Attempts[0]; a.Machine != 0 {
		d.Gain = a.Elapsed
	}
	return d
}

// Next ranks the candidates again when a ranking is older than a 64th of an interval. The second task gains more than the
// first as soon as it has run for more than 10 s.
func TestARankingIsUsedForA64thOfAnInterval(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 2, Slots: 4, Interval: 64 * time.Second, Policy: crossing{}, Limits: published})
	for task := range 2 {
		tr.Start(start, task, task)
	}
	for task := range 2 {
		tr.Decide(start.Add(seconds(8)), task)
	}
	for _, c := range []struct {
		at   time.Duration
		task int
	}{{seconds(9.5), 0}, {seconds(10.5), 0}, {seconds(10.5) + 1, 1}} {
		a := tr.Next(start.Add(c.at), 5)
		assert.Equal(t, restart.Copy, a.Action, "after %v", c.at)
		assert.Equal(t, c.task, a.Task, "after %v", c.at)
	}
}
