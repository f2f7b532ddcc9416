package engine

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// event is a part of what is told, at its time. What is told at the same time is taken in the order of the list.
type event struct {
	at   time.Duration // of the phase's time
	a    *attempt      // nil if it was not known before
	of   *Attempt
	seq  int32
	what happening
}

func before(a, b event) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Compare(a.seq, b.seq)
}

// happening is what an event tells of its attempt.
type happening uint8

const (
	begins happening = iota
	reports
	ends
)

func valid(seen *Attempt, tasks int) bool {
	return seen.ID != "" && seen.Task >= 0 && seen.Task < tasks && seen.State <= Cancelled
}

// note lists the events of what is told of an attempt, none later than now and in the order of its life.
func (v *view) note(seen *Attempt) {
	if !valid(seen, len(v.book.tasks)) {
		v.ignored++
		return
	}
	a := v.book.find(seen.ID, seen.Task)
	switch {
	case a == nil && seen.State == Queued && v.config.Preloaded:
		return
	case a == nil:
	case a.task != seen.Task && movable(a, seen):
		a = nil // found again by its name
	case a.task != seen.Task:
		v.ignored++
		return
	case !v.show(a, seen):
		return
	}
	if seen.Published && !v.book.tasks[seen.Task].over {
		if v.scratch.chosen == nil {
			v.scratch.chosen = map[int]string{}
		}
		v.scratch.chosen[seen.Task] = seen.ID
		v.confirms = true
	}
	v.date(a, seen)
}

// show takes note that a known attempt is shown, and reports whether there may be more to what is told of it.
func (v *view) show(a *attempt, seen *Attempt) bool {
	if a.seen == never && !a.adopted && !a.dying {
		took(&v.sight.arrival, v.time.clock.Since-a.since)
		v.log.changed(seen)
	}
	a.seen = v.time.clock.Since
	if seen.Published && a.ended && !a.published {
		a.published, v.confirms = true, true
		if t := &v.book.tasks[a.task]; t.over && !t.givenUp {
			t.winner = a
		}
	}
	if a.gone {
		v.revive(a)
	}
	return !a.ended && (seen.State != Queued || a.begun && a.host == nowhere)
}

// revive takes an attempt back that was taken to have ended since it was missing. It is to end, as it was told.
func (v *view) revive(a *attempt) {
	a.ended, a.gone, a.dying = false, false, false
	v.book.die(a)
	v.hold(a.host, 1)
	a.since, a.asked, a.again = v.time.clock.Since, never, 0
	v.book.note(a)
}

// date places what is told of an attempt in time, by what is known of the clock that dated it.
func (v *view) date(a *attempt, seen *Attempt) {
	host, asked := nowhere, time.Time{}
	if a != nil && !a.adopted {
		asked = v.time.asSaid(a.since)
	}
	if a != nil && a.host != nowhere {
		host = a.host
	} else {
		host = v.hosts.number(seen.Host)
	}
	clock := v.hosts.set.Clock(host)
	when := func(t time.Time, limit time.Duration) time.Duration {
		if !t.IsZero() {
			clock.Tell(t, asked, v.time.wall)
		}
		return v.time.when(t, clock.Offset(), limit)
	}
	at := v.time.clock.Since
	tells := seen.State == Running && (seen.Progress != tracker.Report{} || !seen.AsOf.IsZero())
	begun := a != nil && a.begun && (a.host != nowhere || seen.Host == "")
	switch {
	case tells:
		if a != nil && !seen.AsOf.IsZero() && seen.AsOf.Equal(a.asOf) {
			if tells = false; begun {
				return
			}
		}
		at = when(seen.AsOf, at)
	case seen.State.ended():
		at = when(seen.Ended, at)
	}
	if !begun {
		v.add(when(seen.Begun, at), begins, a, seen)
		v.log.changed(seen)
	}
	if tells {
		v.add(at, reports, a, seen)
	}
	if seen.State.ended() {
		v.add(at, ends, a, seen)
		v.log.changed(seen)
	}
}

func (v *view) add(at time.Duration, what happening, a *attempt, seen *Attempt) {
	events := v.scratch.events
	v.scratch.events = append(events, event{at: at, a: a, of: seen, seq: int32(len(events)), what: what})
}

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
		a = nil
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
	a := &attempt{
		id: seen.ID, task: seen.Task, host: v.hosts.number(seen.Host), adopted: true, seen: v.time.clock.Since,
		published: seen.Published,
	}
	began := num.Add(v.time.wall.Sub(inRange(seen.Begun)), v.hosts.set.Clock(a.host).Offset())
	a.late = !seen.Begun.IsZero() && began-v.config.Interval > v.time.clock.Since-v.time.earliest
	v.book.attempts[a.id] = a
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
			why = restart.Decision{}
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
		v.book.wait(a.task, restart.Decision{})
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
