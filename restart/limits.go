package restart

import (
	"github.com/straggler-go/straggler/internal/check"
)

// Limits bounds the restarts, the copies and the lost slot time of a phase, whatever attempts report and whatever a
// policy decides. A host sets [Phase].Limits. LeastCost respects the limits by itself. For any other policy, [Hold]
// enforces them; package tracker and [Next] call Hold. The zero value has safe defaults.
//
// The limits guarantee that every task ends. A task is restarted at most Restarts times, and gets at most Copies
// copies. If several attempts of a task run, the attempt with the most work behind it is not killed. The oldest
// attempt is killed only if another attempt has more work behind it, and such a kill uses up a restart of the task.
// So the oldest attempt runs until it ends, unless a restart is used up. Therefore a task ends within Restarts+1
// times the time of its longest attempt, plus the time for which it waits for a slot after each restart. If all
// attempts of the task take the same time, the task ends within Restarts+1 times the time of its first attempt.
//
// In three cases the host must set a bound itself. An attempt may hang for ever: give each attempt a hard timeout. An
// attempt may fail, or its machine may be lost: bound the number of tries. A task with both NoCopy and NoRestart gets
// no second attempt, so it waits for its only attempt.
//
// Limits also bounds the slot time that trials may lose: FreeTrials and LossShare are the numbers in the bound that the
// comment of [Trials] states.
type Limits struct {
	// Restarts is how often a task may be restarted. The Mantri paper calls it γ. 0 means 3; Off: never.
	Restarts int `want:"count or off"`
	// Copies is how many copies a task may be given, over its whole life. 0 means 8; Off: none.
	Copies int `want:"count or off"`
	// FreeTrials is how many trials may be lost before any trial was won. 0 means 4; Off: none.
	FreeTrials int `want:"count or off"`
	// LossShare is the share of the phase's slot time that lost trials may use, in (0, 1]. For example, 0.03 is 3 %.
	// 0 means 0.03; Off: trials may lose any amount.
	LossShare float64 `want:"share or off"`
}

// The default values of the fields of Limits. They are this library's choices.
const (
	usualRestarts  = 3    // restarts of a task
	usualCopies    = 8    // copies of a task
	usualFree      = 4    // trials that may be lost before any was won
	usualLossShare = 0.03 // share of the phase's slot time that lost trials may use
)

// Validate returns an error for the first field that is out of range. The error states the value and the allowed
// range.
func (l Limits) Validate() error { return check.Valid(l) }

// Effective returns the limits with each zero field replaced by its default.
func (l Limits) Effective() Limits {
	return Limits{
		check.Or(l.Restarts, usualRestarts), check.Or(l.Copies, usualCopies),
		check.Or(l.FreeTrials, usualFree), check.Or(l.LossShare, usualLossShare),
	}
}

// Hold enforces the limits of the phase on the decision d of a policy. If the limits allow d, Hold returns d
// unchanged. Otherwise it returns a decision to keep the task, whose reason and comparison state the limit. For the
// bound on lost slot time the comparison has the measure [LostSlotSeconds]. If d has an action, a reason, a basis or a
// measure without a name, or a number that is not finite, no log could hold it: Hold keeps the task, with the reason
// BadAnswer. The cost is O(len(t.Attempts)) and one quantile of t.Fresh; Hold allocates nothing.
func Hold(d Decision, t Task, p Phase) Decision {
	if !d.canBeLogged() {
		return Decision{Reason: BadAnswer}
	}
	p.Limits = p.Limits.Effective()
	reason, compared := NoReason, Comparison{}
	switch d.Action {
	case Restart:
		reason, compared = p.Limits.forbid(Restart, &t)
		if reason == NoReason && len(t.Attempts) > 1 && rank(t.Attempts).spares(d.Attempt) {
			reason = FurthestOn
		}
	case Kill:
		if len(t.Attempts) < 2 || !rank(t.Attempts).mayKill(d.Attempt, &t, p.Limits.Restarts) {
			reason = FurthestOn
		}
	case Copy:
		reason, compared = p.Limits.forbid(Copy, &t)
	default:
		return d
	}
	if reason == NoReason && d.Action != Kill && len(t.Attempts) > 0 {
		s := stakesOf(&t, &p)
		if loses, most := s.mayLose(&p.Limits, &p, d.Action); loses >= most {
			reason, compared = LossBound, Compare(LostSlotSeconds, loses, max(0, most))
		}
	}
	if reason == NoReason {
		return d
	}
	d.Action, d.Reason, d.Comparison, d.Attempt, d.Gain, d.Avoid = Keep, reason, compared, 0, 0, MachineSet{}
	return d
}

// forbid returns the reason why the task must not get a copy or be restarted, or NoReason. The limits must have their
// defaults filled in. Off is a negative number, so it is below every number of restarts and copies.
func (l *Limits) forbid(a Action, t *Task) (Reason, Comparison) {
	switch {
	case a == Restart && t.NoRestart:
		return NotRestartable, Comparison{}
	case a == Restart && max(t.Restarts, 0) >= l.Restarts:
		return RestartsSpent, spent(PastRestarts, t.Restarts, l.Restarts)
	case a == Copy && t.NoCopy:
		return NotEligible, Comparison{}
	case a == Copy && max(t.Copies, 0) >= l.Copies:
		return CopiesSpent, spent(PastCopies, t.Copies, l.Copies)
	}
	return NoReason, Comparison{}
}

// canBeLogged reports whether each value of the decision has a name, and each number is finite.
func (d *Decision) canBeLogged() bool {
	return int(d.Action) < len(actions) && int(d.Reason) < len(reasons) && int(d.Basis) < len(basisNames) &&
		(d.Measure != NoMeasure || d.Comparison == Comparison{}) && d.Comparison == Compare(d.Measure, d.Value, d.Threshold)
}
