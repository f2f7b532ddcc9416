package tracker

import (
	"log/slog"
	"strconv"

	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
)

// Answer is the reply of a [Tracker] to an event. Some events ask a question, for example [Offered]: what to do with
// a free slot. The answer to such an event contains a decision. The answer to any other event contains only the Task,
// the number of a new attempt, Ignored, and the lists below.
type Answer struct {
	// Decision says what to do about the task. If its Action is Restart or Kill, its Attempt is the number of the
	// attempt to kill. In the answer to a Started or Submitted event, its Attempt is the number of the new attempt, or
	// -1 if there is no new attempt.
	restart.Decision
	// Task is the index of the task that the decision is about; -1 if the decision is about no task.
	Task int
	// Ignored says that the tracker could not use the event, or a part of the event. For example, the event was about
	// an attempt that has already ended.
	Ignored bool
	// Overtaken is set in the answer to a Finished event. It contains the numbers of the other attempts of the
	// finished task. For the tracker these attempts have ended; the host should kill them. The slices Overtaken,
	// Waiting and Found are valid until the next event.
	Overtaken []int
	// Waiting is set in the answer to a MachineLost event. It contains the tasks that lost their last attempt with the
	// machine, and wait for a slot again.
	Waiting []int
	// Found is set in the answer to a Swept event. It contains one answer for each task whose action is not Keep.
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

// String returns the answer as one line: the task, if there is one, and then the decision. The answer to a Finished
// event has a decision for the host if attempts were overtaken: to kill them.
func (a Answer) String() string {
	text, _ := a.AppendText(nil) // it never fails
	return string(text)
}

// AppendText appends the line that String returns to dst.
func (a *Answer) AppendText(dst []byte) ([]byte, error) {
	if a.Task >= 0 {
		dst = append(strconv.AppendInt(append(dst, "task="...), int64(a.Task), 10), ' ')
	}
	if len(a.Overtaken) > 0 {
		return a.appendOvertaken(append(dst, "kill overtaken attempt="...), ","), nil
	}
	return a.Decision.AppendText(dst)
}

// appendOvertaken appends the numbers of the overtaken attempts to dst.
func (a *Answer) appendOvertaken(dst []byte, separator string) []byte {
	for i, attempt := range a.Overtaken {
		if i > 0 {
			dst = append(dst, separator...)
		}
		dst = strconv.AppendInt(dst, int64(attempt), 10)
	}
	return dst
}

// Sentence returns the decision as an English sentence, as [restart.Decision.Sentence] does. The sentence begins with
// the task, and for Restart and Kill with the number of the attempt to kill.
func (a Answer) Sentence() string {
	if len(a.Overtaken) > 0 {
		overtaken := restart.Decision{Action: restart.Kill, Reason: restart.Overtaken}
		list := string(a.appendOvertaken(nil, " and "))
		return "attempt " + list + " of task " + strconv.Itoa(a.Task) + " " + overtaken.Sentence()
	}
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

// UnmarshalJSON reads the JSON that MarshalJSON returns. The result is equal to the marshalled answer.
func (a *Answer) UnmarshalJSON(data []byte) error { return wire.Read(data, a, (*Answer).wire) }

// ends reports whether a decision ends an attempt: it is a Restart or a Kill.
func ends(d *restart.Decision) bool { return d.Action == restart.Restart || d.Action == restart.Kill }
