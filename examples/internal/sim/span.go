package sim

import "time"

// Span is the time of an attempt on a slot, for a picture of the schedule.
type Span struct {
	// Start and End are measured from the first start of the phase.
	Start, End time.Duration
	Task       int32
	Attempt    int32
	Slot       int32 // index into Phase.Slots; negative for a clone, which runs on a slot of its own
	Launched   bool  // started by a decision of the policy, not by the recording
	Ending     Ending
}

// Ending tells how an attempt ended.
type Ending uint8

// The endings of a copy.
const (
	Succeeded Ending = iota
	Failed           // failed, as in the recording
	Killed           // killed by a decision, or because another attempt of its task had ended
)
