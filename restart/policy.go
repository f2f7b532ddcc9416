package restart

import (
	"fmt"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// Policy decides about one running task at a time. The policies of this package are plain values: their zero value has the
// published defaults, and they are safe for concurrent use.
//
// A policy of your own is one method. It must give the same answer to the same facts, and must not change them; then [Next],
// package tracker and the test helpers work with it, and [Hold] holds its answers within the limits of the phase. Function
// [Avoid] computes the Avoid of its decisions.
type Policy interface {
	Decide(t Task, p Phase) Decision
}

// Off turns a rule off, in a field whose zero value means the published default.
const Off = check.Off

// Decide says what to do about a running task, by the default policy LeastCost{}. O(len(t.Attempts)), no allocation.
func Decide(t Task, p Phase) Decision { return LeastCost{}.Decide(t, p) }

// Never is the policy that keeps every task. It is the baseline of comparisons.
type Never struct{}

// Decide keeps the task.
func (Never) Decide(Task, Phase) Decision { return Decision{Reason: Disabled} }

// Next says what to do with a free slot. If the action is [Start], the index names the waiting task with the most work;
// waiting holds the works of the waiting tasks, in units of your choice. If the action is [Keep], nothing is to be done, and
// the index is -1. Any other action is for the running task that gains most, and the index names that task in running.
//
// Ties go to the lowest index. If the policy makes no copies while tasks wait, Next starts a waiting task. [Hold] holds each
// answer within p.Limits. A nil policy is LeastCost{}.
// O(len(running)*len(Attempts) + len(waiting)), no allocation.
func Next(policy Policy, running []Task, waiting []float64, p Phase) (int, Decision) {
	if policy == nil {
		policy = LeastCost{}
	}
	best, decision := -1, Decision{Reason: NothingToDo}
	for i := range running {
		d := Hold(policy.Decide(running[i], p), running[i], p)
		if (d.Action == Copy || d.Action == Restart) && (best < 0 || d.Gain > decision.Gain) {
			best, decision = i, d
		}
	}
	if best >= 0 || len(waiting) == 0 {
		return best, decision
	}
	best = 0
	for i, work := range waiting {
		if work > waiting[best] || waiting[best] != waiting[best] && work == work { // NaN is unknown, and last
			best = i
		}
	}
	return best, Decision{Action: Start, Reason: LargestWork}
}

// Validate returns an error that names the first field of the policy that is out of range, with its value and its range.
// A policy of your own may have a method Validate() error, which is called. Validate a policy once, where you make it:
// Decide does not fail or panic, whatever the fields are. A nil policy is LeastCost{}. A nil pointer in a Policy is an
// error.
func Validate(policy Policy) error {
	if check.Nil(policy) {
		return check.Bad("restart", "Policy", fmt.Sprintf("a nil %T", policy), "a policy, or nil itself for LeastCost")
	}
	if v, ok := policy.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// MarshalJSON returns the fields that are not zero, kebab-case, durations in seconds, Off as -1; UnmarshalJSON reads it.
func (m Mantri) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&m)) }
func (m *Mantri) UnmarshalJSON(data []byte) error { return wire.Read(data, m, wire.Struct) }

// MarshalJSON returns the fields that are not zero, as Mantri's does; UnmarshalJSON reads it.
func (c LeastCost) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *LeastCost) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// MarshalJSON returns the fields that are not zero, Off as -1; UnmarshalJSON reads it.
func (l Limits) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&l)) }
func (l *Limits) UnmarshalJSON(data []byte) error { return wire.Read(data, l, wire.Struct) }
