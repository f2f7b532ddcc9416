package journal

import (
	"strconv"

	"github.com/straggler-go/straggler/restart/tracker"
)

// answerWords contains the first words of an answer: the actions of a decision, and the words of other answers of a
// tracker.
var answerWords = [...]string{
	"keep", "copy", "restart", "kill", "start", wordTask, wordAttempt, wordEnds, wordWaits, wordIgnored,
}

const (
	wordTask    = "task"
	wordAttempt = "attempt"
	wordEnds    = "ends"
	wordWaits   = "waits"
	wordIgnored = "ignored"

	// indent is the beginning of each line of an answer.
	indent = "    "
)

// appendAnswer appends the tracker's answer to an event, as indented lines, each with the line end given in end. If
// the answer is empty, it appends nothing. appendAnswer may change the answer.
func appendAnswer(dst []byte, e *tracker.Event, a *tracker.Answer, end string) []byte {
	switch e.Kind {
	case tracker.Started, tracker.Submitted:
		// The number 0 is not written.
		if a.Attempt > 0 {
			dst = append(appendInt(append(dst, indent...), wordAttempt+"=", a.Attempt), end...)
		}
	case tracker.Added:
		dst = append(appendInt(append(dst, indent...), wordTask+"=", a.Task), end...)
	case tracker.Reported, tracker.Asked:
		// The task is already in the line of the event, so it is not written again.
		a.Task = -1
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

// appendFound appends a decision as an indented line. The task is left out if its number is negative.
func appendFound(dst []byte, a *tracker.Answer, end string) []byte {
	// AppendText never returns an error.
	dst, _ = a.AppendText(append(dst, indent...))
	return append(dst, end...)
}

// appendInt appends a key and a number.
func appendInt(dst []byte, key string, n int) []byte {
	return strconv.AppendInt(append(dst, key...), int64(n), 10)
}

// appendNumbers appends an indented line with a key and a list of numbers. If the list is empty, it appends nothing.
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
