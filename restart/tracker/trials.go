package tracker

import (
	"github.com/straggler-go/straggler/restart"
)

// trials is the account of the phase's trials. A trial is a copy or a restart that was made because a task was slow.
type trials struct {
	on             bool // the account is in use: the loss of trials is bounded, or the policy reads the account
	restart.Trials      // the trials of this phase
	ownResults     bool // a trial of this phase was won or lost
}

// tally returns the numbers of won and lost trials of the phase, their cost, and the slot time at risk in open
// trials.
func (tr *trials) tally() tally { return tally{tr.Won, tr.Lost, tr.Cost, tr.AtRisk} }

// adopt gives the phase the numbers of won and lost trials of all phases of its kind.
func (tr *trials) adopt(won, lost float64) { tr.Won, tr.Lost = won, lost }

// decided records whether a trial of this phase was won or lost.
func (tr *trials) decided(is bool) { tr.ownResults = tr.ownResults || is }

// The methods below keep the account. Each is called before its event changes another part, because the account needs
// the facts from before the event. The facts contain distributions that the event changes.

// adoptTrials gives the phase the results of the trials of its kind, until a trial of its own was won or lost.
func (x *phase) adoptTrials() {
	if x.trials.on && x.link != nil && !x.trials.ownResults {
		x.trials.adopt(x.link.results())
	}
}

// publishTrials tells the phases of the same kind how the account has changed.
func (x *phase) publishTrials() {
	x.trials.decided(x.link.publish(x.book.clock.Last, x.trials.tally()))
}

// account returns the account of trials as a policy reads it. If the phase has a kind, the slot time that was lost
// and the slot time at risk are sums over all phases of the same kind.
func (x *phase) account() restart.Trials {
	t := x.trials.Trials
	t.Cost, t.AtRisk = x.link.ofKind(x.trials.tally())
	if x.link.knowsLosses() {
		t.Longest = 0
	}
	return t
}

// beginTrial records that the host copies or restarts a running task. This is a trial, which will be won or lost. The
// action is Copy or Restart.
func (x *phase) beginTrial(task int32, action restart.Action) {
	s := &x.book.tasks[task]
	if !x.trials.on || !x.book.runs(s) {
		return
	}
	var view restart.Task
	x.taskFacts(&view, task, askNone)
	x.trials.Begin(&x.book.history(s).trial, &view, &x.facts.phase, action)
}

// endTrial updates the trial of a task that has ended with success. Winner is the index of the attempt that ended the
// task. If it is none, the tracker had already counted that attempt as ended.
func (x *phase) endTrial(s *taskState, winner int32) {
	if !x.trials.on || s.history == none {
		return
	}
	trial := &x.book.past(s).trial
	if winner == none {
		x.trials.Finish(trial, 0, true)
	} else {
		a := &x.book.attempts.all[winner]
		x.trials.Finish(trial, x.book.age(a), trial.State == restart.CopyOnTrial && !x.book.isCopy(s, a))
	}
	for i := s.newest; i != none; i = x.book.attempts.all[i].next {
		if i != winner {
			x.killTrial(s, i)
		}
	}
}

// killTrial updates the trial of a task when an attempt is killed or overtaken while other attempts of the task run.
func (x *phase) killTrial(s *taskState, index int32) {
	if !x.trials.on || s.history == none {
		return
	}
	n := 0
	for i := s.newest; i != index; i = x.book.attempts.all[i].next {
		n++
	}
	a := &x.book.attempts.all[index]
	var view restart.Task
	x.taskFacts(&view, a.task, askNone)
	x.trials.Kill(&x.book.past(s).trial, &view, &x.facts.phase, n, !x.book.isCopy(s, a))
}

// failTrial updates the trial of a task when an attempt of the task fails. Only the failure of a copy changes a trial.
func (x *phase) failTrial(s *taskState, a *attemptState) {
	if x.trials.on && s.history != none && x.book.isCopy(s, a) {
		x.trials.Fail(&x.book.past(s).trial)
	}
}

// dropTrial ends the trial of a task without a result.
func (x *phase) dropTrial(s *taskState) {
	if x.trials.on && s.history != none {
		x.trials.Drop(&x.book.past(s).trial)
	}
}
