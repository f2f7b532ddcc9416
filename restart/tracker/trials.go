package tracker

import (
	"github.com/straggler-go/straggler/restart"
)

// trials is the account of the phase's trials, kept as events come in.
type trials struct {
	on             bool   // trials are bounded, or the policy reads the account
	restart.Trials        // of this phase
	own            bool   // some trial of the phase itself has come out
	pupil          *pupil // nil: there is no experience
}

// account returns the account as a policy sees it: of all phases of the kind, if there is an experience.
func (j *judge) account() restart.Trials {
	t := j.trials.Trials
	t.Cost, t.AtRisk = j.trials.pupil.all(&j.trials)
	if j.trials.pupil.knowsLosses() {
		t.Longest = 0
	}
	return t
}

// mayMislead is how much it counts that progress may say nothing: the less, the more trials that it has led to were won.
func (j *judge) mayMislead() float64 {
	if !j.trials.on {
		return 0
	}
	var before restart.Trials
	return min(j.trials.Long(0, 0)/before.Long(0, 0), 1) * unseenErrors
}

// unseenErrors is as how many errors of progress, not yet seen, it counts that progress may say nothing.
const unseenErrors = 2

// hears tells the account what an event is to the trial of its task, before the books change.
func (j *judge) hears(e *Event) {
	b := j.book
	switch e.Kind {
	case MachineLost:
		place := j.fleet.seen(e.Machine)
		for i := range b.copies.all {
			if c := &b.copies.all[i]; place != none && c.task != none && c.machine == place {
				j.fails(&b.tasks[c.task], c)
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
		if s.flags&(finished|givenUp) == 0 && s.attempts >= b.clones {
			j.try(int32(e.Task), restart.Copy)
		}
	case Finished:
		if i != none {
			j.ends(s, i)
		} else if b.over(e.Task, e.Attempt) != nil {
			j.ends(s, none)
		}
	case Failed:
		if i != none {
			j.fails(s, &b.copies.all[i])
		}
	case Restarted, Killed:
		switch {
		case i == none:
		case b.several(s):
			j.kills(s, i)
		case e.Kind == Restarted:
			j.try(int32(e.Task), restart.Restart)
		}
	case GivenUp:
		if s.flags&waits != 0 && s.history != none {
			j.trials.Drop(&b.histories[s.history].trial)
		}
	}
}

// try begins a trial of a task that runs.
func (j *judge) try(task int32, action restart.Action) {
	s := &j.book.tasks[task]
	if !j.book.runs(s) {
		return
	}
	var view restart.Task
	j.look(&view, task, askNone)
	j.trials.Begin(&j.book.history(s).trial, &view, &j.facts, action)
}

// ends notes that a copy ends its task, or, if it is none, an attempt that was taken as ended.
func (j *judge) ends(s *taskState, winner int32) {
	if s.history == none {
		return
	}
	b := j.book
	x := &b.histories[s.history].trial
	if winner == none {
		j.trials.Finish(x, 0, true)
	} else {
		c := &b.copies.all[winner]
		j.trials.Finish(x, b.age(c), x.Action == restart.Copy && !b.isExtra(s, c))
	}
	for i := s.copies; i != none; i = b.copies.all[i].next {
		if i != winner {
			j.kills(s, i)
		}
	}
}

// kills notes that one of several copies of a task is killed or overtaken.
func (j *judge) kills(s *taskState, place int32) {
	if s.history == none {
		return
	}
	b, n := j.book, 0
	for i := s.copies; i != place; i = b.copies.all[i].next {
		n++
	}
	c := &b.copies.all[place]
	var view restart.Task
	j.look(&view, c.task, askNone)
	j.trials.Kill(&b.histories[s.history].trial, &view, &j.facts, n, !b.isExtra(s, c))
}

// fails notes that a copy of a task fails.
func (j *judge) fails(s *taskState, c *attemptState) {
	if s.history != none && j.book.isExtra(s, c) {
		j.trials.Fail(&j.book.histories[s.history].trial)
	}
}
