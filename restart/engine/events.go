package engine

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// event is one part of a report, with its time. Events with equal times stay in the order of the list.
type event struct {
	// The time of the event, on the timeline of the phase.
	at time.Duration
	// The attempt; nil if its ID was unknown.
	a *attempt
	// The report that contains the event.
	of *Attempt
	// The position of the event in the order of the list.
	seq int32
	// True if the event is the begin of the attempt. Otherwise the event is a progress report or an end.
	begins bool
}

// before compares events by their time, and then by their position in the list.
func before(a, b event) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Compare(a.seq, b.seq)
}

// valid reports whether a report has an ID, a task of the phase, and a state that exists.
func (p *Phase) valid(seen *Attempt) bool {
	return seen.ID != "" && p.book.has(seen.Task) && seen.State <= Cancelled
}

// refuse ignores a report that is not valid. An attempt of a task that was forgotten is cancelled each time that the engine
// shows it, until it has ended.
func (p *Phase) refuse(seen *Attempt) {
	if seen.ID == "" || seen.State > Cancelled || !p.book.forgot(seen.Task) {
		p.ignored++
	} else if !seen.State.ended() {
		p.scratch.actions = append(p.scratch.actions, Action{Op: Cancel, Task: seen.Task, ID: seen.ID, Machine: seen.Machine})
	}
}

// collect adds the events of one report to the events of the call. No event is later than now, and the begin of an
// attempt is before its progress report or end.
func (p *Phase) collect(seen *Attempt) {
	if !p.valid(seen) {
		p.refuse(seen)
		return
	}
	a := p.book.find(seen.ID, seen.Task)
	switch {
	case a == nil && seen.State == Queued && p.config.Preloaded:
		return
	case a == nil:
	case a.task != seen.Task && canChangeTask(a, seen):
		// The method apply finds the attempt again by its ID.
		a = nil
	case a.task != seen.Task:
		p.ignored++
		return
	case !p.noteSeen(a, seen):
		return
	}
	if seen.Published && !p.book.task(seen.Task).over {
		if p.scratch.chosen == nil {
			p.scratch.chosen = map[int]string{}
		}
		p.scratch.chosen[seen.Task] = seen.ID
	}
	p.addEvents(a, seen)
}

// noteSeen records that the engine shows a known attempt. It reports whether the report may contain events.
func (p *Phase) noteSeen(a *attempt, seen *Attempt) bool {
	if a.seen == never && !a.adopted && !a.dying {
		raiseLag(&p.timing.submitLag, p.time.clock.Since-a.firstAsked)
	}
	a.seen = p.time.clock.Since
	if seen.Published && a.ended && !a.published {
		a.published = true
		if t := p.book.task(a.task); t.over && !t.givenUp {
			t.winner = a
		}
	}
	if a.gone {
		p.revive(a)
	}
	if a.ended {
		return seen.State == Succeeded && !p.book.task(a.task).over
	}
	return seen.State != Queued || a.begun && a.machine == nowhere
}

// revive takes back an attempt that was treated as ended because it was missing. The attempt was cancelled before, so
// the Cancel is requested again.
func (p *Phase) revive(a *attempt) {
	a.ended, a.gone = false, false
	p.occupy(a.machine, 1)
	p.markDying(a)
	a.firstAsked, a.lastAsked, a.repeats = p.time.clock.Since, never, 0
	p.book.addPending(a)
}

// addEvents adds the events of a report to the events of the call. It corrects their times by the offset of the clock
// that reported them. Argument a is nil if the ID of the report is unknown.
func (p *Phase) addEvents(a *attempt, seen *Attempt) {
	machine, asked := nowhere, time.Time{}
	begun, old := false, false
	if a != nil {
		machine = a.machine
		begun = a.begun && (machine != nowhere || seen.Machine == "")
		old = !seen.AsOf.IsZero() && seen.AsOf.Equal(a.asOf)
		if !a.adopted {
			asked = p.time.asSaid(a.submitted)
		}
	}
	tells := seen.State == Running && (seen.Progress != tracker.Report{} || !seen.AsOf.IsZero())
	if tells && old && begun {
		return
	}
	if machine == nowhere {
		machine = p.machines.number(seen.Machine)
	}
	clock := p.machines.set.Clock(machine)
	when := func(t time.Time, limit time.Duration) time.Duration {
		if !t.IsZero() {
			clock.Tell(t, asked, p.time.wall)
		}
		return p.time.when(t, clock.Offset(), limit)
	}
	at := p.time.clock.Since
	add := func(at time.Duration, begins bool) {
		events := p.scratch.events
		p.scratch.events = append(events, event{at: at, a: a, of: seen, seq: int32(len(events)), begins: begins})
	}
	switch {
	case tells:
		at = when(seen.AsOf, at)
	case seen.State.ended():
		at = when(seen.Ended, at)
	}
	if !begun {
		add(when(seen.Begun, at), true)
	}
	if tells && !old || seen.State.ended() {
		add(at, false)
	}
}

