package engine

import (
	"cmp"
	"time"

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
func (p *Phase) note(seen *Attempt) {
	if !valid(seen, len(p.book.tasks)) {
		p.ignored++
		return
	}
	a := p.book.find(seen.ID, seen.Task)
	switch {
	case a == nil && seen.State == Queued && p.config.Preloaded:
		return
	case a == nil:
	case a.task != seen.Task && movable(a, seen):
		a = nil // found again by its name
	case a.task != seen.Task:
		p.ignored++
		return
	case !p.show(a, seen):
		return
	}
	if seen.Published && !p.book.tasks[seen.Task].over {
		if p.scratch.chosen == nil {
			p.scratch.chosen = map[int]string{}
		}
		p.scratch.chosen[seen.Task] = seen.ID
		p.confirms = true
	}
	p.date(a, seen)
}

// show takes note that a known attempt is shown, and reports whether there may be more to what is told of it.
func (p *Phase) show(a *attempt, seen *Attempt) bool {
	if a.seen == never && !a.adopted && !a.dying {
		took(&p.sight.arrival, p.time.clock.Since-a.since)
		p.log.changed(seen)
	}
	a.seen = p.time.clock.Since
	if seen.Published && a.ended && !a.published {
		a.published, p.confirms = true, true
		if t := &p.book.tasks[a.task]; t.over && !t.givenUp {
			t.winner = a
		}
	}
	if a.gone {
		p.revive(a)
	}
	return !a.ended && (seen.State != Queued || a.begun && a.host == nowhere)
}

// revive takes an attempt back that was taken to have ended since it was missing. It is to end, as it was told.
func (p *Phase) revive(a *attempt) {
	a.ended, a.gone, a.dying = false, false, false
	p.book.die(a)
	p.hold(a.host, 1)
	a.since, a.asked, a.again = p.time.clock.Since, never, 0
	p.book.note(a)
}

// date places what is told of an attempt in time, by what is known of the clock that dated it.
func (p *Phase) date(a *attempt, seen *Attempt) {
	host, asked := nowhere, time.Time{}
	if a != nil && !a.adopted {
		asked = p.time.asSaid(a.since)
	}
	if a != nil && a.host != nowhere {
		host = a.host
	} else {
		host = p.hosts.set.Number(seen.Host)
	}
	clock := p.hosts.set.Clock(host)
	when := func(t time.Time, limit time.Duration) time.Duration {
		if !t.IsZero() {
			clock.Tell(t, asked, p.time.wall)
		}
		return p.time.when(t, clock.Offset(), limit)
	}
	at := p.time.clock.Since
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
		p.add(when(seen.Begun, at), begins, a, seen)
		p.log.changed(seen)
	}
	if tells {
		p.add(at, reports, a, seen)
	}
	if seen.State.ended() {
		p.add(at, ends, a, seen)
		p.log.changed(seen)
	}
}

func (p *Phase) add(at time.Duration, what happening, a *attempt, seen *Attempt) {
	events := p.scratch.events
	p.scratch.events = append(events, event{at: at, a: a, of: seen, seq: int32(len(events)), what: what})
}

// happen takes an event to the books.
func (p *Phase) happen(e *event) {
	a, seen := e.a, e.of
	if a == nil {
		a = p.book.attempts[seen.ID] // by a line before it
	}
	at := p.time.at(e.at)
	if a != nil && a.task != seen.Task { // the list gives the name of a new attempt to two tasks
		if !movable(a, seen) {
			p.ignored++
			return
		}
		p.disown(at, a)
		a = nil
	}
	switch e.what {
	case begins:
		p.begin(at, a, seen)
	case reports:
		p.report(at, a, seen)
	case ends:
		p.end(at, a, seen)
	}
}

// begin takes note that an attempt runs, or ran, and where. It is adopted if it is new.
func (p *Phase) begin(at time.Time, a *attempt, seen *Attempt) {
	if a == nil {
		a = p.adopt(at, seen)
	}
	if a.ended { // by a line of the same list
		return
	}
	p.locate(a, seen.Host)
	if a.begun || !runs(seen) {
		return
	}
	a.begun = true
	p.moves.move(p.time.clock.Since)
	if !a.dying {
		p.tracker.Begin(at, a.task, a.number, a.host)
	}
}

// runs reports whether it is told of an attempt since when it ran. One that came and went unseen gives no sample of its
// time unless it says when it began.
func runs(seen *Attempt) bool {
	return seen.State != Queued && !(seen.State.ended() && seen.Begun.IsZero())
}

// locate takes note that an attempt is, or was, on a host, wherever it was submitted.
func (p *Phase) locate(a *attempt, name string) {
	if host := p.hosts.set.Number(name); host != nowhere && host != a.host {
		p.hold(a.host, -1)
		p.hold(host, 1)
		a.host = host
		p.book.tasks[a.task].try(host)
	}
}

// adopt takes an attempt to the books that was not submitted here. One of a task that needs it no more is cancelled.
func (p *Phase) adopt(at time.Time, seen *Attempt) *attempt {
	a := &attempt{
		id: seen.ID, task: seen.Task, host: p.hosts.set.Number(seen.Host), adopted: true, seen: p.time.clock.Since,
		published: seen.Published,
	}
	p.book.attempts[a.id] = a
	p.hold(a.host, 1)
	t := &p.book.tasks[a.task]
	if !t.over {
		if a.begun = runs(seen); a.begun {
			a.number = p.tracker.Start(at, a.task, a.host)
			p.moves.move(p.time.clock.Since)
		} else {
			a.number = p.tracker.Submit(at, a.task, a.host)
		}
		p.book.enter(a)
		return a
	}
	p.book.die(a)
	if !seen.State.ended() {
		why := overtaken()
		if t.givenUp || p.closed {
			why = restart.Decision{}
		}
		p.ask(a, Cancel, why)
	}
	return a
}

// movable reports whether the end of an attempt that is not ours says which task it is of, against what a line before
// said: else the result would be lost for ever.
func movable(a *attempt, seen *Attempt) bool { return a.adopted && !a.ended && seen.State.ended() }

// disown forgets that an attempt is of a task.
func (p *Phase) disown(at time.Time, a *attempt) {
	p.ignored++
	delete(p.book.attempts, a.id)
	p.hold(a.host, -1)
	if !a.dying {
		p.tracker.Kill(at, a.task, a.number)
	}
	p.book.end(a)
	if t := &p.book.tasks[a.task]; len(t.live) == 0 && !p.config.Preloaded {
		p.book.wait(a.task, restart.Decision{})
	}
}

// report takes a progress report, unless it is an old one.
func (p *Phase) report(at time.Time, a *attempt, seen *Attempt) {
	asOf := inRange(seen.AsOf)
	isOld := asOf.Equal(a.asOf) || asOf.Before(a.asOf) && !a.ahead && !a.asOf.After(p.time.wall)
	if a.dying || a.ended || !asOf.IsZero() && isOld {
		return
	}
	a.asOf, a.ahead = asOf, asOf.After(p.time.wall)
	p.moves.move(p.time.clock.Since)
	p.tracker.Record(at, a.task, a.number, seen.Progress) // what to do is asked once all is known
}
