package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Poll takes a list of the attempts that the engine shows now, and returns the actions to carry out. Call it
// every Interval, and as soon as an attempt ends.
//
// The list should show every attempt that waits or runs. The list should show an ended attempt until a snapshot of
// the phase that includes the end is safe. An attempt that is missing from the list stays as it was, until
// Config.Trace has passed. An attempt with an unknown ID is adopted with all that the list says about it; a
// Preloaded phase adopts it only when it no longer waits. A line that makes no sense is ignored and counted in
// [tracker.Ledger.Ignored].
//
// The same calls return the same actions. The order of the list counts, so sort a list that has no order. If
// the caller's clock steps back, no time passes. The actions are valid until the next call.
//
// [tracker.Ledger.Ignored]: https://pkg.go.dev/github.com/straggler-go/straggler/restart/tracker#Ledger
func (p *Phase) Poll(now time.Time, list []Attempt) []Action {
	p.start(now, list)
	if slices.ContainsFunc(list, func(a Attempt) bool { return a.State == Running }) {
		p.timing.notePoll(p.time.now, p.config.Interval)
	}
	if slices.ContainsFunc(list, func(a Attempt) bool { return !a.State.ended() }) {
		p.timing.lastListed = p.time.clock.Since
	}
	p.applyAll(list)
	p.searchMissing()
	return p.decideAndAnswer(true)
}

// Push takes events of attempts, from an engine that lists nothing, and returns the actions to carry out. An
// event is an Attempt with the news of one attempt; an attempt without an event stays as it was. Call Push with
// each new event, and once every Interval even without events: the policy is asked about the running attempts
// once an Interval. O(events), and once an Interval one decision for each attempt that runs.
func (p *Phase) Push(now time.Time, events []Attempt) []Action {
	p.start(now, events)
	p.timing.notePoll(p.time.now, p.config.Interval)
	p.applyAll(events)
	return p.decideAndAnswer(p.decided == never || p.time.clock.Since-p.decided >= p.config.Interval)
}

// Close ends the phase, done or not, and returns the actions that cancel the attempts that still run. A phase
// that is done returns none. Close also closes the tracker, so the phase no longer holds a part of a shared
// Budget or record of machines; see tracker.Tracker.Close. After Close the phase is Done and submits nothing.
//
// A cancelled attempt holds its slot until it is seen to end. So either go on with Poll, or call
// [Phase.Release]: then the phase's machines become free for other phases. A second Close does nothing. The
// actions are valid until the next call. O(n) in the number of tasks.
func (p *Phase) Close(now time.Time) []Action {
	p.start(now, nil)
	for i := range p.book.tasks {
		t := &p.book.tasks[i]
		for len(t.live) > 0 {
			p.cancel(t.live[0], nil)
		}
		if !t.over {
			p.book.endTask(t, nil)
		}
	}
	p.book.waiting = p.book.waiting[:0]
	p.tracker.Close(p.time.now)
	p.closed, p.told, p.restored = true, 0, false
	return p.scratch.actions
}

// start begins a call: it resets the scratch memory and sets the time.
func (p *Phase) start(now time.Time, told []Attempt) {
	p.ready()
	s := &p.scratch
	clear(s.actions)
	s.actions, s.events = s.actions[:0], s.events[:0]
	clear(s.chosen)
	past := time.Duration(0)
	if !p.time.clock.Begun {
		past = p.compareClocks(now, told)
	}
	if p.time.tick(now, past) {
		p.machines.set.ForgetClocks()
	}
}

