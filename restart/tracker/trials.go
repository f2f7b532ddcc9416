package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// trials is the account of the phase's trials, kept as events come in.
type trials struct {
	on             bool // the policy reads it
	restart.Trials      // all but AtRisk
	own            bool // some trial of the phase itself has come out
	stakes         total
	pupil          *pupil // nil: there is no experience
}

// trial is the latest copy or restart that was made because a task was slow.
type trial struct {
	kind    trialKind
	lost    int32         // trials of the task that were lost
	implied float32       // seconds of a unit of work that the old attempt would have taken
	began   time.Duration // when it began
	left    time.Duration // t_rem when it began
	stake   time.Duration // what it costs if it is lost
}

type trialKind uint8

const (
	noTrial trialKind = iota
	byCopy
	byRestart // also a copy for which the old attempt was killed
)

// account returns the account as a policy sees it: of all phases of the kind, if there is an experience.
func (j *judge) account() restart.Trials {
	t := j.trials.Trials
	cost, stakes := j.trials.pupil.all(&j.trials)
	t.Cost, t.AtRisk = cost, stakes.duration()
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

// hears takes note of what an event makes of the trials, before the books change.
func (j *judge) hears(e *Event) {
	b := j.book
	switch e.Kind {
	case MachineLost:
		place := j.fleet.seen(e.Machine)
		for i := range b.copies.all {
			if c := &b.copies.all[i]; place != none && c.task != none && c.machine == place {
				j.fails(&b.tasks[c.task], func(c *copyState) bool { return c.machine == place })
			}
		}
		return
	case Closed:
		for i := range b.histories {
			j.drop(&b.histories[i].trial)
		}
		return
	}
	switch s := b.task(e.Task); {
	case s == nil:
	case s.copies != none:
		j.happens(e, s)
	case e.Kind == GivenUp || e.Kind == Finished && b.over(e.Task, e.Attempt) != nil: // it was restarted, and has waited since
		if x := j.trying(s); x != nil {
			j.drop(x)
		}
	}
}

// happens takes note of what an event makes of the trial of a task that has copies.
func (j *judge) happens(e *Event, s *taskState) {
	b := j.book
	i, x := b.find(e.Task, e.Attempt), j.trying(s)
	switch e.Kind {
	case Started, Submitted:
		if s.flags&(finished|givenUp) == 0 && s.attempts >= b.clones {
			j.try(int32(e.Task), byCopy)
		}
	case Finished:
		if x != nil && i != none {
			j.ends(int32(e.Task), x, &b.copies.all[i])
		}
		if x != nil && (i != none || b.over(e.Task, e.Attempt) != nil) {
			j.drop(x)
		}
	case Restarted:
		if x != nil && i != none && x.kind == byRestart {
			j.lost(s, x, x.stake)
			j.drop(x)
		}
		if i != none {
			j.try(int32(e.Task), byRestart)
		}
	case Failed:
		j.fails(s, func(c *copyState) bool { return int(c.attempt) == e.Attempt })
	case Killed:
		switch {
		case x == nil || i == none || !b.several(s):
		case !b.isExtra(s, &b.copies.all[i]):
			x.kind = byRestart // the copy takes the place of the old attempt
		case x.kind == byCopy:
			j.lost(s, x, b.age(&b.copies.all[i]))
			if b.extras(s) == 1 {
				j.drop(x)
			}
		}
	}
}

// try notes that a task is about to be restarted or copied because it is slow.
func (j *judge) try(task int32, kind trialKind) {
	b := j.book
	s := &b.tasks[task]
	if !b.runs(s) {
		return
	}
	var view restart.Task
	j.look(&view, task, askNone)
	c := fastest(view.Copies)
	if c == nil || view.Fresh.UnitTime == nil {
		return
	}
	b.history(s)
	x := &b.histories[s.history].trial
	j.drop(x)
	*x = trial{
		kind: kind, lost: x.lost, began: b.now, left: c.Remaining, stake: c.Elapsed,
		implied: float32(min(num.Add(c.Elapsed, c.Remaining).Seconds()/j.unit(s), math.MaxFloat32)),
	}
	switch typical := restart.Typical(&view.Fresh); {
	case kind == byCopy:
		silent := c.Basis != restart.ByProgress
		x.stake = num.Add(restart.Patience(j.facts.Interval, typical, c.Elapsed, silent), max(view.Fresh.Lag, 0))
	case view.Stuck: // its slot was as good as lost
		x.stake = 0
	}
	j.trials.stakes = j.trials.stakes.plus(totalOf(x.stake))
}

// fastest returns the copy that ends first; nil if nothing is known of any.
func fastest(copies []restart.Copy) (c *restart.Copy) {
	for i := range copies {
		if o := &copies[i]; o.Remaining != estimate.Unknown && (c == nil || o.Remaining < c.Remaining) {
			c = o
		}
	}
	return c
}

// unit is the work that counts of a task.
func (j *judge) unit(s *taskState) float64 {
	if w := j.forecast.rates.Work(s.work); w > 0 {
		return w
	}
	return 1
}

// trying returns the trial of a task that has not come out; nil if there is none.
func (j *judge) trying(s *taskState) *trial {
	if s.history == none || j.book.histories[s.history].trial.kind == noTrial {
		return nil
	}
	return &j.book.histories[s.history].trial
}

// drop forgets a trial.
func (j *judge) drop(x *trial) {
	if x.kind != noTrial {
		j.trials.stakes = j.trials.stakes.minus(totalOf(x.stake))
		x.kind, x.stake = noTrial, 0
	}
}

// fails ends the trial of a task if its copy is among those that fail, and none is left: it says nothing of the task.
func (j *judge) fails(s *taskState, copy func(c *copyState) bool) {
	x := j.trying(s)
	if x == nil || x.kind != byCopy {
		return
	}
	for i := s.copies; i != none; i = j.book.copies.all[i].next {
		if c := &j.book.copies.all[i]; j.book.isExtra(s, c) && !copy(c) {
			return
		}
	}
	j.drop(x)
}

// won takes note that the trial of a task was won, and how much slot time it has saved.
func (j *judge) won(s *taskState, saved time.Duration) {
	typical, known := j.forecast.usual(s.stint(0))
	if !known {
		typical = saved
	}
	j.trials.own = true
	j.trials.Win(saved, typical)
}

// lost takes note that a trial of a task was lost, and what it has cost.
func (j *judge) lost(s *taskState, x *trial, cost time.Duration) {
	whole, _ := num.Duration(float64(x.implied) * j.unit(s))
	x.lost++
	j.trials.own = true
	j.trials.Lose(cost, whole)
}

// ends takes note that a copy ends its task, of which there is a trial. A copy that wins saves what the others would still
// have taken.
func (j *judge) ends(task int32, x *trial, winner *copyState) {
	b := j.book
	s := &b.tasks[task]
	extra := b.isExtra(s, winner)
	switch {
	case x.kind == byRestart && b.age(winner).Seconds()/j.unit(s)*restart.WonBy < float64(x.implied):
		j.won(s, num.Sub(x.left, num.Sub(b.now, x.began)))
		return
	case x.kind == byRestart:
		j.lost(s, x, x.stake)
		return
	case extra:
		var view restart.Task
		j.look(&view, task, askNone)
		for i, k := s.copies, 0; i != none && k < len(view.Copies); i, k = b.copies.all[i].next, k+1 {
			if &b.copies.all[i] == winner {
				view.Copies[k].Remaining = estimate.Unknown
			}
		}
		saved := time.Duration(0)
		if c := fastest(view.Copies); c != nil {
			saved = c.Remaining
		}
		j.won(s, saved)
	}
	for i := s.copies; i != none; i = b.copies.all[i].next {
		switch c := &b.copies.all[i]; {
		case c == winner || !b.isExtra(s, c):
		case extra:
			j.trials.Cost = num.Add(j.trials.Cost, b.age(c))
		default:
			j.lost(s, x, b.age(c))
		}
	}
}
