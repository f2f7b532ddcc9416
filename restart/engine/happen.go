package engine

import (
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// happen takes an event to the books.
func (v *view) happen(e *event) {
	a, seen := e.a, e.of
	if a == nil {
		a = v.book.attempts[seen.ID] // by a line before it
	}
	at := v.time.at(e.at)
	if a != nil && a.task != seen.Task { // the list gives the name of a new attempt to two tasks
		if !movable(a, seen) {
			v.ignored++
			return
		}
		v.disown(at, a)
		if a = nil; e.what != begins {
			a = v.adopt(at, seen)
		}
	}
	switch e.what {
	case begins:
		v.begin(at, a, seen)
	case reports:
		v.report(at, a, seen)
	case ends:
		v.end(at, a, seen)
	}
}

// begin takes note that an attempt runs, or ran, and where. It is adopted if it is new.
func (v *view) begin(at time.Time, a *attempt, seen *Attempt) {
	if a == nil {
		a = v.adopt(at, seen)
	}
	if a.ended { // by a line of the same list
		return
	}
	v.locate(a, seen.Host)
	if a.begun || !runs(seen) {
		return
	}
	a.begun = true
	v.moves.move(v.time.clock.Since)
	if !a.dying {
		v.tracker.Begin(at, a.task, a.number, a.host)
	}
}

// runs reports whether it is told of an attempt since when it ran. One that came and went unseen gives no sample of its
// time unless it says when it began.
func runs(seen *Attempt) bool {
	return seen.State != Queued && !(seen.State.ended() && seen.Begun.IsZero())
}

// locate takes note that an attempt is, or was, on a host, wherever it was submitted.
func (v *view) locate(a *attempt, name string) {
	if host := v.hosts.number(name); host != nowhere && host != a.host {
		v.hold(a.host, -1)
		v.hold(host, 1)
		a.host = host
		v.book.tasks[a.task].try(host)
	}
}

// adopt takes an attempt to the books that was not submitted here. One of a task that needs it no more is cancelled.
// One that had run for long before, though the phase has been called meanwhile, has no age that could be told to the
// tracker: it counts as one without progress that begins now, and gives no sample of its time.
func (v *view) adopt(at time.Time, seen *Attempt) *attempt {
	a := v.book.add(attempt{
		id: seen.ID, task: seen.Task, host: v.hosts.number(seen.Host), adopted: true, seen: v.time.clock.Since,
		published: seen.Published,
	})
	began := num.Add(v.time.wall.Sub(inRange(seen.Begun)), v.hosts.set.Clock(a.host).Offset())
	a.late = !seen.Begun.IsZero() && began-v.config.Interval > v.time.clock.Since-v.time.earliest
	v.hold(a.host, 1)
	t := &v.book.tasks[a.task]
	if !t.over {
		if a.begun = runs(seen); a.begun {
			a.number = v.tracker.Start(at, a.task, a.host)
			v.moves.move(v.time.clock.Since)
		} else {
			a.number = v.tracker.Submit(at, a.task, a.host)
		}
		v.book.enter(a)
		return a
	}
	v.book.die(a)
	if !seen.State.ended() {
		why := overtaken()
		if t.givenUp || v.closed {
			why = nil
		}
		v.ask(a, Cancel, why)
	}
	return a
}

// movable reports whether the end of an attempt that is not ours says which task it is of, against what a line before
// said: else the result would be lost for ever.
func movable(a *attempt, seen *Attempt) bool { return a.adopted && !a.ended && seen.State.ended() }

// disown forgets that an attempt is of a task.
func (v *view) disown(at time.Time, a *attempt) {
	v.ignored++
	delete(v.book.attempts, a.id)
	v.hold(a.host, -1)
	if !a.dying {
		v.tracker.Kill(at, a.task, a.number)
	}
	v.book.end(a)
	if t := &v.book.tasks[a.task]; len(t.live) == 0 && !v.config.Preloaded {
		v.book.wait(a.task, nil)
	}
}

// report takes a progress report, unless it is an old one.
func (v *view) report(at time.Time, a *attempt, seen *Attempt) {
	asOf := inRange(seen.AsOf)
	isOld := asOf.Equal(a.asOf) || asOf.Before(a.asOf) && !a.ahead && !a.asOf.After(v.time.wall)
	if a.dying || a.ended || a.late || !asOf.IsZero() && isOld {
		return
	}
	a.asOf, a.ahead = asOf, asOf.After(v.time.wall)
	v.moves.move(v.time.clock.Since)
	v.tracker.Record(at, a.task, a.number, seen.Progress) // what to do is asked once all is known
}
