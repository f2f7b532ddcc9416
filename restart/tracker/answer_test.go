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

// Eight tasks on eight slots have done 4 % after 2 s, so their progress predicts 50 s, and a tenth of it is 5 s. The answer
// says on what its 3 s rest. So do the answers of a large phase, which are computed from bounds. Once three tasks have ended,
// the whole prediction counts: 85 % after 51 s leaves 9 s at least.
func TestAnAnswerBeforeTheFirstEndSaysOnWhatItsTimeRests(t *testing.T) {
	for _, tasks := range []int{8, 100} {
		tr := newTracker(t, tracker.Config{Tasks: tasks, Slots: tasks, Machines: tasks, Interval: time.Second})
		report := func(now float64, done float64) (last tracker.Answer) {
			for task := range tasks - 3 {
				last = tr.Report(at(now), task, 0, tracker.Report{Done: done})
			}
			return last
		}
		for task := range tasks {
			tr.Start(at(0), task, task)
		}
		report(1, .02)
		early := report(2, .04)
		assert.Equal(t, restart.ByEarlyProgress, early.Basis)
		assert.Equal(t, 3*time.Second, early.Remaining)
		assert.Contains(t, early.String(), "keep not-slow basis=early-progress remaining=3s fresh=50s slot-seconds=12 ")
		assert.Contains(t, early.Sentence(), "; its remaining time rests on only a tenth of the run time that its progress predicts")
		for task := range 3 {
			tr.Finish(at(50), tasks-1-task, 0)
		}
		late := report(51, .85)
		assert.Equal(t, restart.ByProgress, late.Basis)
		assert.GreaterOrEqual(t, late.Remaining, 9*time.Second)
		assert.NotContains(t, late.Sentence(), "rests on")
	}
	tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 1, Machines: 1, Interval: time.Second, Policy: restart.Mantri{}})
	tr.Start(at(0), 0, 0)
	assert.Equal(t, restart.ByEarlyProgress, tr.Report(at(2), 0, 0, tracker.Report{Done: .04}).Basis)
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
