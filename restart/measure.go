package restart

import (
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Comparison is a number that decided, what it was held against, and what both of them measure. A line has the number under
// the name of its measure: probability=0.42 threshold=0.6.
type Comparison struct {
	Measure          Measure
	Value, Threshold float64
}

// Compare returns a comparison; the zero one, which nothing prints, for a measure that does not exist or where one of the
// numbers is not finite.
func Compare(of Measure, value, threshold float64) Comparison {
	if of == NoMeasure || int(of) >= len(measureNames) || !num.Finite(value) || !num.Finite(threshold) {
		return Comparison{}
	}
	return Comparison{of, value, threshold}
}

// Measure is what the two numbers of a comparison measure, and their unit. The names and values are stable.
type Measure uint8

const (
	// NoMeasure is the zero value: there are no numbers.
	NoMeasure Measure = iota
	// SlotSeconds: what it costs to keep the task, and what the action costs, in seconds of slots. Where the task is kept, the
	// second is the cost of the cheapest action, with what an action must save.
	SlotSeconds
	// SavedSlotSeconds: the seconds of slots that the action saves, and must save.
	SavedSlotSeconds
	// LostSlotSeconds: the seconds of slots that this trial might lose, and that trials may still lose.
	LostSlotSeconds
	// SavedSeconds: by how many seconds a copy lets the task end sooner, and by how many it must.
	SavedSeconds
	// RunSeconds: how many seconds the copy has run, and the limit.
	RunSeconds
	// SinceCopySeconds: how many seconds ago the task's last copy began or was killed, and how many must have passed. 0: it
	// waits in an engine's queue.
	SinceCopySeconds
	// UnitSeconds: how many seconds the copy has run for each unit of its work, and the limit.
	UnitSeconds
	// Probability: how probable it is that the action pays, in [0, 1], and how probable it must be.
	Probability
	// WonTrials: how many trials were won, and how many must have been.
	WonTrials
	// PastRestarts: how often the task was restarted, and may be.
	PastRestarts
	// PastCopies: how many copies the task was given beside another, and may be.
	PastCopies
	// RunningAttempts: how many copies of the task run, and may at once.
	RunningAttempts
	// FasterAttempts: how many copies of the task are faster, and how many are enough.
	FasterAttempts
	// FinishedTasks: how many tasks have finished, and must have.
	FinishedTasks
	// FinishedShare: which share of the tasks has finished, in [0, 1], and must have.
	FinishedShare
	// CopyShare: which share of the slots is held by copies, in [0, 1], and may be.
	CopyShare
	// ProgressScore: the copy's progress score, and the limit.
	ProgressScore
	// ProgressRate: which part of the task the copy does each second, and the limit.
	ProgressRate
	// WorkRate: how many units of work the copy does each second, and the limit.
	WorkRate
	// MachineScore: the progress scores of all that the machine has run, added up, and the limit.
	MachineScore
	// SlowFactor: how many times as long as others the machine takes, and the limit.
	SlowFactor
	// WaitingTasks: how many tasks wait for a slot, and the limit.
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
