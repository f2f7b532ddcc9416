package engine

import (
	"cmp"
	"time"

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
		a.published = true
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
		asked = v.time.asSaid(a.submitted)
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
