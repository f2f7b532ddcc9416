package journal

import (
	"errors"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/restart"
)

// Kind is what an event tells a tracker, or asks it. Names and values are stable.
type Kind uint8

const (
	// Phase opens a journal: Event.Phase is the configuration of a new tracker.
	Phase Kind = iota
	// Work goes on with the works of the phase's tasks: Event.Work.
	Work
	// Slots is [restart.Tracker.SetSlots] with Event.Slots.
	Slots
	// Eligible is [restart.Tracker.SetEligible] with NoDuplicate and NoRestart.
	Eligible
	// Start is [restart.Tracker.Start].
	Start
	// Report is [restart.Tracker.Report] with Event.Progress.
	Report
	// Decide is [restart.Tracker.Decide].
	Decide
	// Next is [restart.Tracker.Next].
	Next
	// Sweep is [restart.Tracker.Sweep].
	Sweep
	// Finish is [restart.Tracker.Finish].
	Finish
	// Fail is [restart.Tracker.Fail].
	Fail
	// Kill is [restart.Tracker.Kill].
	Kill
	// Restart is [restart.Tracker.Restart].
	Restart
	// LoseMachine is [restart.Tracker.LoseMachine].
	LoseMachine
	// LoseOutput is [restart.Tracker.LoseOutput].
	LoseOutput
	// Submit is [restart.Tracker.Submit].
	Submit
	// Begin is [restart.Tracker.Begin].
	Begin
	// GiveUp is [restart.Tracker.GiveUp].
	GiveUp
)

var kindNames = [...]string{
	"phase", "work", "slots", "eligible", "start", "report", "decide", "next", "sweep", "finish", "fail", "kill",
	"restart", "lose machine", "lose task", "submit", "begin", "give-up",
}

// String returns the word or two with which a line of this kind begins.
func (k Kind) String() string {
	return enum.Name(kindNames[:], int(k), "Kind")
}

// timed reports whether lines of this kind begin with a time.
func (k Kind) timed() bool { return k > Eligible }

// unknownMachine stands for a machine that is not known or does not matter.
const unknownMachine = -1

// Event is one line of a journal: something that a [restart.Tracker] was told or asked. Of the fields, each kind uses
// those that the tracker's method takes.
type Event struct {
	Kind Kind
	// At is when, since the journal's start. Phase, Work, Slots and Eligible have no time.
	At time.Duration
	// Task, Attempt and Machine are the tracker's numbers. A machine that is not known is negative.
	Task, Attempt, Machine int
	Progress               restart.Progress
	Slots                  int
	NoDuplicate, NoRestart bool
	Work                   []float64
	// Phase must not be changed; events that were parsed own it, others borrow it.
	Phase *restart.Config
	// Line is where the event was read, counted from 1; 0 if it was not. AppendText leaves it out.
	Line int
}

var (
	errKind  = errors.New("journal: Event.Kind is out of range, want one of the named kinds")
	errPhase = errors.New("journal: Event.Phase is nil, want a configuration")
)

// AppendText appends the event as one line, without the line's end. It fails only for a kind that does not exist and
// for a Phase without one. For all other events, parsing the text gives an event with the same text. It does not
// allocate if dst is long enough, but for Phase.
func (e Event) AppendText(dst []byte) ([]byte, error) {
	switch {
	case int(e.Kind) >= len(kindNames):
		return dst, errKind
	case e.Kind == Phase && e.Phase == nil:
		return dst, errPhase
	case e.Kind == Phase:
		return appendConfig(dst, e.Phase), nil
	case e.Kind.timed():
		dst = append(appendDuration(dst, e.At), ' ')
	}
	return e.appendFields(append(dst, kindNames[e.Kind]...)), nil
}

func (e *Event) appendFields(dst []byte) []byte {
	switch e.Kind {
	case Work:
		return appendWorks(append(dst, ' '), e.Work)
	case Slots:
		return strconv.AppendInt(append(dst, ' '), int64(e.Slots), 10)
	case Eligible:
		dst = appendInt(dst, " task=", e.Task)
		if e.NoDuplicate {
			dst = append(dst, " duplicate=no"...)
		}
		if e.NoRestart {
			dst = append(dst, " restart=no"...)
		}
		return dst
	case Start, Submit:
		return e.appendMachine(appendInt(dst, " task=", e.Task))
	case Report:
		return e.appendProgress(e.appendAttempt(dst))
	case Decide, GiveUp:
		return appendInt(dst, " task=", e.Task)
	case Next:
		return e.appendMachine(dst)
	case Begin:
		return e.appendMachine(e.appendAttempt(dst))
	case Finish, Fail, Kill, Restart:
		return e.appendAttempt(dst)
	case LoseMachine:
		return strconv.AppendInt(append(dst, '='), int64(e.Machine), 10)
	case LoseOutput:
		return strconv.AppendInt(append(dst, '='), int64(e.Task), 10)
	}
	return dst // Sweep has no fields
}

func (e *Event) appendAttempt(dst []byte) []byte {
	return appendInt(appendInt(dst, " task=", e.Task), " attempt=", e.Attempt)
}

func (e *Event) appendMachine(dst []byte) []byte {
	if e.Machine < 0 {
		return dst
	}
	return appendInt(dst, " machine=", e.Machine)
}

func (e *Event) appendProgress(dst []byte) []byte {
	if e.Progress.Done != 0 {
		dst = appendFloat(append(dst, " done="...), e.Progress.Done)
	}
	if e.Progress.Score != 0 {
		dst = appendFloat(append(dst, " score="...), e.Progress.Score)
	}
	if e.Progress.Remaining != 0 {
		dst = appendEstimate(append(dst, " remaining="...), e.Progress.Remaining)
	}
	return dst
}

func appendInt(dst []byte, key string, n int) []byte {
	return strconv.AppendInt(append(dst, key...), int64(n), 10)
}
