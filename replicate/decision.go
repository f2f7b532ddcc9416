package replicate

import (
	"fmt"
	"log/slog"
	"time"
)

// Action is what to do about an output.
type Action uint8

// The actions.
const (
	Leave     Action = iota // do nothing
	Replicate               // copy the output to another machine of its rack
	Recompute               // run its task again before anyone asks for the output
)

// String returns the action's name in lower case.
func (a Action) String() string {
	switch a {
	case Leave:
		return "leave"
	case Replicate:
		return "replicate"
	case Recompute:
		return "recompute"
	}
	return fmt.Sprintf("action %d", a)
}

// Reason is why.
type Reason uint8

// The reasons.
const (
	NoReason       Reason = iota
	SavesTime             // copying takes less time than it is expected to save
	SavesTooLittle        // it takes as much or more
	OverBudget            // it would be worth it, but there are not as many tokens, or not as much cluster time, left
	NotNeeded             // no task is left to read the output
	CopyLeft              // another copy is there to read
	LossForeseen          // the output is lost, or its machine is losing outputs, and tasks need it
	Unknown               // a fact is missing or makes no sense
)

// String returns the reason in words, joined by hyphens.
func (r Reason) String() string {
	names := [...]string{
		"no-reason", "saves-time", "saves-too-little", "over-budget", "not-needed", "copy-left", "loss-foreseen", "unknown",
	}
	if int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("reason %d", r)
}

// Decision is an action, why it is taken, and the numbers that it rests on. It can be compared with == and logged. The
// zero value leaves the output alone.
type Decision struct {
	Action Action
	Reason Reason
	// Saves is the time that the action is expected to save the tasks that wait, and Takes what it takes: t_rep for
	// Replicate, cluster time for Recompute.
	Saves, Takes time.Duration
	// Bytes is the size of the output, for Replicate; Tokens what was left of the budget: bytes for Replicate, nanoseconds
	// of cluster time for Recompute.
	Bytes, Tokens int64
}

// String returns the decision as one line.
func (d Decision) String() string {
	s := fmt.Sprintf("%v: %v, saves %v, takes %v", d.Action, d.Reason, d.Saves, d.Takes)
	if d.Bytes > 0 {
		return s + fmt.Sprintf(" for %d bytes of %d", d.Bytes, d.Tokens)
	}
	return s
}

// LogValue returns the decision as structured fields.
func (d Decision) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("action", d.Action.String()),
		slog.String("reason", d.Reason.String()),
		slog.Duration("saves", d.Saves),
		slog.Duration("takes", d.Takes),
		slog.Int64("bytes", d.Bytes),
		slog.Int64("tokens", d.Tokens),
	)
}
