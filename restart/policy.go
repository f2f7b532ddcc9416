package restart

import (
	"fmt"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// Policy decides about one running task at a time. The policies of this package are plain values whose zero value means
// the published defaults, and are safe for concurrent use. A policy of your own is one method; give the same answer to
// the same facts, do not change them, and [Next], package tracker and the test helpers work with it. [Avoid] fills the
// decision's Avoid.
type Policy interface {
	Decide(t Task, p Phase) Decision
}

// Off turns off the rule of a field whose zero value means the published default.
const Off = check.Off

// Decide says what to do about a running task by the default policy: it is LeastCost{}.Decide(t, p). O(len(t.Attempts)), no
// allocation.
func Decide(t Task, p Phase) Decision { return LeastCost{}.Decide(t, p) }

// Never is the policy that leaves every task alone: the baseline.
type Never struct{}

// Decide keeps the task.
func (Never) Decide(Task, Phase) Decision { return Decision{Reason: Disabled} }

// Next answers what to do with a free slot: the index into running of the task that gains most by a copy or a restart,
// or the index into waiting of the task with the most work, whose works are given in units of your choice. The action
// tells which: [Start] refers to waiting, [Keep] to nothing (index -1), all others to running.
//
// Ties go to the lowest index. A policy that makes no copies while tasks wait says so in its decisions, and so the
// waiting task is started. [Hold] holds each answer against p.Limits. A nil policy is LeastCost{}.
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

// Validate returns an error that names the first field of a policy that is out of range, with its value and its range.
// It asks a policy of your own by its method Validate() error, if it has one. Validate a policy once, where it is made:
// Decide neither fails nor panics, whatever its fields are. A nil policy is LeastCost{}; one that holds a nil pointer is
// an error.
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
