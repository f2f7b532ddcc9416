package journal

import (
	"strconv"

	"github.com/straggler-go/straggler/restart/tracker"
)

// The words with which an answer begins: a decision's actions, and what the tracker answers besides.
var answerWords = [...]string{
	"keep", "copy", "restart", "kill", "start", wordTask, wordAttempt, wordEnds, wordWaits, wordIgnored,
}

const (
	wordTask    = "task"
	wordAttempt = "attempt"
	wordEnds    = "ends"
	wordWaits   = "waits"
	wordIgnored = "ignored"

	indent = "    "
)

// AppendAnswer appends what the tracker answered to an event: lines that are indented, each with its end; none if there
// is nothing to say.
func AppendAnswer(dst []byte, e tracker.Event, a tracker.Answer) []byte {
	return appendAnswer(dst, &e, &a, "\n")
}

// appendAnswer is AppendAnswer for an answer that it may change.
func appendAnswer(dst []byte, e *tracker.Event, a *tracker.Answer, end string) []byte {
	switch e.Kind {
	case tracker.Started, tracker.Submitted:
		if a.Attempt > 0 { // the first of a task goes without saying
			dst = append(appendInt(append(dst, indent...), wordAttempt+"=", a.Attempt), end...)
		}
	case tracker.Reported, tracker.Asked:
		a.Task = -1 // the event names it
		dst = appendFound(dst, a, end)
	case tracker.Offered:
		dst = appendFound(dst, a, end)
	case tracker.Swept:
		for i := range a.Found {
			dst = appendFound(dst, &a.Found[i], end)
		}
	case tracker.Finished:
		dst = appendNumbers(dst, wordEnds+" attempt=", a.Overtaken, end)
	case tracker.MachineLost:
		dst = appendNumbers(dst, wordWaits+" task=", a.Waiting, end)
	}
	if a.Ignored {
		dst = append(append(append(dst, indent...), wordIgnored...), end...)
	}
	return dst
}

// appendFound writes a decision, with the task that it is about unless the event says it.
func appendFound(dst []byte, a *tracker.Answer, end string) []byte {
	dst, _ = a.AppendText(append(dst, indent...)) // it never fails
	return append(dst, end...)
}

func appendInt(dst []byte, key string, n int) []byte {
	return strconv.AppendInt(append(dst, key...), int64(n), 10)
}

// appendNumbers writes a list, unless it is empty.
func appendNumbers(dst []byte, key string, list []int, end string) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(append(dst, indent...), key...)
	for i, n := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return append(dst, end...)
}
