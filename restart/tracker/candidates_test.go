package tracker_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Candidates are the tasks from which Next would choose. A restored tracker has the same candidates.
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
