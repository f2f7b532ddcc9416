package tracker

import (
	"log/slog"
	"strconv"

	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
)

// Answer is what a [Tracker] says to an event. To events that ask nothing it has no Decision: only Task, the number
// of a new attempt, Ignored, and the lists below.
type Answer struct {
	// Decision is what to do about the task. Its Attempt is the number of the attempt to kill, for Restart and Kill. In the
	// answer to Started and Submitted it is the number of the new attempt, or -1 if there is none.
	restart.Decision
	// Task is the task that the decision is about; -1 if it is about none.
	Task int
	// Ignored says that the tracker could make no sense of the event, or of a part of it.
	Ignored bool
	// Overtaken are the numbers of the task's other attempts, to Finished: kill them; the tracker takes them as ended.
	// It holds until the next event, as do the two below.
	Overtaken []int
	// Waiting are the tasks that lost their last copy, to MachineLost, and wait again.
	Waiting []int
	// Found are the answers to Swept: one for each task about which something is to be done.
	Found []Answer
}

// wire lists the fields: first those that a decision does not have.
func (a *Answer) wire(c *wire.Codec) {
	c.Index("task", &a.Task)
	c.Bool("ignored", &a.Ignored)
	wire.Numbers(c, "overtaken", &a.Overtaken)
	wire.Numbers(c, "waiting", &a.Waiting)
	wire.List(c, "found", &a.Found, (*Answer).wire)
	c.Inline(&a.Decision)
}

// String returns the answer as one line: the task, unless the answer is about none, and the decision.
func (a Answer) String() string {
	text, _ := a.AppendText(nil) // it never fails
	return string(text)
}

// AppendText appends what String returns to dst.
func (a *Answer) AppendText(dst []byte) ([]byte, error) {
	if a.Task >= 0 {
		dst = append(strconv.AppendInt(append(dst, "task="...), int64(a.Task), 10), ' ')
	}
	return a.Decision.AppendText(dst)
}

// Sentence is that of the decision, with the task, and with the attempt to kill.
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

// LogValue returns the answer as a group of fields, for log/slog: the task, the attempt, and those of the decision.
func (a Answer) LogValue() slog.Value { return wire.Log(a.wire) }

// MarshalJSON returns the answer as an object of the fields that it logs, durations in seconds, null for unknown.
func (a Answer) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }

// ends reports whether a decision ends an attempt.
func ends(d *restart.Decision) bool { return d.Action == restart.Restart || d.Action == restart.Kill }
