package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A logged answer contains its task, and the attempt to kill. An answer about no task contains neither.
func TestAnswerNamesItsTask(t *testing.T) {
	for want, a := range map[string]tracker.Answer{
		"task=17 start next-waiting": {Task: 17, Decision: restart.Decision{Action: restart.Start, Reason: restart.NextWaiting}},
		"task=0 restart fresh-sooner attempt=4": {
			Decision: restart.Decision{Action: restart.Restart, Reason: restart.FreshSooner, Attempt: 4},
		},
		"keep nothing-to-do": {Task: -1, Decision: restart.Decision{Reason: restart.NothingToDo}},
	} {
		assert.Equal(t, want, a.String())
	}
}

// The kill of an overtaken attempt has a line and a sentence, too: the answer to the end of its task.
func TestAnOvertakenAttemptHasALine(t *testing.T) {
	var last tracker.Answer
	tr := newTracker(t, tracker.Config{
		Tasks: 3, Slots: 4, Interval: time.Second, OnEvent: func(_ tracker.Event, a tracker.Answer) { last = a },
	})
	for task := range 3 {
		tr.Start(at(0), task, task)
	}
	tr.Finish(at(5), 0, 0)
	assert.Equal(t, "task=0 keep no-reason", last.String())
	tr.Start(at(6), 1, 3)
	tr.Finish(at(10), 1, 1)
	assert.Equal(t, "task=1 kill overtaken attempt=0", last.String())
	assert.Equal(t, "attempt 0 of task 1 killed: another attempt of the task has ended first", last.Sentence())
	tr.Start(at(11), 2, 3)
	tr.Start(at(12), 2, 4)
	tr.Finish(at(20), 2, 0)
	assert.Equal(t, "task=2 kill overtaken attempt=2,1", last.String())
	assert.Equal(t, "attempt 2 and 1 of task 2 killed: another attempt of the task has ended first", last.Sentence())
}