// compareClocks returns how far the reports of the first call go back. Where the engine dates progress, it also
// looks for machines that run attempts and have dated nothing for more than gap intervals. Either such attempts
// are silent, or the machine's clock is behind. Nobody can tell which, so the machine's last date counts as
// just now. A silent attempt is then noticed a little later, and a healthy one is not killed.
func (p *Phase) compareClocks(now time.Time, told []Attempt) (past time.Duration) {
	type machine struct {
		latest time.Time
		runs   bool
	}
	var known []machine // by machine number + 1; index 0 is for unknown machines
	reports := false
	for i := range told {
		a := &told[i]
		if !valid(a, len(p.book.tasks)) {
			continue
		}
		latest := time.Time{}
		for _, t := range [...]time.Time{a.Begun, a.Ended, a.AsOf} {
			if !t.IsZero() {
				past = max(past, now.Sub(inRange(t)))
			}
			if t.After(latest) {
				latest = t
			}
		}
		if a.State == Queued {
			continue
		}
		reports = reports || !a.AsOf.IsZero()
		n := p.machines.number(a.Machine) + 1
		known = append(known, make([]machine, max(n+1-len(known), 0))...)
		known[n].runs = known[n].runs || a.State == Running
		if latest.After(known[n].latest) {
			known[n].latest = latest
		}
	}
	for n, h := range known {
		if reports && h.runs && !h.latest.IsZero() && now.Sub(h.latest)/gap > p.config.Interval {
			p.machines.set.Clock(n-1).Tell(inRange(h.latest), now.Add(-p.config.Interval), time.Time{})
		}
	}
	return past
}

// applyAll turns the reports into events and applies them in the order of their times.
func (p *Phase) applyAll(told []Attempt) {
	for i := range told {
		p.collect(&told[i])
	}
	events := p.scratch.events
	if !slices.IsSortedFunc(events, before) {
		slices.SortFunc(events, before)
	}
	for i := range events {
		p.apply(&events[i])
	}
	// One line may cancel an attempt whose end stands in another line.
	p.scratch.actions = slices.DeleteFunc(p.scratch.actions, func(a Action) bool {
		return a.Op == Cancel && p.book.attempts[a.ID].ended
	})
}

// decideAndAnswer asks the policy and returns the actions of the call. If all is false it only fills free
// slots.
func (p *Phase) decideAndAnswer(all bool) []Action {
	p.scratch.slow = p.machines.record.AppendAvoid(p.scratch.slow[:0])
	p.machines.set.Settle(p.time.wall, p.scratch.slow)
	p.repeatRequests()
	p.decide(all)
	p.restored = false
	return p.scratch.actions
}

// event is one part of a report, with its time. Events with equal times keep the order of the list.
type event struct {
	at     time.Duration // by the timeline of the phase
	a      *attempt      // nil if the ID was unknown
	of     *Attempt      // the report
	seq    int32         // position in the order of the list
	begins bool          // the event is the attempt's begin; otherwise a report or an end
}

// before orders events by time, then by position.
func before(a, b event) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Compare(a.seq, b.seq)
}

// valid reports whether a report has an ID, a task of the phase and a known state.
func valid(seen *Attempt, tasks int) bool {
	return seen.ID != "" && seen.Task >= 0 && seen.Task < tasks && seen.State <= Cancelled
}

// collect lists the events of one report: none later than now, and the begin before the report or the end.
func (p *Phase) collect(seen *Attempt) {
	if !valid(seen, len(p.book.tasks)) {
		p.ignored++
		return
	}
	a := p.book.find(seen.ID, seen.Task)
	switch {
	case a == nil && seen.State == Queued && p.config.Preloaded:
		return
	case a == nil:
	case a.task != seen.Task && canChangeTask(a, seen):
		a = nil // apply finds the attempt again by its ID
	case a.task != seen.Task:
		p.ignored++
		return
	case !p.noteSeen(a, seen):
		return
	}
	if seen.Published && !p.book.tasks[seen.Task].over {
		if p.scratch.chosen == nil {
			p.scratch.chosen = map[int]string{}
		}
		p.scratch.chosen[seen.Task] = seen.ID
	}
	p.addEvents(a, seen)
}

// noteSeen notes that the engine shows a known attempt. The result says whether the report may hold events.
func (p *Phase) noteSeen(a *attempt, seen *Attempt) bool {
	if a.seen == never && !a.adopted && !a.dying {
		raiseLag(&p.timing.submitLag, p.time.clock.Since-a.firstAsked)
	}
	a.seen = p.time.clock.Since
	if seen.Published && a.ended && !a.published {
		a.published = true
		if t := &p.book.tasks[a.task]; t.over && !t.givenUp {
			t.winner = a
		}
	}
	if a.gone {
		p.revive(a)
	}
	return !a.ended && (seen.State != Queued || a.begun && a.machine == nowhere)
}

