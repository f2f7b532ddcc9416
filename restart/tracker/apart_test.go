package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// firstCopy runs tasks of 30 s on 16 machines, each of which asks for work after each second. The last three machines
// that get a task are slow by a factor. It returns the second of the first copy, or 30 if no task gets one.
func firstCopy(t *testing.T, tasks int, slow float64) (first int) {
	tr := newTracker(t, tracker.Config{Tasks: tasks, Slots: 16, Machines: 16, Interval: time.Second})
	for task := range min(tasks, 16) {
		tr.Start(at(0), task, task)
	}
	for second := 1; second < 30; second++ {
		for task := range min(tasks, 16) {
			whole := 30.
			if task >= min(tasks, 16)-3 {
				whole *= slow
			}
			tr.Report(at(float64(second)), task, 0, tracker.Report{Done: float64(second) / whole})
		}
		for machine := range 16 {
			if a := tr.Next(at(float64(second)), machine); a.Action == restart.Copy {
				return second
			}
		}
	}
	return 30
}

// Before any task has ended, an idle slot goes to a copy of an attempt whose predicted total time is more than twice
// the median of the attempts that run. Less than twice is not enough, and neither is a slot while tasks wait.
func TestAnAttemptThatStandsOutGetsACopyEarly(t *testing.T) {
	assert.InDelta(t, 2, firstCopy(t, 12, 3), 1, "within two reports")
	assert.Greater(t, firstCopy(t, 12, 1.9), 8, "only when progress is even for all")
	assert.Greater(t, firstCopy(t, 16, 3), 8, "no slot is idle")
	assert.Greater(t, firstCopy(t, 40, 3), 8, "tasks wait")
}

// A pause is no long attempt: the mean speed so far must be slow as well.
func TestAPauseStandsOutLater(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 6, Slots: 16, Machines: 16, Interval: time.Second})
	for task := range 6 {
		tr.Start(at(0), task, task)
	}
	copied := 0
	for second := 1; second < 40 && copied == 0; second++ {
		for task := range 6 {
			done := float64(second) / 50
			if task == 0 {
				done = min(done, .2) // it pauses after ten seconds
			}
			tr.Report(at(float64(second)), task, 0, tracker.Report{Done: done})
		}
		if a := tr.Next(at(float64(second)), 10); a.Action == restart.Copy {
			assert.Zero(t, a.Task)
			copied = second
		}
	}
	assert.GreaterOrEqual(t, copied, 20, "after 20 s it has done a fifth, at half the speed of the others")
}
