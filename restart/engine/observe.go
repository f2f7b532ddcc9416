package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// event is a part of an observation, at its time. What is told at the same time is taken in the order of the list.
type event struct {
	at   time.Duration // of the phase's clock
	a    *attempt      // nil if it was not known before
	of   *Attempt
	seq  int32
	what happening
}

// happening is what an event tells of its attempt.
type happening uint8

const (
	begins happening = iota
	reports
	ends
)

// Observe takes what the engine shows now, and returns what to do. The list may be partial: an attempt that is left out
// stays as it was. One that was never heard of is adopted; if the phase is Queued, as soon as it does not wait. What
// makes no sense is passed over and counted in [tracker.Ledger.Ignored]. Call it every Interval, and as soon as
// something ends. Where the clock steps back, no time has passed. The actions hold until the next call.
func (p *Phase) Observe(now time.Time, attempts []Attempt) []Action {
	p.ready()
	clear(p.actions)
	p.actions, p.events = p.actions[:0], p.events[:0]
	now = p.tick(now)
	p.look(attempts)
	for i := range attempts {
		p.note(&attempts[i])
	}
	order := func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) }
	if !slices.IsSortedFunc(p.events, order) {
		slices.SortFunc(p.events, order)
	}
	for i := range p.events {
		p.happen(&p.events[i])
	}
	// What is overtaken by one line of the list may have ended by another.
	p.actions = slices.DeleteFunc(p.actions, func(a Action) bool { return p.attempts[a.ID].ended })
	p.hosts.settle(now)
	p.decide()
	return p.actions
}

// tick takes the time, and returns it; instead of the zero time.Time that of the call before. What the tracker is told
// never steps back: it is the time of the first call, and what has passed.
func (p *Phase) tick(now time.Time) time.Time {
	now = inRange(now)
	if !p.clock.Begun {
		p.epoch = now
	}
	p.earliest = p.clock.Since
	since := p.clock.At(now)
	p.wall, p.now = p.clock.Last, p.epoch.Add(since)
	return p.wall
}

// inRange moves an instant that no snapshot holds to the nearest year that one does; what is before the year 1 is none.
func inRange(t time.Time) time.Time {
	const last = 253402300799 // seconds from 1970 to the end of the year 9999
	switch {
	case t.Unix() > last:
		return time.Unix(last, 0)
	case t.Before(time.Time{}):
		return time.Time{}
	}
	return t
}

// when returns the time of the phase's clock at which something was true that the engine dates, or limit if it does not
// say, or says a later time. What was true before the last call counts as true at that one.
func (p *Phase) when(t time.Time, limit time.Duration) time.Duration {
	if t.IsZero() || !t.Before(p.wall) {
		return limit
	}
	return min(max(num.Sub(p.clock.Since, p.wall.Sub(t)), p.earliest), limit)
}

