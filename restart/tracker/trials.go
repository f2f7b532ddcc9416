package tracker

import (
	"github.com/straggler-go/straggler/restart"
)

// trials is the account of the phase's trials. A trial is a copy or a restart that was made because a task was slow.
type trials struct {
	on             bool  // the account is in use: the loss of trials is bounded, or the policy reads the account
	restart.Trials       // the trials of this phase
	ownResults     bool  // a trial of this phase was won or lost
	link           *link // nil if the phase has no Experience
}

// account returns the account of trials as a policy reads it. A trial is a copy or a restart that was made because a
// task was slow. If there is an Experience, the slot time that was lost and the slot time at risk are sums over all
// phases of the same kind.
func (j *judge) account() restart.Trials {
	t := j.trials.Trials
	t.Cost, t.AtRisk = j.trials.link.ofKind(&j.trials)
	if j.trials.link.knowsLosses() {
		t.Longest = 0
	}
	return t
}

// noteTrial updates the account of trials for an event. A trial is a copy or a restart that was made because a task
// was slow. noteTrial is called before the event changes the book of tasks and attempts.
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

// beginTrial records that the host copies or restarts a running task. This is a trial, which will be won or lost. The
// action is Copy or Restart.
func (j *judge) beginTrial(task int32, action restart.Action) {
	s := &j.book.tasks[task]
	if !j.book.runs(s) {
		return
	}
	var view restart.Task
	j.fillTask(&view, task, askNone)
	j.trials.Begin(&j.book.history(s).trial, &view, &j.facts, action)
}

// taskEnded updates the trial of a task that has ended with success. A trial is a copy or a restart of a slow task.
// Winner is the index of the attempt that ended the task. If it is none, the tracker had already counted that attempt
// as ended.
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
		j.trials.Finish(x, b.age(a), x.State == restart.CopyOnTrial && !b.isCopy(s, a))
	}
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		if i != winner {
			j.attemptKilled(s, i)
		}
	}
}

// attemptKilled updates the trial of a task when an attempt is killed or overtaken while other attempts of the task
// run. A trial is a copy or a restart of a slow task.
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

// attemptFailed updates the trial of a task when an attempt of the task fails. A trial is a copy or a restart of a
// slow task. Only the failure of a copy changes a trial.
func (j *judge) attemptFailed(s *taskState, a *attemptState) {
	if s.history != none && j.book.isCopy(s, a) {
		j.trials.Fail(&j.book.histories[s.history].trial)
	}
}
