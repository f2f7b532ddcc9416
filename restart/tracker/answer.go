package tracker

import (
	"log/slog"
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
)

// Answer is what a [Tracker] says to an event. To events that ask nothing it has no Decision: only Task, the number
// of a new attempt, Ignored, and the lists below.
type Answer struct {
	// Decision is what to do about the task. Its Copy is an index into what the policy was shown, and of no use to a host.
	restart.Decision
	// Task is the task that the decision is about; -1 if it is about none.
	Task int
	// Attempt is the number of the attempt to kill, for Restart and Kill; to Started and Submitted the new attempt's
	// number, or -1 if there is none.
	Attempt int
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
	c.When(a.ends() || a.Attempt != 0).Int("attempt", &a.Attempt)
	c.Bool("ignored", &a.Ignored)
	wire.Numbers(c, "overtaken", &a.Overtaken)
	wire.Numbers(c, "waiting", &a.Waiting)
	wire.List(c, "found", &a.Found, (*Answer).wire)
	c.Inline(&a.Decision)
}

// String returns the answer as one line: the task, unless it is about none, and the decision, with the attempt to kill
// where that has the index of the copy, which says nothing to a host.
func (a Answer) String() string {
	text, _ := a.AppendText(nil) // it never fails
	return string(text)
}

// AppendText appends what String returns to dst.
func (a *Answer) AppendText(dst []byte) ([]byte, error) {
	if a.Task >= 0 {
		dst = append(strconv.AppendInt(append(dst, "task="...), int64(a.Task), 10), ' ')
	}
	from := len(dst)
	dst, err := a.Decision.AppendText(dst)
	if a.ends() {
		index, number := " copy="+strconv.Itoa(a.Copy), " attempt="+strconv.Itoa(a.Attempt)
		dst = append(dst[:from], strings.Replace(string(dst[from:]), index, number, 1)...)
	}
	return dst, err
}

// Sentence is that of the decision, with the task, and with the attempt to kill.
func (a Answer) Sentence() string {
	switch text := a.Decision.Sentence(); {
	case a.Task < 0:
		return text
	case a.ends():
		return "attempt " + strconv.Itoa(a.Attempt) + " of task " + strconv.Itoa(a.Task) + " " + text
	default:
		return "task " + strconv.Itoa(a.Task) + " " + text
	}
}

// LogValue returns the answer as a group of fields, for log/slog: the task, the attempt, and those of the decision.
func (a Answer) LogValue() slog.Value { return wire.Log(a.wire) }

// MarshalJSON returns the answer as an object of the fields that it logs, durations in seconds, null for unknown.
func (a Answer) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }

// UnmarshalJSON reads what MarshalJSON writes: the very same answer.
func (a *Answer) UnmarshalJSON(data []byte) error { return wire.Read(data, a, (*Answer).wire) }

// UnmarshalText reads what String returns, which has six digits of each number, and no copy.
func (a *Answer) UnmarshalText(line []byte) error {
	return wire.Scan(line, a, func(a *Answer, c *wire.Codec) {
		c.Index("task", &a.Task)
		c.Int("attempt", &a.Attempt)
		c.Inline(&a.Decision)
	})
}

// ends reports whether the decision ends an attempt.
func (a *Answer) ends() bool { return ends(&a.Decision) }

// ends reports whether a decision ends an attempt.
func ends(d *restart.Decision) bool { return d.Action == restart.Restart || d.Action == restart.Kill }
