package engine

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// event is a part of an observation, at its time.
type event struct {
	at   time.Time
	what func(*Phase, time.Time, *attempt, *Attempt)
	of   *Attempt
}

// Observe takes what the engine shows now, and returns what to do. The list may be partial: an attempt that is left out
// stays as it was. One that was never heard of is adopted; if the phase is Queued, as soon as it does not wait. What makes
// no sense is passed over and counted in [restart.Ledger.Ignored]. Call it every Interval, and as soon as something ends.
// The actions hold until the next call.
func (p *Phase) Observe(now time.Time, attempts []Attempt) []Action {
	clear(p.actions)
	p.actions, p.events = p.actions[:0], p.events[:0]
	p.look(now, attempts)
	for i := range attempts {
		p.note(now, &attempts[i])
	}
	slices.SortStableFunc(p.events, func(a, b event) int { return a.at.Compare(b.at) })
	for _, e := range p.events {
		a := p.attempts[e.of.ID]
		if a != nil && a.task != e.of.Task { // the list gives the name of a new attempt to two tasks
			p.ignored++
			continue
		}
		e.what(p, e.at, a, e.of)
	}
	// What is overtaken by one line of the list may have ended by another.
	p.actions = slices.DeleteFunc(p.actions, func(a Action) bool { return p.attempts[a.ID].ended })
	p.decide(now)
	return p.actions
}

// look notes when attempts were last seen to run, and how long it usually takes from one time to the next. After a gap,
// in which the engine or the host was away, all attempts look silent; nothing is decided about them until they have had
// the time to report.
func (p *Phase) look(now time.Time, attempts []Attempt) {
	if !slices.ContainsFunc(attempts, func(a Attempt) bool { return a.State == Running }) {
		return
	}
	if p.tooLong(now) {
		p.blind = now.Add(afterGap * p.usual)
	}
	if !p.seen.IsZero() { // a slow poller is no gap for long, but one gap is not to hide the next
		since := min(max(now.Sub(p.seen), 0), min(p.usual, num.MaxDuration/gap)*gap)
		p.usual = max(p.usual+(since-p.usual)/4, p.config.Interval)
	}
	p.seen = now
}

// isBlind reports whether the silence of attempts means nothing.
func (p *Phase) isBlind(now time.Time) bool { return now.Before(p.blind) || p.tooLong(now) }

func (p *Phase) tooLong(now time.Time) bool { return !p.seen.IsZero() && now.Sub(p.seen)/gap > p.usual }

// In usual times between polls.
const (
	gap      = 5
	afterGap = 2
)

// note lists the events of an observation, none later than now and each attempt's in the order of its life.
func (p *Phase) note(now time.Time, seen *Attempt) {
	a := p.attempts[seen.ID]
	if seen.ID == "" || seen.Task < 0 || seen.Task >= len(p.tasks) || seen.State > Cancelled || a != nil && a.task != seen.Task {
		p.ignored++
		return
	}
	if a != nil && (a.ended || seen.State == Waiting) || seen.State == Waiting && p.config.Queued {
		return
	}
	at := now
	add := func(time time.Time, what func(*Phase, time.Time, *attempt, *Attempt)) {
		p.events = append(p.events, event{at: time, what: what, of: seen})
	}
	reports := seen.State == Running && (seen.Progress != restart.Progress{} || !seen.AsOf.IsZero())
	if reports {
		at = earlier(seen.AsOf, now)
	}
	if seen.State.ended() {
		at = earlier(seen.Ended, now)
	}
	if a == nil || !a.begun || a.host == nowhere && seen.Host != "" {
		add(earlier(seen.Begun, at), (*Phase).begin)
	}
	if reports {
		add(at, (*Phase).report)
	}
	if seen.State.ended() {
		add(at, (*Phase).end)
	}
}

// earlier returns t, or limit if t is not given or later.
func earlier(t, limit time.Time) time.Time {
	if t.IsZero() || t.After(limit) {
		return limit
	}
	return t
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
	a := &attempt{id: seen.ID, task: seen.Task, host: p.hosts.number(seen.Host)}
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
		if t.givenUp {
			why = restart.Decision{}
		}
		p.actions = append(p.actions, Action{Op: Cancel, Task: a.task, ID: a.id, Decision: why})
	}
	return a
}

// report takes a progress report, unless it is an old one.
func (p *Phase) report(at time.Time, a *attempt, seen *Attempt) {
	isOld := seen.AsOf.Equal(a.asOf) || seen.AsOf.Before(a.asOf) && !a.ahead
	if a.dying || a.ended || !seen.AsOf.IsZero() && isOld {
		return
	}
	a.asOf, a.ahead = seen.AsOf, seen.AsOf.After(at)
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
	submitted := a.number
	if a.dying {
		a.number = p.tracker.Submit(at, a.task, a.host)
	}
	p.numbers = p.tracker.Finish(at, a.task, a.number, p.numbers[:0])
	p.hosts.clear(a.host)
	t.over, t.waits = true, false
	p.over++
	for len(t.live) > 0 {
		loser := t.live[0]
		if a.begun && loser.begun && loser.number < submitted && loser.host != a.host {
			p.hosts.strike(at, loser.host)
		}
		p.cancel(loser, overtaken())
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
		p.hosts.retire(at, a.host)
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