// revive takes back an attempt that counted as ended because it was missing. The attempt was told to end, so
// its Cancel is requested again.
func (p *Phase) revive(a *attempt) {
	a.ended, a.gone = false, false
	p.occupy(a.machine, 1)
	p.markDying(a)
	a.firstAsked, a.lastAsked, a.repeats = p.time.clock.Since, never, 0
	p.book.addPending(a)
}

// addEvents lists the events of a report. addEvents corrects their times by the offset of the clock that dated them.
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

// apply applies one event. An attempt with an unknown ID is adopted.
func (p *Phase) apply(e *event) {
	a, seen := e.a, e.of
	if a == nil {
		a = p.book.attempts[seen.ID] // an earlier event of the same list may have adopted it
	}
	at := p.time.epoch.Add(e.at)
	if a != nil && a.task != seen.Task { // the list gives one ID to two tasks
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

// begin notes that an attempt runs or ran, and on which machine.
func (p *Phase) begin(at time.Time, a *attempt, seen *Attempt) {
	if a.ended { // an earlier event of the same list ended it
		return
	}
	p.locate(a, seen.Machine)
	if a.begun || !runs(seen) {
		return
	}
	a.begun = true
	if !a.dying {
		p.tracker.Begin(at, a.task, a.number, a.machine)
	}
}

// runs reports whether a report says when the attempt ran. An attempt that began and ended between two polls
// gives a sample of its run time only if its report has Begun.
func runs(seen *Attempt) bool {
	return seen.State != Queued && !(seen.State.ended() && seen.Begun.IsZero())
}

// locate sets the machine of an attempt, wherever the attempt was submitted.
func (p *Phase) locate(a *attempt, name string) {
	if machine := p.machines.number(name); machine != nowhere && machine != a.machine {
		p.occupy(a.machine, -1)
		p.occupy(machine, 1)
		a.machine = machine
		p.book.tasks[a.task].addTried(machine)
	}
}

// adopt takes in an attempt that this phase did not submit. If its task is over, the attempt is cancelled. If
// it had run for long although the phase was polled meanwhile, its age cannot be told to the tracker: the
// attempt is late. A late attempt counts as an attempt without progress that begins now, and gives no sample of its run
// time.
func (p *Phase) adopt(at time.Time, seen *Attempt) *attempt {
	a := p.add(attempt{
		id: seen.ID, task: seen.Task, machine: p.machines.number(seen.Machine), adopted: true, seen: p.time.clock.Since,
		published: seen.Published,
	})
	began := num.Add(p.time.wall.Sub(inRange(seen.Begun)), p.machines.set.Clock(a.machine).Offset())
	a.late = !seen.Begun.IsZero() && began-p.config.Interval > p.time.clock.Since-p.time.earliest
	t := &p.book.tasks[a.task]
	if !t.over {
		if a.begun = runs(seen); a.begun {
			a.number = p.tracker.Start(at, a.task, a.machine)
		} else {
			a.number = p.tracker.Submit(at, a.task, a.machine)
		}
		p.addLive(a)
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

// canChangeTask reports whether an adopted attempt may change its task: only when it ends. Otherwise the result
// of an attempt that was first reported with a wrong task would be lost for ever.
func canChangeTask(a *attempt, seen *Attempt) bool {
	return a.adopted && !a.ended && seen.State.ended()
}

// disown takes an attempt away from its task.
func (p *Phase) disown(at time.Time, a *attempt) {
	p.ignored++
	delete(p.book.attempts, a.id)
	if !a.dying {
		p.tracker.Kill(at, a.task, a.number)
	}
	p.markEnded(a)
	if !p.config.Preloaded {
		p.book.wait(a.task, nil)
	}
}

// report passes a progress report on to the tracker, unless the report is old.
func (p *Phase) report(at time.Time, a *attempt, seen *Attempt) {
	asOf := inRange(seen.AsOf)
	isOld := asOf.Equal(a.asOf) || asOf.Before(a.asOf) && !a.ahead && !a.asOf.After(p.time.wall)
	if a.dying || a.ended || a.late || !asOf.IsZero() && isOld {
		return
	}
	a.asOf, a.ahead = asOf, asOf.After(p.time.wall)
	p.tracker.Record(at, a.task, a.number, seen.Progress) // decide asks the policy once all events are applied
}

// overtaken is the decision that ends the other attempts of a finished task.
func overtaken() *restart.Decision {
	return &restart.Decision{Action: restart.Kill, Reason: restart.Overtaken}
}

// end notes that an attempt has ended.
func (p *Phase) end(at time.Time, a *attempt, seen *Attempt) {
	if a.ended {
		return
	}
	if a.dying {
		raiseLag(&p.timing.cancelLag, p.time.clock.Since-a.firstAsked)
	}
	p.markEnded(a)
	t := &p.book.tasks[a.task]
	chosen, some := p.scratch.chosen[a.task]
	switch {
	case t.over && seen.Published && !t.givenUp && !p.closed:
		t.winner, a.published = a, true
	case t.over:
	case seen.State == Succeeded && (!some || chosen == a.id):
		p.succeed(at, a, seen.Published)
	case a.dying: // the attempt's cancellation already took care of its task
	case seen.State == Succeeded: // another attempt's result is published
		p.lose(at, a, Cancelled)
	default:
		p.lose(at, a, seen.State)
	}
}

// succeed ends a task with a result. A cancelled attempt may win too, if it succeeds first. For the tracker a
// cancelled attempt has already ended; so the tracker is told a new attempt that finishes at once and gives no
// sample of its run time. A late attempt is treated in the same way.
func (p *Phase) succeed(at time.Time, a *attempt, published bool) {
	t := &p.book.tasks[a.task]
	if a.late && !a.dying {
		p.tracker.Kill(at, a.task, a.number)
	}
	if a.dying || a.late {
		a.number = p.tracker.Submit(at, a.task, a.machine)
	}
	p.tracker.Finish(at, a.task, a.number)
	p.book.endTask(t, a)
	if a.published = published; !published {
		p.ask(a, Publish, nil)
	}
	for len(t.live) > 0 {
		p.cancel(t.live[0], overtaken())
	}
}

// lose ends an attempt without a result. Then the task is submitted again or given up.
func (p *Phase) lose(at time.Time, a *attempt, state State) {
	t := &p.book.tasks[a.task]
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
	default: // cancelled, but not by the phase
		t.lost++
		p.tracker.Kill(at, a.task, a.number)
	}
	if len(t.live) == 0 && (t.failed >= p.config.MaxFailures || t.lost >= p.config.MaxLost) {
		p.book.endTask(t, nil)
		t.givenUp = true
		p.tracker.GiveUp(at, a.task)
	}
	p.book.wait(a.task, nil)
}

// cancel ends an attempt that the tracker has already taken out.
func (p *Phase) cancel(a *attempt, why *restart.Decision) {
	p.removeLive(a)
	p.markDying(a)
	p.ask(a, Cancel, why)
}

// ask makes a request for the first time. The request is repeated until the engine shows it as carried out.
func (p *Phase) ask(a *attempt, op Op, why *restart.Decision) {
	a.why = why
	a.firstAsked, a.repeats = p.time.clock.Since, 0
	p.emit(a, op)
	p.book.addPending(a)
}

// emit adds the request to the actions of this call.
func (p *Phase) emit(a *attempt, op Op) {
	a.lastAsked = p.time.clock.Since
	p.scratch.actions = append(p.scratch.actions, p.action(a, op))
}

// action returns a request as an Action.
func (p *Phase) action(a *attempt, op Op) Action {
	action := Action{Op: op, Task: a.task, ID: a.id, Machine: p.machines.set.Name(a.machine)}
	if op == Submit {
		action.Avoid = a.avoid
	}
	if a.why != nil {
		action.Decision = *a.why
	}
	return action
}
