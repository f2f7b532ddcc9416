package restart

import (
	"fmt"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// Policy decides about one running task at a time. The policies of this package are plain values. Their zero value
// has the published defaults, and they are safe for concurrent use.
//
// To write a policy of your own, implement the one method. The method must return the same decision for the same
// facts, and must not change the facts. Then [Next], package tracker and the test helpers work with the policy.
// [Hold] enforces the limits of the phase on the decisions of the policy. Use the function [Avoid] to set the field
// Avoid of a decision.
type Policy interface {
	Decide(t Task, p Phase) Decision
}

// Off turns a rule off. It is used in a field in which 0 means the published default, so that 0 cannot turn the rule
// off.
const Off = check.Off

// Decide says what to do about a running task, by the default policy LeastCost{}. The cost is O(len(t.Attempts));
// Decide allocates nothing.
func Decide(t Task, p Phase) Decision { return LeastCost{}.decide(&t, &p) }

// Never is the policy that keeps every task. Comparisons of policies use it as the baseline.
type Never struct{}

// Decide returns a decision that keeps the task, with the reason Disabled.
func (Never) Decide(Task, Phase) Decision { return Decision{Reason: Disabled} }

// Next says what to do with a free slot. It returns an index and a decision:
//
//   - If the action is [Start], a waiting task is started. The index is the position in waiting of the task with the
//     most work. The slice waiting contains the work of each waiting task, in units of your choice.
//   - If the action is [Copy] or [Restart], the index is the position in running of the task that gains most.
//   - If the action is [Keep], there is nothing to do, and the index is -1.
//
// If two tasks are equal, the task with the lower index is chosen. If the policy makes no copies while tasks wait,
// Next starts a waiting task. [Hold] enforces p.Limits on each decision. A nil policy means LeastCost{}. The cost is
// O(len(running)*len(Attempts) + len(waiting)); Next allocates nothing.
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
		// A NaN means that the work is not known. A task of unknown work is taken last.
		if work > waiting[best] || waiting[best] != waiting[best] && work == work {
			best = i
		}
	}
	return best, Decision{Action: Start, Reason: NextWaiting}
}

// Validate returns an error for the first field of the policy that is out of range. The error states the field, its
// value and its range. If a policy of your own has a method Validate() error, Validate calls it. Validate a policy
// when you create it: Decide does not fail or panic, whatever the fields are. A nil policy means LeastCost{}. A nil
// pointer of a policy type is an error.
func Validate(policy Policy) error {
	if check.Nil(policy) {
		return check.Bad("restart", "Policy", fmt.Sprintf("a nil %T", policy), "a policy, or nil itself for LeastCost")
	}
	if v, ok := policy.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// MarshalJSON returns a JSON object with the fields that are not zero. Field names are in kebab-case, such as
// copy-threshold. Durations are in seconds, and Off is -1. UnmarshalJSON reads the same JSON.
func (m Mantri) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&m)) }
func (m *Mantri) UnmarshalJSON(data []byte) error { return wire.Read(data, m, wire.Struct) }

// MarshalJSON returns a JSON object as [Mantri.MarshalJSON] does. UnmarshalJSON reads the same JSON.
func (c LeastCost) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *LeastCost) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// MarshalJSON returns a JSON object as [Mantri.MarshalJSON] does. UnmarshalJSON reads the same JSON.
func (l Limits) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&l)) }
func (l *Limits) UnmarshalJSON(data []byte) error { return wire.Read(data, l, wire.Struct) }