// apply applies one event. An attempt with an unknown ID is adopted: the phase manages it from then on.
func (p *Phase) apply(e *event) {
	a, seen := e.a, e.of
	if a == nil {
		// An earlier event of the same list may have adopted the attempt.
		a = p.book.attempts[seen.ID]
	}
	at := p.time.epoch.Add(e.at)
	// The list uses one ID for attempts of two tasks.
	if a != nil && a.task != seen.Task {
		if !canChangeTask(a, seen) {
			p.ignored++
			return
		}
		p.disown(at, a)
		a = nil
	}
	if a == nil {
		a = p.adopt(at, seen)
	}
	switch {
	case e.begins:
		p.begin(at, a, seen)
	case seen.State.ended():
		p.end(at, a, seen)
	default:
		p.report(at, a, seen)
	}
}

// begin records that an attempt runs or ran, and on which machine.
func (p *Phase) begin(at time.Time, a *attempt, seen *Attempt) {
	// An earlier event of the same list may have ended the attempt.
	if a.ended {
		return
	}
	p.locate(a, seen.Machine)
	if a.begun || !runs(seen) {
		return
	}
	p.noteBegin(at, a)
	if !a.dying {
		p.tracker.Begin(at, a.task, a.number, a.machine)
	}
}

// noteBegin records when an attempt began.
func (p *Phase) noteBegin(at time.Time, a *attempt) {
	a.begun, a.since = true, at.Sub(p.time.epoch)
	p.overdue = min(p.overdue, num.Add(a.since, p.timeout(a.task)))
}

// runs reports whether a report shows when the attempt ran. If an attempt began and ended between two polls, its run
// time is known only if the report has Begun.
func runs(seen *Attempt) bool {
	return seen.State != Queued && !(seen.State.ended() && seen.Begun.IsZero())
}

// locate sets the machine of an attempt to the machine that the engine reports. This may be another machine than the
// machine of the Submit.
func (p *Phase) locate(a *attempt, name string) {
	if machine := p.machines.number(name); machine != nowhere && machine != a.machine {
		p.occupy(a.machine, -1)
		p.occupy(machine, 1)
		if a.machine = machine; !a.isLive() {
			p.book.remember(a)
		}
	}
}

// adopt adds an attempt that this phase did not submit. If the task of the attempt is over, the attempt is cancelled.
// If the attempt has run for long although the phase was polled in that time, the attempt is called late. The tracker
// then treats it as an attempt that begins now and reports no progress. A late attempt gives no sample of its run
// time.
func (p *Phase) adopt(at time.Time, seen *Attempt) *attempt {
	a := p.add(attempt{
		id: seen.ID, task: seen.Task, machine: p.machines.number(seen.Machine), adopted: true, seen: p.time.clock.Since,
		published: seen.Published, since: never, until: never,
	})
	began := num.Add(p.time.wall.Sub(inRange(seen.Begun)), p.machines.set.Clock(a.machine).Offset())
	a.late = !seen.Begun.IsZero() && began-p.config.Interval > p.time.clock.Since-p.time.earliest
	t := p.book.task(a.task)
	if !t.over {
		p.endRest(at, a.task)
		if runs(seen) {
			p.noteBegin(at, a)
			a.number = p.tracker.Start(at, a.task, a.machine)
		} else {
			a.number = p.tracker.Submit(at, a.task, a.machine)
		}
		return a
	}
	p.markDying(a)
	if !seen.State.ended() {
		why := overtaken()
		if t.givenUp || p.closed {
			why = nil
		}
		p.ask(a, Cancel, why)
	}
	return a
}

// canChangeTask reports whether an adopted attempt may be moved to another task: only by the report of its end.
// Otherwise, if an attempt was first reported with a wrong task, its result would be lost for ever.
func canChangeTask(a *attempt, seen *Attempt) bool {
	return a.adopted && !a.ended && seen.State.ended()
}

// disown removes an attempt from the task to which it was assigned.
func (p *Phase) disown(at time.Time, a *attempt) {
	p.ignored++
	delete(p.book.attempts, a.id)
	wasLive := a.isLive()
	if wasLive {
		p.tracker.Kill(at, a.task, a.number)
	}
	p.markEnded(a)
	unlink(&p.book.task(a.task).past, a)
	if wasLive && !p.config.Preloaded {
		p.wait(a.task, nil)
	}
}

