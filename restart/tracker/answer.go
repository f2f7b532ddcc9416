package tracker

import (
	"log/slog"
	"strconv"

	"github.com/straggler-go/straggler/restart"
)

// Answer is what a [Tracker] says to an event. To events that ask nothing it is the zero Answer, except for Task, for
// the number of a new attempt, and for Ignored.
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

// String returns the answer as one line: the task, unless it is about none, the decision, and the attempt to kill.
func (a Answer) String() string {
	text := a.decision()
	if a.Task < 0 {
		return text
	}
	return "task=" + strconv.Itoa(a.Task) + " " + text
}

// decision returns the decision as one line, with the attempt to kill.
func (a *Answer) decision() string {
	text := a.Decision.String()
	if !a.ends() {
		return text
	}
	// The attempt stands where the decision has the index of the copy, which says nothing to a host.
	index := " copy=" + strconv.Itoa(a.Copy)
	head := len(a.Action.String()) + 1 + len(a.Reason.String())
	return text[:head] + " attempt=" + strconv.Itoa(a.Attempt) + text[head+len(index):]
}

// LogValue returns the answer as a group of fields, for log/slog: those of the decision, with the task and the attempt.
func (a Answer) LogValue() slog.Value {
	attrs := make([]slog.Attr, 0, 12)
	if a.Task >= 0 {
		attrs = append(attrs, slog.Int("task", a.Task))
	}
	for _, attr := range a.Decision.LogValue().Group() {
		if attr.Key == "copy" {
			attr = slog.Int("attempt", a.Attempt)
		}
		attrs = append(attrs, attr)
	}
	return slog.GroupValue(attrs...)
}

// MarshalJSON returns the answer as an object: that of the decision, with the task and the attempt.
func (a Answer) MarshalJSON() ([]byte, error) {
	d, err := a.Decision.MarshalJSON()
	if err != nil || a.Task < 0 {
		return d, err
	}
	b := strconv.AppendInt(append(make([]byte, 0, len(d)+40), `{"task":`...), int64(a.Task), 10)
	if a.ends() {
		b = strconv.AppendInt(append(b, `,"attempt":`...), int64(a.Attempt), 10)
	}
	return append(append(b, ','), d[1:]...), nil
}

// ends reports whether the decision ends an attempt.
func (a *Answer) ends() bool { return ends(&a.Decision) }

// ends reports whether a decision ends an attempt.
func ends(d *restart.Decision) bool { return d.Action == restart.Restart || d.Action == restart.Kill }
