package restart

import (
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Comparison is the value that decided, the threshold, and the measure of both. A line prints the
// value under the name of its measure: probability=0.42 threshold=0.6.
type Comparison struct {
	Measure          Measure
	Value, Threshold float64
}

// Compare returns a comparison. If the measure does not exist or a number is not finite, it returns the zero Comparison, which
// prints nothing.
func Compare(of Measure, value, threshold float64) Comparison {
	if of == NoMeasure || int(of) >= len(measureNames) || !num.Finite(value) || !num.Finite(threshold) {
		return Comparison{}
	}
	return Comparison{of, value, threshold}
}

// Measure names the quantity of the two numbers of a comparison, with its unit. The names and values are stable.
type Measure uint8

const (
	// NoMeasure is the zero value: the decision has no comparison.
	NoMeasure Measure = iota
	// SlotSeconds: value is the cost of keeping the task, in seconds of slots; threshold is the cost of the action. If the
	// task is kept, threshold is the cost of the cheapest action plus two report periods, the least that an action must save.
	SlotSeconds
	// SavedSlotSeconds: value is the slot time that the action saves, in seconds; threshold is the least that it must save.
	SavedSlotSeconds
	// LostSlotSeconds: value is the expected loss of this trial, in seconds of slots; threshold is the loss that the bound of
	// [Limits] still allows.
	LostSlotSeconds
	// SavedSeconds: value is the time in seconds that a copy is expected to save; threshold is the least time that a copy must
	// save.
	SavedSeconds
	// RunSeconds: value is the age of the attempt in seconds; threshold is the limit.
	RunSeconds
	// SinceCopySeconds: value is the time in seconds since the task's last copy began or was killed, 0 if the copy waits in an
	// engine's queue; threshold is the least time that must have passed.
	SinceCopySeconds
	// UnitSeconds: value is the age of the attempt in seconds for each unit of its work; threshold is the limit.
	UnitSeconds
	// Probability: value is the probability that the action pays, in [0, 1]; threshold is the least that is enough.
	Probability
	// WonTrials: value is the number of trials that were won; threshold is the number that is enough.
	WonTrials
	// PastRestarts: value is the number of restarts of the task; threshold is the limit.
	PastRestarts
	// PastCopies: value is the number of copies that the task was given; threshold is the limit.
	PastCopies
	// RunningAttempts: value is the number of attempts of the task that run; threshold is the limit.
	RunningAttempts
	// FasterAttempts: value is the number of attempts of the task that are faster; threshold is the number that is enough.
	FasterAttempts
	// FinishedTasks: value is the number of finished tasks; threshold is the number that is enough.
	FinishedTasks
	// FinishedShare: value is the share of the tasks that has finished, in [0, 1]; threshold is the share that is enough.
	FinishedShare
	// CopyShare: value is the share of the slots that copies hold, in [0, 1]; threshold is the limit.
	CopyShare
	// ProgressScore: value is the progress score of the attempt, in [0, 1]; threshold is the limit.
	ProgressScore
	// ProgressRate: value is the part of the task that the attempt does each second; threshold is the limit.
	ProgressRate
	// WorkRate: value is the number of units of work that the attempt does each second; threshold is the limit.
	WorkRate
	// MachineScore: value is the sum of the progress scores of all attempts on the machine; threshold is the limit.
	MachineScore
	// SlowFactor: value is the factor by which attempts take longer on the machine than elsewhere; threshold is the limit.
	SlowFactor
	// WaitingTasks: value is the number of tasks that wait for a slot; threshold is the limit.
	WaitingTasks
)

var measureNames = [...]string{
	"no-measure", "slot-seconds", "saved-slot-seconds", "lost-slot-seconds", "saved-seconds", "run-seconds",
	"since-copy-seconds", "unit-seconds", "probability", "won-trials", "past-restarts", "past-copies", "running-attempts",
	"faster-attempts", "finished-tasks", "finished-share", "copy-share", "progress-score", "progress-rate", "work-rate",
	"machine-score", "slow-factor", "waiting-tasks",
}

// String returns the measure's name.
func (m Measure) String() string { return enum.Name(measureNames[:], m) }

// MarshalText returns the measure's name; an error for a value that does not exist.
func (m Measure) MarshalText() ([]byte, error) { return enum.Text(measureNames[:], m) }

// UnmarshalText sets the measure by its name.
func (m *Measure) UnmarshalText(text []byte) error { return enum.Parse(measureNames[:], text, m) }
