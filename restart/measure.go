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

// Measure says which quantity a comparison compares, and in which unit. The comment of a measure says what Value is,
// and then what Threshold is. The names and values are stable.
type Measure uint8

const (
	// NoMeasure is the zero value: the decision has no comparison.
	NoMeasure Measure = iota
	// SlotSeconds: the cost of keeping the task, in seconds of slots, and that of the action. If the task is kept, the
	// threshold is the cost of the cheapest action plus two report periods, which an action must save at least.
	SlotSeconds
	// SavedSlotSeconds: the slot time that the action saves, in seconds, and the least that it must save.
	SavedSlotSeconds
	// LostSlotSeconds: the slot time that this trial is expected to lose, in seconds, and the slot time that trials may
	// still lose under the bound of [Limits].
	LostSlotSeconds
	// SavedSeconds: the time that a copy is expected to save, in seconds, and the least that it must save.
	SavedSeconds
	// RunSeconds: the age of the attempt in seconds, and the age with which the rule compares it.
	RunSeconds
	// SinceCopySeconds: the time since the task's last copy began or was killed, in seconds, and the time that must pass
	// before the next action. The value is 0 if the copy waits in an engine's queue.
	SinceCopySeconds
	// UnitSeconds: the age of the attempt divided by its work, in seconds for each unit of work, and the limit.
	UnitSeconds
	// Probability: the probability that the action pays, and the lowest that is enough; both in [0, 1].
	Probability
	// WonTrials: the number of trials that were won so far, and the number that the action needs.
	WonTrials
	// PastRestarts: how often the task was restarted, and how often it may be restarted.
	PastRestarts
	// PastCopies: how many copies the task has had, and how many it may have.
	PastCopies
	// RunningAttempts: how many attempts of the task run, and how many may run at once.
	RunningAttempts
	// FasterAttempts: how many attempts of the task are faster than the attempt to kill, and how many the kill needs.
	FasterAttempts
	// FinishedTasks: how many tasks of the phase have finished, and how many the rule needs.
	FinishedTasks
	// FinishedShare: the share of the phase's tasks that have finished, and the share that the rule needs; both in [0,
	// 1].
	FinishedShare
	// CopyShare: the share of the slots in which copies run, and the largest that is allowed; both in [0, 1].
	CopyShare
	// ProgressScore: the progress score of the attempt, from 0 at the start to 1 at the end, and the score below which
	// it is slow.
	ProgressScore
	// ProgressRate: the part of the task that the attempt does each second, and the rate below which it is slow.
	ProgressRate
	// WorkRate: the units of work that the attempt does each second, and the rate below which it is slow.
	WorkRate
	// MachineScore: the sum of the progress scores of all attempts on the machine, and the sum below which the machine
	// is too slow for a copy.
	MachineScore
	// SlowFactor: the factor by which attempts take longer on this machine than on other machines, and its limit.
	SlowFactor
	// WaitingTasks: the number of tasks that wait for a slot, and the largest that is allowed.
	WaitingTasks
)

// measures has the name of each measure, and the part of a sentence that explains a comparison in it. {value%} is the
// value as a percentage, and {value s} is the value, in seconds, in the unit that fits.
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
func (m Measure) MarshalText() ([]byte, error) { return enum.Text(names(measures[:]), m) }

// UnmarshalText sets the measure by its name.
func (m *Measure) UnmarshalText(text []byte) error { return enum.Parse(names(measures[:]), text, m) }