// happen takes an event to the books.
func (p *Phase) happen(e *event) {
	a, seen := e.a, e.of
	if a == nil {
		a = p.attempts[seen.ID] // by a line before it
	}
	at := p.epoch.Add(e.at)
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

// look notes when attempts were last seen to run, and how long it usually takes from one time to the next. After a gap,
// in which the engine or the host was away, all attempts look silent; nothing is decided about them until they have had
// the time to report.
func (p *Phase) look(attempts []Attempt) {
	now := p.now
	if !slices.ContainsFunc(attempts, func(a Attempt) bool { return a.State == Running }) {
		return
	}
	if p.tooLong() {
		p.blind = now.Add(afterGap * p.usual)
	}
	if !p.seen.IsZero() { // a slow poller is no gap for long, but one gap is not to hide the next
		since := min(max(now.Sub(p.seen), 0), min(p.usual, num.MaxDuration/gap)*gap)
		p.usual = max(p.usual+(since-p.usual)/4, p.config.Interval)
	}
	p.seen = now
}

// isBlind reports whether the silence of attempts means nothing.
func (p *Phase) isBlind() bool { return p.now.Before(p.blind) || p.tooLong() }

func (p *Phase) tooLong() bool { return !p.seen.IsZero() && p.now.Sub(p.seen)/gap > p.usual }

// In usual times between polls.
const (
	gap      = 5
	afterGap = 2
)

// find returns the attempt that the engine shows, or nil if it was never heard of.
func (p *Phase) find(seen *Attempt) *attempt {
	for _, a := range p.tasks[seen.Task].live {
		if a.id == seen.ID {
			return a
		}
	}
	return p.attempts[seen.ID]
}

// note lists the events of an observation, none later than now and each attempt's in the order of its life.
func (p *Phase) note(seen *Attempt) {
	if seen.ID == "" || seen.Task < 0 || seen.Task >= len(p.tasks) || seen.State > Cancelled {
		p.ignored++
		return
	}
	a := p.find(seen)
	switch {
	case a != nil && a.task != seen.Task && movable(a, seen):
		a = nil // found again by its name
	case a != nil && a.task != seen.Task:
		p.ignored++
		return
	case a != nil && (a.ended || seen.State == Waiting), seen.State == Waiting && p.config.Queued:
		return
	}
	at := p.clock.Since
	tells := seen.State == Running && (seen.Progress != tracker.Report{} || !seen.AsOf.IsZero())
	switch {
	case tells:
		at = p.when(seen.AsOf, at)
	case seen.State.ended():
		at = p.when(seen.Ended, at)
	}
	if a == nil || !a.begun || a.host == nowhere && seen.Host != "" {
		p.add(p.when(seen.Begun, at), begins, a, seen)
	}
	if tells {
		p.add(at, reports, a, seen)
	}
	if seen.State.ended() {
		p.add(at, ends, a, seen)
	}
}

func (p *Phase) add(at time.Duration, what happening, a *attempt, seen *Attempt) {
	p.events = append(p.events, event{at: at, a: a, of: seen, seq: int32(len(p.events)), what: what})
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
	if a.begun || seen.State == Waiting || seen.State.ended() && seen.Begun.IsZero() {
		return // an attempt that came and went unseen gives no sample of its time
	}
	a.begun = true
	if !a.dying {
		p.tracker.Begin(at, a.task, a.number, a.host)
	}
}

// locate takes note that an attempt is, or was, on a host, wherever it was submitted.
func (p *Phase) locate(a *attempt, name string) {
	if host := p.hosts.number(name); host != nowhere && host != a.host {
		p.hold(a.host, -1)
		p.hold(host, 1)
		a.host = host
		p.tasks[a.task].try(host)
	}
}

// adopt takes an attempt to the books that was not submitted here. One of a task that needs it no more is cancelled.
func (p *Phase) adopt(at time.Time, seen *Attempt) *attempt {
	a := &attempt{id: seen.ID, task: seen.Task, host: p.hosts.number(seen.Host), adopted: true}
	p.attempts[a.id] = a
	t := &p.tasks[a.task]
	if !t.over {
		a.number = p.tracker.Submit(at, a.task, a.host)
		p.enter(a)
		return a
	}
	p.hold(a.host, 1)
	p.die(a)
	if !seen.State.ended() {
		why := overtaken()
		if t.givenUp || p.closed {
			why = restart.Decision{}
		}
		p.actions = append(p.actions, Action{Op: Cancel, Task: a.task, ID: a.id, Decision: why})
	}
	return a
}

// movable reports whether the end of an attempt that is not ours says which task it is of, against what a line before
// said: else the result would be lost for ever.
func movable(a *attempt, seen *Attempt) bool { return a.adopted && !a.ended && seen.State.ended() }

// disown forgets that an attempt is of a task.
func (p *Phase) disown(at time.Time, a *attempt) {
	p.ignored++
	delete(p.attempts, a.id)
	p.hold(a.host, -1)
	t := &p.tasks[a.task]
	if a.dying {
		t.dying--
		p.dying--
		return
	}
	p.tracker.Kill(at, a.task, a.number)
	p.leave(a)
	if len(t.live) == 0 && !p.config.Queued {
		p.wait(a.task, restart.Decision{})
	}
}

// report takes a progress report, unless it is an old one.
func (p *Phase) report(at time.Time, a *attempt, seen *Attempt) {
	asOf := inRange(seen.AsOf)
	isOld := asOf.Equal(a.asOf) || asOf.Before(a.asOf) && !a.ahead && !a.asOf.After(p.wall)
	if a.dying || a.ended || !asOf.IsZero() && isOld {
		return
	}
	a.asOf, a.ahead = asOf, asOf.After(p.wall)
	p.tracker.Report(at, a.task, a.number, seen.Progress) // what to do is asked once all is known
}

// end takes note that an attempt has ended.
func (p *Phase) end(at time.Time, a *attempt, seen *Attempt) {
	if a.ended {
		return
	}
	a.ended = true
	p.hold(a.host, -1)
	p.leave(a)
	if a.dying {
		p.tasks[a.task].dying--
		p.dying--
	}
	switch {
	case p.tasks[a.task].over:
	case seen.State == Succeeded:
		p.succeed(at, a)
	case !a.dying:
		p.lose(at, a, seen.State)
	}
}

// overtaken is why the other attempts of a finished task end.
func overtaken() restart.Decision {
	return restart.Decision{Action: restart.Kill, Reason: restart.Overtaken}
}

// succeed ends a task. The result of an attempt that was cancelled is as good as any if it comes first; the tracker, to
// which that attempt has ended, is told of one more, which leaves no sample.
func (p *Phase) succeed(at time.Time, a *attempt) {
	t := &p.tasks[a.task]
	if a.dying {
		a.number = p.tracker.Submit(at, a.task, a.host)
	}
	p.numbers = p.tracker.Finish(at, a.task, a.number)
	t.over, t.waits = true, false
	p.over++
	for len(t.live) > 0 {
		p.cancel(t.live[0], overtaken())
	}
}

// lose makes up for an attempt that ended without a result, or gives its task up.
func (p *Phase) lose(at time.Time, a *attempt, state State) {
	t := &p.tasks[a.task]
	switch state {
	case Failed:
		t.failed++
		p.tracker.Fail(at, a.task, a.number)
	case Lost:
		t.lost++
		p.tracker.Fail(at, a.task, a.number)
		p.hosts.retire(p.wall, a.host)
		p.hosts.changes++
	default: // cancelled from outside
		t.lost++
		p.tracker.Kill(at, a.task, a.number)
	}
	switch {
	case len(t.live) > 0:
	case t.failed >= p.config.MaxFailures || t.lost >= p.config.MaxLost:
		t.over, t.givenUp = true, true
		p.over++
		p.tracker.GiveUp(at, a.task)
	default:
		p.wait(a.task, restart.Decision{})
	}
}
