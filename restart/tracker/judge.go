package tracker

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// judge answers what to do about a task. It gives the facts of the task to the policy, and passes the answer through
// stages; see [phase.decide].
type judge struct {
	policy     restart.Policy
	leastCost  *restart.LeastCost // the policy, if it is LeastCost, which obeys the limits itself; otherwise nil
	inFull     bool               // for tests: make every decision in full, without bounds
	reads      rules.Description  // the facts that the policy reads
	badAnswers int                // number of impossible answers of the policy
	counts     counts             // how often each answer was given
	avoid      []int              // memory of addAvoid
}

// newJudge returns a judge that has answered nothing.
func newJudge(policy restart.Policy, reads rules.Description) judge {
	j := judge{policy: policy, reads: reads}
	if least, is := policy.(restart.LeastCost); is {
		j.leastCost = &least
	}
	return j
}

// verdict is the decision about a task.
type verdict struct {
	restart.Decision
	task  int
	wants bool // the task is worth a copy, or may be worth a copy when the next slot is free
}

// answer returns the answer of the policy. An impossible answer becomes Keep, and the limits of the phase are applied, by
// [restart.Hold].
func (j *judge) answer(view *restart.Task, p *restart.Phase) restart.Decision {
	d := j.policy.Decide(*view, *p)
	if j.leastCost == nil {
		j.sanitize(&d, len(view.Attempts))
		d = restart.Hold(d, *view, *p)
	}
	return d
}

// sanitize checks the answer of a policy that the host has written. It replaces an impossible answer by a decision to
// keep the task. An example is the kill of an attempt that does not exist. In other answers it clears values that a
// log cannot contain: a reason or a basis without a name, and NaN.
func (j *judge) sanitize(d *restart.Decision, attempts int) {
	switch {
	case d.Action == restart.Keep, d.Action == restart.Copy:
		d.Attempt = 0
	case d.Action > restart.Kill, d.Attempt < 0, d.Attempt >= attempts:
		j.badAnswers++
		*d = restart.Decision{Reason: restart.BadAnswer}
	}
	if d.Reason >= reasons {
		d.Reason = restart.NoReason
	}
	d.Comparison = restart.Compare(d.Measure, d.Value, d.Threshold)
	if d.Basis > restart.ByEarlyProgress {
		d.Basis = restart.NoBasis
	}
	if d.Won < 0 || d.Tried < d.Won {
		d.Won, d.Tried = 0, 0
	}
}

// rescue returns the copy of a task whose attempts all run on machines that will leave before the attempts are expected
// to end, or the decision that refuses the copy. The last of these machines leaves after the
// time stays. Remaining is the least remaining time of the attempts.
func rescue(fresh, stays, remaining time.Duration, view *restart.Task, p *restart.Phase) restart.Decision {
	d := restart.Decision{Reason: restart.Leaving, Remaining: remaining, Fresh: fresh, Bar: stays}
	if p.FreeSlots <= 0 {
		d.Reason = restart.NoFreeSlot
		return d
	}
	d.Action, d.Gain, d.Avoid = restart.Copy, num.MaxDuration, restart.Avoid(*view, *p)
	certain := *p
	certain.Limits.LossShare = restart.Off // the machine certainly leaves, so this copy is not bounded as a guess
	return restart.Hold(d, *view, certain)
}

// addAvoid adds the bad machines to the Avoid of a decision, the list of machines on which a new attempt should not run.
// If Avoid would then contain all machines, the machines on which earlier attempts of the task ran are left out. So a
// hung task can get a copy on every machine that is not known to be bad.
func (j *judge) addAvoid(d *restart.Decision, view *restart.Task, p *restart.Phase, bad []int) {
	if j.avoid = bad; len(bad) == 0 {
		return
	}
	j.avoid = append(j.avoid, view.PastMachines...)
	most := len(j.avoid) + len(view.Attempts) // an upper bound of the result of distinct, computed first as it is cheap
	if p.Machines > 0 && most >= p.Machines && distinct(j.avoid, view.Attempts) >= p.Machines {
		j.avoid = j.avoid[:len(bad)]
	}
	view.PastMachines = j.avoid
	d.Avoid = restart.Avoid(*view, *p)
}

// distinct returns how many different machines are in a list or run an attempt of a task.
func distinct(list []int, attempts []restart.Attempt) (n int) {
	for i, machine := range list {
		if machine >= 0 && slices.Index(list, machine) == i {
			n++
		}
	}
	for i := range attempts {
		machine := attempts[i].Machine
		on := func(a restart.Attempt) bool { return a.Machine == machine }
		if machine >= 0 && !slices.Contains(list, machine) && slices.IndexFunc(attempts, on) == i {
			n++
		}
	}
	return n
}

// blocked reports whether a reason to keep a task is about the slot, and not about the task. Then the task may be
// worth a copy when the next slot is free.
func blocked(r restart.Reason) bool {
	switch r {
	case restart.NoFreeSlot, restart.CapReached, restart.BudgetSpent, restart.SlowMachine, restart.SameMachine:
		return true
	}
	return false
}
