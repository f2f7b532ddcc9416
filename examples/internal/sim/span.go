package sim

import "time"

// Span is one copy's time on a slot, for a picture of the schedule.
type Span struct {
	// Start and End are since the phase's first start.
	Start, End time.Duration
	Task       int32
	Attempt    int32
	Slot       int32 // index into Phase.Slots; negative for a clone, which runs on a slot of its own
	Launched   bool  // by a policy's decision, not by the recording
	Ending     Ending
}

// Ending is how a copy ended.
type Ending uint8

// The endings of a copy.
const (
	Succeeded Ending = iota
	Failed           // as it did in the recording
	Killed           // by a decision, or because another copy of its task had finished
)
