package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// What an event makes of the trials, and how they come out.

// before takes note of what an event makes of trials, before it changes the books.
func (j *judge) before(e *Event) {
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
		for len(j.trials.open) > 0 {
			j.drop(j.trials.open[len(j.trials.open)-1])
		}
		return
	}
	if s := b.task(e.Task); s != nil && s.copies != none {
		j.happens(e, s)
	} else if s != nil && (e.Kind == GivenUp || e.Kind == Finished && b.over(e.Task, e.Attempt) != nil) {
		if h := j.trying(s); h != none { // it was restarted, and has waited since
			j.drop(h)
		}
	}
}

// happens takes note of what an event makes of the trial of a task that has copies.
func (j *judge) happens(e *Event, s *taskState) {
	b := j.book
	i, h := b.find(e.Task, e.Attempt), j.trying(s)
	switch e.Kind {
	case Started, Submitted:
		if s.flags&(finished|givenUp) == 0 && s.attempts >= b.clones {
			j.try(int32(e.Task), byCopy)
		}
	case Finished:
		if h != none && i != none {
			j.ends(int32(e.Task), h, &b.copies.all[i])
		}
		if h != none && (i != none || b.over(e.Task, e.Attempt) != nil) {
			j.drop(h)
		}
	case Restarted:
		if h != none && i != none && b.histories[h].trial.kind == byRestart {
			j.lost(h, b.histories[h].trial.risk)
			j.drop(h)
		}
		if i != none {
			j.try(int32(e.Task), byRestart)
		}
	case Failed:
		j.fails(s, func(c *copyState) bool { return int(c.attempt) == e.Attempt })
	case Killed:
		if h != none && i != none && b.several(s) && b.isExtra(s, &b.copies.all[i]) {
			j.lost(h, b.age(&b.copies.all[i]))
			if b.extras(s) == 1 {
				j.drop(h)
			}
		}
	}
}

// fails ends the trial of a task if its copy is among those that fail, and none is left: it says nothing of the task.
func (j *judge) fails(s *taskState, copy func(c *copyState) bool) {
	h := j.trying(s)
	if h == none || j.book.histories[h].trial.kind != byCopy {
		return
	}
	for i := s.copies; i != none; i = j.book.copies.all[i].next {
		if c := &j.book.copies.all[i]; j.book.isExtra(s, c) && !copy(c) {
			return
		}
	}
	j.drop(h)
}

// won takes note that a trial was won, and what it has saved.
func (j *judge) won(saved time.Duration) {
	r := &j.trials
	r.tried++
	r.won++
	r.other++
	r.cost = num.Sub(r.cost, saved)
}

// lost takes note that one was lost, and what it has cost. That says less of the task the likelier bad luck is.
func (j *judge) lost(history int32, cost time.Duration) {
	r, x, q, unlucky := &j.trials, &j.book.histories[history].trial, j.doubt(), luck
	if j.forecast.reported {
		unlucky = reportedLuck
	}
	same := q / (q + float64((1-q)*max(1-float64(x.chance), unlucky)))
	x.lost++
	r.tried++
	r.same += same
	r.other += 1 - same
	r.cost = num.Add(r.cost, cost)
}

// ends takes note that a copy ends its task, of which there is a trial. Of a copy that is won the time is saved that the
// others would still take.
func (j *judge) ends(task, h int32, winner *copyState) {
	x, b := &j.book.histories[h].trial, j.book
	s := &b.tasks[task]
	extra := b.isExtra(s, winner)
	switch {
	case x.kind == byRestart && b.age(winner).Seconds()/j.unit(s)*lessBy < float64(x.implied):
		j.won(j.pay(s, x.leaves(b.now)))
		return
	case x.kind == byRestart:
		j.lost(h, x.risk)
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
		j.won(j.pay(s, saved))
	}
	for i := s.copies; i != none; i = b.copies.all[i].next {
		switch c := &b.copies.all[i]; {
		case c == winner || !b.isExtra(s, c):
		case extra:
			j.trials.cost = num.Add(j.trials.cost, b.age(c))
		default:
			j.lost(h, b.age(c))
		}
	}
}