// report passes a progress report to the tracker, unless the report is older than the report before.
func (p *Phase) report(at time.Time, a *attempt, seen *Attempt) {
	asOf := inRange(seen.AsOf)
	isOld := asOf.Equal(a.asOf) || asOf.Before(a.asOf) && !a.ahead && !a.asOf.After(p.time.wall)
	if a.dying || a.ended || a.late || !asOf.IsZero() && isOld {
		return
	}
	a.asOf, a.ahead = asOf, asOf.After(p.time.wall)
	// The method decide asks the policy after all events have been applied.
	p.tracker.Record(at, a.task, a.number, seen.Progress)
}

// overtaken returns the decision with which the other attempts of a finished task are cancelled.
func overtaken() *restart.Decision {
	return &restart.Decision{Action: restart.Kill, Reason: restart.Overtaken}
}

// end records that an attempt has ended.
func (p *Phase) end(at time.Time, a *attempt, seen *Attempt) {
	t := p.book.task(a.task)
	if a.ended && (t.over || seen.State != Succeeded) {
		return
	}
	late := a.ended
	if a.dying && !late {
		raiseLag(&p.timing.cancelLag, p.time.clock.Since-a.firstAsked)
	}
	if !late {
		p.markEnded(a)
	}
	a.until, a.fate = at.Sub(p.time.epoch), seen.State
	chosen, some := p.scratch.chosen[a.task]
	switch {
	case t.over && seen.Published && !t.givenUp && !p.closed:
		t.winner, a.published = a, true
	case t.over:
	case seen.State == Succeeded && (!some || chosen == a.id):
		p.succeed(at, a, seen.Published, late)
	case a.dying, late: // the cancellation, or the earlier end, has already decided what happens to the task
	case seen.State == Succeeded:
		// The result of another attempt is published.
		p.lose(at, a, Cancelled)
	default:
		p.lose(at, a, seen.State)
	}
}

// succeed ends a task with the result of an attempt. A cancelled attempt may win, too, if it succeeds first. For the
// tracker, a cancelled attempt has already ended. So a new attempt is reported to the tracker, which finishes at once
// and gives no sample of its run time. A late attempt, whose age is unknown, is treated in the same way, and so is an
// attempt that was reported as ended before, such as an attempt on a lost machine that has come back.
func (p *Phase) succeed(at time.Time, a *attempt, published, ended bool) {
	t := p.book.task(a.task)
	p.endRest(at, a.task)
	if a.late && !a.dying && !ended {
		p.tracker.Kill(at, a.task, a.number)
	}
	if a.dying || a.late || ended {
		a.number = p.tracker.Submit(at, a.task, a.machine)
	}
	p.tracker.Finish(at, a.task, a.number)
	p.book.endTask(t, a)
	if a.published = published; !published {
		p.ask(a, Publish, nil)
	}
	p.cancelAll(t, overtaken())
}

// lose ends an attempt that has no result. Then the task is submitted again or given up.
func (p *Phase) lose(at time.Time, a *attempt, state State) {
	t := p.book.task(a.task)
	switch state {
	case Failed:
		t.failed++
		p.tracker.Fail(at, a.task, a.number)
	case Lost:
		t.lost++
		p.tracker.Fail(at, a.task, a.number)
		if a.machine != nowhere {
			p.machines.set.Lose(a.machine, p.time.wall)
		}
	default:
		// The attempt was cancelled by somebody else than the phase.
		t.lost++
		p.tracker.Kill(at, a.task, a.number)
	}
	if t.newest == nil && (int(t.failed) >= p.config.MaxFailures || int(t.lost) >= p.config.MaxLost) {
		p.book.giveUp(a.task)
		p.tracker.GiveUp(at, a.task)
	}
	p.spend(a.task, t.newest != nil && p.config.EngineRetries && !a.adopted && state == Failed)
	p.wait(a.task, nil)
	if state == Failed && p.config.BackOff != nil && p.waits(a.task) {
		p.rest(at, a.task)
	}
}

// rest lets a failed task wait for no slot until its back-off is over.
func (p *Phase) rest(at time.Time, task int) {
	t := p.book.task(task)
	pause := p.config.BackOff(task, int(t.failed))
	if pause <= 0 {
		return
	}
	t.rests, t.resting = num.Add(at.Sub(p.time.epoch), pause), true
	if !t.listed {
		t.listed = true
		p.book.resting = append(p.book.resting, task)
	}
	p.tracker.GiveUp(at, task)
}
