package tracker

import (
	"log/slog"
	"strconv"

	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
)

// Answer is the reply of a [Tracker] to an event. If the event asks no question, the answer has no decision: it has
// only the Task, the number of a new attempt, Ignored, and the lists below.
type Answer struct {
	// Decision says what to do about the task. For Restart and Kill, its Attempt is the number of the attempt to kill.
	// For Started and Submitted, its Attempt is the number of the new attempt, or -1 if there is none.
	restart.Decision
	// Task is the task of the decision; -1 if the decision is about no task.
	Task int
	// Ignored says that the event, or a part of the event, made no sense to the tracker.
	Ignored bool
	// Overtaken, for Finished, holds the numbers of the task's other attempts. The tracker counts them as ended; the
	// host should kill them. Overtaken, Waiting and Found hold until the next event.
	Overtaken []int
	// Waiting, for MachineLost, holds the tasks that lost their last attempt and wait again.
	Waiting []int
	// Found, for Swept, holds one answer for each task with an action other than Keep.
	Found []Answer
}

// wire lists the fields for text, JSON and logs. The fields of the decision come last.
func (a *Answer) wire(c *wire.Codec) {
	c.Index("task", &a.Task)
	c.Bool("ignored", &a.Ignored)
	wire.Numbers(c, "overtaken", &a.Overtaken)
	wire.Numbers(c, "waiting", &a.Waiting)
	wire.List(c, "found", &a.Found, (*Answer).wire)
	c.Inline(&a.Decision)
}

// String returns the answer as one line: the decision, after the task if there is one.
func (a Answer) String() string {
	text, _ := a.AppendText(nil) // it never fails
	return string(text)
}

// AppendText appends the line of String to dst.
func (a *Answer) AppendText(dst []byte) ([]byte, error) {
	if a.Task >= 0 {
		dst = append(strconv.AppendInt(append(dst, "task="...), int64(a.Task), 10), ' ')
	}
	return a.Decision.AppendText(dst)
}

// Sentence returns the sentence of [restart.Decision.Sentence], with the task, and with the number of the attempt to
// kill.
func (a Answer) Sentence() string {
	switch text := a.Decision.Sentence(); {
	case a.Task < 0:
		return text
	case ends(&a.Decision):
		return "attempt " + strconv.Itoa(a.Attempt) + " of task " + strconv.Itoa(a.Task) + " " + text
	default:
		return "task " + strconv.Itoa(a.Task) + " " + text
	}
}

// LogValue returns the answer as a group of fields for log/slog: the task, the lists, and the fields of the decision.
func (a Answer) LogValue() slog.Value { return wire.Log(a.wire) }

// MarshalJSON returns the answer as an object of the fields that LogValue logs: durations in seconds, null for
// unknown.
func (a Answer) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }

// UnmarshalJSON reads the JSON of MarshalJSON, and gives the very same answer.
func (a *Answer) UnmarshalJSON(data []byte) error { return wire.Read(data, a, (*Answer).wire) }

// ends reports whether a decision ends an attempt.
func ends(d *restart.Decision) bool { return d.Action == restart.Restart || d.Action == restart.Kill }
