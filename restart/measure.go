package restart

import (
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Comparison contains the two numbers that the policy compared, and the measure of both. The policy compared Value
// with Threshold. As text, Value is printed under the name of the measure, for example probability=0.42
// threshold=0.6.
type Comparison struct {
	Measure          Measure
	Value, Threshold float64
}

// Compare returns a comparison of value with threshold in the given measure. If the measure does not exist or a
// number is not finite, it returns the zero Comparison, which prints nothing.
func Compare(of Measure, value, threshold float64) Comparison {
	if of == NoMeasure || int(of) >= len(measures) || !num.Finite(value) || !num.Finite(threshold) {
		return Comparison{}
	}
	return Comparison{of, value, threshold}
}

// Measure says which quantity a comparison compares, and in which unit. The names and values are stable.
type Measure uint8

const (
	// NoMeasure is the zero value: the decision has no comparison.
	NoMeasure Measure = iota
	// SlotSeconds: the value is the cost of keeping the task, in seconds of slots. If the policy acts, threshold is the
	// cost of the action. If the task is kept, threshold is the cost of the cheapest action plus two report periods,
	// because an action must save at least that much.
	SlotSeconds
	// SavedSlotSeconds: the value is the slot time that the action saves, in seconds. The threshold is the least slot time
	// that the action must save.
	SavedSlotSeconds
	// LostSlotSeconds: the value is the slot time that this trial is expected to lose, in seconds. A trial is a copy or a
	// restart of a slow task. The threshold is the slot time that trials may still lose under the bound of [Limits].
	LostSlotSeconds
	// SavedSeconds: the value is the time that a copy is expected to save, in seconds. The threshold is the least time
	// that the copy must save.
	SavedSeconds
	// RunSeconds: the value is the age of the attempt in seconds. The threshold is the age that the rule compares it with.
	RunSeconds
	// SinceCopySeconds: the value is the time since the task's last copy began or was killed, in seconds. It is 0 if the
	// copy waits in an engine's queue. The threshold is the time that must pass before the next action.
	SinceCopySeconds
	// UnitSeconds: the value is the age of the attempt divided by its work, in seconds for each unit of work. The
	// threshold is the limit of value.
	UnitSeconds
	// Probability: the value is the probability, in [0, 1], that the action pays. The threshold is the lowest probability
	// that is enough for the action.
	Probability
	// WonTrials: the value is the number of trials that were won so far. A trial is a copy or a restart of a slow task.
	// The threshold is the number of won trials that the action needs.
	WonTrials
	// PastRestarts: the value is how often the task was restarted. The threshold is how often it may be restarted.
	PastRestarts
	// PastCopies: the value is the number of copies that the task has had. The threshold is the number that it may have.
	PastCopies
	// RunningAttempts: the value is the number of running attempts of the task. The threshold is the number that may run
	// at once.
	RunningAttempts
	// FasterAttempts: the value is the number of attempts of the task that are faster than the attempt to kill. The
	// threshold is the number of faster attempts that a kill needs.
	FasterAttempts
	// FinishedTasks: the value is the number of finished tasks of the phase. The threshold is the number of finished tasks
	// that the rule needs.
	FinishedTasks
	// FinishedShare: the value is the share of the phase's tasks that have finished, in [0, 1]. The threshold is the share
	// that the rule needs.
	FinishedShare
	// CopyShare: the value is the share of the slots in which copies run, in [0, 1]. The threshold is the largest share
	// that is allowed.
	CopyShare
	// ProgressScore: the value is the progress score of the attempt, from 0 at the start to 1 at the end. Threshold is
	// the score below which the attempt is slow.
	ProgressScore
	// ProgressRate: the value is the part of the task that the attempt does each second. The threshold is the rate below
	// which the attempt is slow.
	ProgressRate
	// WorkRate: the value is the number of units of work that the attempt does each second. The threshold is the rate
	// below which the attempt is slow.
	WorkRate
	// MachineScore: the value is the sum of the progress scores of all attempts on the machine. The threshold is the sum
	// below which the machine is too slow for a copy.
	MachineScore
	// SlowFactor: the value is the factor by which attempts take longer on this machine than on other machines. The
	// threshold is the limit of the factor.
	SlowFactor
	// WaitingTasks: the value is the number of tasks that wait for a slot. The threshold is the largest number that is
	// allowed.
	WaitingTasks
)

// measures has the name of each measure, and the part of a sentence that explains a comparison in it. {value} and {threshold}
// are replaced by the two numbers; {value%} and {threshold%} by the same numbers as percentages; {value s} and {threshold s} by
// the same numbers, which are seconds, in the unit that fits.
var measures = [...]words{
	NoMeasure:        {"no-measure", ""},
	SlotSeconds:      {"slot-seconds", "to let it run costs {value s} of slot time, and the cheapest change {threshold s}"},
	SavedSlotSeconds: {"saved-slot-seconds", "that saves {value s} of slot time, and must save {threshold s}"},
	LostSlotSeconds:  {"lost-slot-seconds", "this trial might lose {value s} of slot time, and trials may lose {threshold s} more"},
	SavedSeconds:     {"saved-seconds", "a copy saves {value s}, and must save more than {threshold s}"},
	RunSeconds:       {"run-seconds", "it has run for {value s}, and the limit is {threshold s}"},
	SinceCopySeconds: {"since-copy-seconds", "its last copy began or was killed {value s} ago, and {threshold s} must pass"},
	UnitSeconds:      {"unit-seconds", "it has run for {value s} for each unit of its work, and the limit is {threshold s}"},
	Probability:      {"probability", "the chance that a change pays is {value%}, and must be {threshold%}"},
	WonTrials:        {"won-trials", "{value} of the earlier trials won, and {threshold} must have"},
	PastRestarts:     {"past-restarts", "it has used {value} of {threshold} restarts"},
	PastCopies:       {"past-copies", "it has used {value} of {threshold} copies"},
	RunningAttempts:  {"running-attempts", "the number of its attempts is {value}, and at most {threshold} may run"},
	FasterAttempts:   {"faster-attempts", "the number of faster attempts is {value}, and {threshold} is enough"},
	FinishedTasks:    {"finished-tasks", "the number of finished tasks is {value}, and must be {threshold}"},
	FinishedShare:    {"finished-share", "{value%} of the tasks have finished, and {threshold%} must have"},
	CopyShare:        {"copy-share", "copies hold {value%} of the slots, and may hold {threshold%}"},
	ProgressScore:    {"progress-score", "its progress is {value}, and the limit is {threshold}"},
	ProgressRate:     {"progress-rate", "it does {value%} of the task each second, and the limit is {threshold%}"},
	WorkRate:         {"work-rate", "it does {value} units of work each second, and the limit is {threshold}"},
	MachineScore:     {"machine-score", "the machine has done the work of {value} tasks, and the limit is {threshold}"},
	SlowFactor:       {"slow-factor", "the machine takes {value} times as long as others, and the limit is {threshold}"},
	WaitingTasks:     {"waiting-tasks", "the number of waiting tasks is {value}, and the limit is {threshold}"},
}

// String returns the measure's name.
func (m Measure) String() string { return nameOf(measures[:], m) }

// MarshalText returns the measure's name; an error for a value that does not exist.
func (m Measure) MarshalText() ([]byte, error) {
	var names [len(measures)]string
	return enum.Text(fill(names[:], measures[:]), m)
}

// UnmarshalText sets the measure by its name.
func (m *Measure) UnmarshalText(text []byte) error {
	var names [len(measures)]string
	return enum.Parse(fill(names[:], measures[:]), text, m)
}
