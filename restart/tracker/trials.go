package tracker

import (
	"github.com/straggler-go/straggler/restart"
)

// trials is the account of the phase's trials.
type trials struct {
	on             bool  // trials are bounded, or the policy reads the account
	restart.Trials       // of this phase
	ownResults     bool  // a trial of the phase itself has come out
	link           *link // nil: there is no Experience
}

// account returns the account as a policy reads it. If there is an Experience, it covers all phases of the kind.
func (j *judge) account() restart.Trials {
	t := j.trials.Trials
	t.Cost, t.AtRisk = j.trials.link.ofKind(&j.trials)
	if j.trials.link.knowsLosses() {
		t.Longest = 0
	}
	return t
}

// stallWeight returns the weight of the possibility that an attempt has stalled, so that its progress says nothing.
// The more trials are won, the smaller it is, because progress has led to these trials.
func (j *judge) stallWeight() float64 {
	if !j.trials.on {
		return 0
	}
	var before restart.Trials
	return min(j.trials.Long(0, 0)/before.Long(0, 0), 1) * unseenErrors
}

// unseenErrors is the weight before any trial has come out, in units of one error of progress that was not observed.
const unseenErrors = 2

// noteTrial updates the account for an event, before the book changes.
func (j *judge) noteTrial(e *Event) {
	b := j.book
	switch e.Kind {
	case MachineLost:
		index := j.fleet.find(e.Machine)
		for i := range b.attempts.all {
			if a := &b.attempts.all[i]; index != none && a.task != none && a.machine == index {
				j.attemptFailed(&b.tasks[a.task], a)
			}
		}
		return
	case Closed:
		for i := range b.histories {
			j.trials.Drop(&b.histories[i].trial)
		}
		return
	}
	s := b.task(e.Task)
	if s == nil {
		return
	}
	i := b.find(e.Task, e.Attempt)
	switch e.Kind {
	case Started, Submitted:
		if s.flags&(finished|givenUp) == 0 && s.launched >= b.clones {
			j.beginTrial(int32(e.Task), restart.Copy)
		}
	case Finished:
		if i != none {
			j.taskEnded(s, i)
		} else if b.late(e.Task, e.Attempt) != nil {
			j.taskEnded(s, none)
		}
	case Failed:
		if i != none {
			j.attemptFailed(s, &b.attempts.all[i])
		}
	case Restarted, Killed:
		switch {
		case i == none:
		case b.several(s):
			j.attemptKilled(s, i)
		case e.Kind == Restarted:
			j.beginTrial(int32(e.Task), restart.Restart)
		}
	case GivenUp:
		if s.flags&waits != 0 && s.history != none {
			j.trials.Drop(&b.histories[s.history].trial)
		}
	}
}

// beginTrial begins a trial of a running task.
func (j *judge) beginTrial(task int32, action restart.Action) {
	s := &j.book.tasks[task]
	if !j.book.runs(s) {
		return
	}
	var view restart.Task
	j.fillTask(&view, task, askNone)
	j.trials.Begin(&j.book.history(s).trial, &view, &j.facts, action)
}

// taskEnded updates the task's trial when the winner ends the task. If the winner is none, an attempt that already
// counted as ended has finished the task.
func (j *judge) taskEnded(s *taskState, winner int32) {
	if s.history == none {
		return
	}
	b := j.book
	x := &b.histories[s.history].trial
	if winner == none {
		j.trials.Finish(x, 0, true)
	} else {
		a := &b.attempts.all[winner]
		j.trials.Finish(x, b.age(a), x.Action == restart.Copy && !b.isCopy(s, a))
	}
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		if i != winner {
			j.attemptKilled(s, i)
		}
	}
}

// attemptKilled updates the task's trial when an attempt is killed or overtaken while others run.
func (j *judge) attemptKilled(s *taskState, index int32) {
	if s.history == none {
		return
	}
	b, n := j.book, 0
	for i := s.newest; i != index; i = b.attempts.all[i].next {
		n++
	}
	a := &b.attempts.all[index]
	var view restart.Task
	j.fillTask(&view, a.task, askNone)
	j.trials.Kill(&b.histories[s.history].trial, &view, &j.facts, n, !b.isCopy(s, a))
}

// attemptFailed updates the task's trial when a copy fails. Failures of other attempts do not change a trial.
func (j *judge) attemptFailed(s *taskState, a *attemptState) {
	if s.history != none && j.book.isCopy(s, a) {
		j.trials.Fail(&j.book.histories[s.history].trial)
	}
}
