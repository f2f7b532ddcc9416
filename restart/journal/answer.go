package journal

import (
	"strconv"

	"github.com/straggler-go/straggler/restart/tracker"
)

// answerWords are the first words of an answer: the actions of a decision, and the other answers of a tracker.
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

// appendAnswer appends the tracker's answer to an event: indented lines, each with its line end. appendAnswer
// appends nothing if the answer is empty. appendAnswer may change the answer.
func appendAnswer(dst []byte, e *tracker.Event, a *tracker.Answer, end string) []byte {
	switch e.Kind {
	case tracker.Started, tracker.Submitted:
		if a.Attempt > 0 { // attempt 0 is not written
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

// appendFound writes a decision, with the task unless the event names it.
func appendFound(dst []byte, a *tracker.Answer, end string) []byte {
	dst, _ = a.AppendText(append(dst, indent...)) // it never fails
	return append(dst, end...)
}

func appendInt(dst []byte, key string, n int) []byte {
	return strconv.AppendInt(append(dst, key...), int64(n), 10)
}

// appendNumbers writes a list of numbers, unless it is empty.
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
