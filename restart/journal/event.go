package journal

import (
	"strconv"
	"time"

	"github.com/straggler-go/straggler/restart/internal/kv"
	"github.com/straggler-go/straggler/restart/tracker"
)

// AppendEvent appends an event as one line, without the line's end, its time as that since the start of the journal.
// Parsing the text gives an event with the same text. An event of no known kind gives a line that no parser takes. It
// does not allocate if dst is long enough.
func AppendEvent(dst []byte, start time.Time, e tracker.Event) []byte {
	if e.Kind.Timed() {
		dst = append(kv.AppendDuration(dst, e.Time.Sub(start)), ' ')
	}
	return appendFields(append(dst, e.Kind.String()...), &e)
}

func appendFields(dst []byte, e *tracker.Event) []byte {
	switch e.Kind {
	case tracker.SlotsSet:
		return strconv.AppendInt(append(dst, ' '), int64(e.Slots), 10)
	case tracker.EligibleSet:
		dst = appendInt(dst, " task=", e.Task)
		if e.NoDuplicate {
			dst = append(dst, " duplicate=no"...)
		}
		if e.NoRestart {
			dst = append(dst, " restart=no"...)
		}
		return dst
	case tracker.Started, tracker.Submitted:
		return appendMachine(appendInt(dst, " task=", e.Task), e)
	case tracker.Reported, tracker.Recorded:
		return appendReport(appendAttempt(dst, e), &e.Report)
	case tracker.Asked, tracker.GivenUp:
		return appendInt(dst, " task=", e.Task)
	case tracker.Offered:
		return appendMachine(dst, e)
	case tracker.Begun:
		return appendMachine(appendAttempt(dst, e), e)
	case tracker.Finished, tracker.Failed, tracker.Killed, tracker.Restarted:
		return appendAttempt(dst, e)
	case tracker.MachineLost:
		return strconv.AppendInt(append(dst, '='), int64(e.Machine), 10)
	case tracker.MachineLeaves:
		if dst = appendMachine(dst, e); !e.Leaves.IsZero() {
			dst = kv.AppendDuration(append(dst, " in="...), e.Leaves.Sub(e.Time))
		}
		return dst
	case tracker.OutputLost:
		return strconv.AppendInt(append(dst, '='), int64(e.Task), 10)
	}
	return dst // Swept and Closed have no fields
}

func appendAttempt(dst []byte, e *tracker.Event) []byte {
	return appendInt(appendInt(dst, " task=", e.Task), " attempt=", e.Attempt)
}

func appendMachine(dst []byte, e *tracker.Event) []byte {
	if e.Machine < 0 {
		return dst
	}
	return appendInt(dst, " machine=", e.Machine)
}

func appendReport(dst []byte, r *tracker.Report) []byte {
	if r.Done != 0 {
		dst = kv.AppendFloat(append(dst, " done="...), r.Done)
	}
	if r.Score != 0 {
		dst = kv.AppendFloat(append(dst, " score="...), r.Score)
	}
	if r.Remaining != 0 {
		dst = kv.AppendEstimate(append(dst, " remaining="...), r.Remaining)
	}
	if r.Saved != 0 {
		dst = kv.AppendFloat(append(dst, " saved="...), r.Saved)
	}
	return dst
}

func appendInt(dst []byte, key string, n int) []byte {
	return strconv.AppendInt(append(dst, key...), int64(n), 10)
}
