package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Poll takes the list of what the engine shows now, and returns what to do. The list should show all that waits or
// runs, and what has ended at least until a snapshot of the phase that knows it is safe; what is left out stays as it
// was, for a while (Config.Trace). An attempt that was never heard of is adopted, with all that is told of it; if the
// phase is Preloaded, as soon as it does not wait. What makes no sense is passed over and counted in
// [tracker.Ledger.Ignored]. Call it every Interval, and as soon as something ends. Where the clock steps back, no time
// has passed. The same calls give the same actions; the order of a list counts, so sort one that has none. The actions
// hold until the next call.
//
// [tracker.Ledger.Ignored]: https://pkg.go.dev/github.com/straggler-go/straggler/restart/tracker#Ledger
func (p *Phase) Poll(now time.Time, list []Attempt) []Action {
	p.start(now, list)
	if slices.ContainsFunc(list, func(a Attempt) bool { return a.State == Running }) {
		p.sight.look(p.time.now, p.config.Interval)
	}
	if slices.ContainsFunc(list, func(a Attempt) bool { return !a.State.ended() }) {
		p.sight.listed = p.time.clock.Since
	}
	p.take(list)
	p.searchMissing()
	return p.answer(true)
}

// Push takes events of attempts, from an engine that lists nothing, and returns what to do: an Attempt is what is new
// of one, and what is left out says nothing. Call it with what there is, and every Interval, with nothing if there is
// nothing: then what runs is decided about. O(events), and a decision for each attempt that runs once an interval.
func (p *Phase) Push(now time.Time, events []Attempt) []Action {
	p.start(now, events)
	p.sight.look(p.time.now, p.config.Interval)
	p.take(events)
	return p.answer(p.decided == never || p.time.clock.Since-p.decided >= p.config.Interval)
}

// Close ends the phase, done or not, and returns the actions that cancel what still runs: none if it is done. Its
// tracker closes, so that the phase holds nothing of a shared Budget or record of machines any more; see
// tracker.Tracker.Close. From now on it is Done and submits nothing. Go on with Poll, or call [Phase.Release], so
// that its machines are free for others: what is cancelled holds its slot until it is seen to end. To close again does
// nothing. The actions hold until the next call. O(n) in the number of tasks.
func (p *Phase) Close(now time.Time) []Action {
	p.start(now, nil)
	for i := range p.book.tasks {
		t := &p.book.tasks[i]
		for len(t.live) > 0 {
			p.cancel(t.live[0], nil)
		}
		if !t.over {
			p.book.settle(t, nil)
		}
	}
	p.book.waiting = p.book.waiting[:0]
	p.tracker.Close(p.time.now)
	p.closed, p.told, p.restored = true, 0, false
	return p.scratch.actions
}

// start begins a call.
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

// compareClocks returns how far what is told at the first call goes back. It looks, where the engine dates progress, for
// machines that run something and have dated nothing for long. Either their attempts are silent, or the clock is behind; as
// long as that can't be told, the last date counts as that of just now: a silent one is noticed a little later for it, and
// healthy ones are not killed.
func (p *Phase) compareClocks(now time.Time, told []Attempt) (past time.Duration) {
	type machine struct {
		latest time.Time
		runs   bool
	}
	var known []machine // those that are not known come first
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

// take takes what is told to the books, in the order of its times.
func (p *Phase) take(told []Attempt) {
	for i := range told {
		p.note(&told[i])
	}
	events := p.scratch.events
	if !slices.IsSortedFunc(events, before) {
		slices.SortFunc(events, before)
	}
	for i := range events {
		p.happen(&events[i])
	}
	// What is overtaken by one line may have ended by another.
	p.scratch.actions = slices.DeleteFunc(p.scratch.actions, func(a Action) bool {
		return a.Op == Cancel && p.book.attempts[a.ID].ended
	})
}

// answer decides, everything or only what fills the slots that have become free, and returns the actions of the call.
func (p *Phase) answer(all bool) []Action {
	p.scratch.slow = p.machines.record.AppendAvoid(p.scratch.slow[:0])
	p.machines.set.Settle(p.time.wall, p.scratch.slow)
	p.remind()
	p.decide(all)
	p.restored = false
	return p.scratch.actions
}

// event is a part of what is told, at its time. What is told at the same time is taken in the order of the list.
type event struct {
	at     time.Duration // of the phase's time
	a      *attempt      // nil if it was not known before
	of     *Attempt
	seq    int32
	begins bool // it says that the attempt has begun; else what its state is
}

func before(a, b event) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Compare(a.seq, b.seq)
}

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
	}
	p.date(a, seen)
}

// show takes note that a known attempt is shown, and reports whether there may be more to what is told of it.
func (p *Phase) show(a *attempt, seen *Attempt) bool {
	if a.seen == never && !a.adopted && !a.dying {
		took(&p.sight.arrival, p.time.clock.Since-a.since)
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

// revive takes an attempt back that was taken to have ended since it was missing. It is to end, as it was told.
func (p *Phase) revive(a *attempt) {
	a.ended, a.gone = false, false
	p.hold(a.machine, 1)
	p.die(a)
	a.since, a.asked, a.again = p.time.clock.Since, never, 0
	p.book.note(a)
}

// date places what is told of an attempt in time, by what is known of the clock that dated it.
func (p *Phase) date(a *attempt, seen *Attempt) {
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

// happen takes an event to the books. An attempt that is new is adopted.
func (p *Phase) happen(e *event) {
	a, seen := e.a, e.of
	if a == nil {
		a = p.book.attempts[seen.ID] // by a line before it
	}
	at := p.time.epoch.Add(e.at)
	if a != nil && a.task != seen.Task { // the list gives the name of a new attempt to two tasks
		if !movable(a, seen) {
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

// begin takes note that an attempt runs, or ran, and where.
func (p *Phase) begin(at time.Time, a *attempt, seen *Attempt) {
	if a.ended { // by a line of the same list
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

// runs reports whether it is told of an attempt since when it ran. One that came and went unseen gives no sample of its
// time unless it says when it began.
func runs(seen *Attempt) bool {
	return seen.State != Queued && !(seen.State.ended() && seen.Begun.IsZero())
}

// locate takes note that an attempt is, or was, on a machine, wherever it was submitted.
func (p *Phase) locate(a *attempt, name string) {
	if machine := p.machines.number(name); machine != nowhere && machine != a.machine {
		p.hold(a.machine, -1)
		p.hold(machine, 1)
		a.machine = machine
		p.book.tasks[a.task].try(machine)
	}
}

// adopt takes an attempt to the books that was not submitted here. One of a task that needs it no more is cancelled.
// One that had run for long before, though the phase has been called meanwhile, has no age that could be told to the
// tracker: it counts as one without progress that begins now, and gives no sample of its time.
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
		p.enter(a)
		return a
	}
	p.die(a)
	if !seen.State.ended() {
		why := overtaken()
		if t.givenUp || p.closed {
			why = nil
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
	if !a.dying {
		p.tracker.Kill(at, a.task, a.number)
	}
	p.retire(a)
	if !p.config.Preloaded {
		p.book.wait(a.task, nil)
	}
}

// report takes a progress report, unless it is an old one.
func (p *Phase) report(at time.Time, a *attempt, seen *Attempt) {
	asOf := inRange(seen.AsOf)
	isOld := asOf.Equal(a.asOf) || asOf.Before(a.asOf) && !a.ahead && !a.asOf.After(p.time.wall)
	if a.dying || a.ended || a.late || !asOf.IsZero() && isOld {
		return
	}
	a.asOf, a.ahead = asOf, asOf.After(p.time.wall)
	p.tracker.Record(at, a.task, a.number, seen.Progress) // what to do is asked once all is known
}

// overtaken is why the other attempts of a finished task end.
func overtaken() *restart.Decision {
	return &restart.Decision{Action: restart.Kill, Reason: restart.Overtaken}
}

// end takes note that an attempt has ended.
func (p *Phase) end(at time.Time, a *attempt, seen *Attempt) {
	if a.ended {
		return
	}
	if a.dying {
		took(&p.sight.parting, p.time.clock.Since-a.since)
	}
	p.retire(a)
	t := &p.book.tasks[a.task]
	chosen, some := p.scratch.chosen[a.task]
	switch {
	case t.over && seen.Published && !t.givenUp && !p.closed:
		t.winner, a.published = a, true
	case t.over:
	case seen.State == Succeeded && (!some || chosen == a.id):
		p.succeed(at, a, seen.Published)
	case a.dying: // it was made up for when it was told to end
	case seen.State == Succeeded: // another attempt's result is published
		p.lose(at, a, Cancelled)
	default:
		p.lose(at, a, seen.State)
	}
}

// succeed ends a task. The result of an attempt that was cancelled is as good as any if it comes first; the tracker, to
// which that attempt has ended, is told of one more, which leaves no sample; so also where its age is not known.
func (p *Phase) succeed(at time.Time, a *attempt, published bool) {
	t := &p.book.tasks[a.task]
	if a.late && !a.dying {
		p.tracker.Kill(at, a.task, a.number)
	}
	if a.dying || a.late {
		a.number = p.tracker.Submit(at, a.task, a.machine)
	}
	p.tracker.Finish(at, a.task, a.number)
	p.book.settle(t, a)
	if a.published = published; !published {
		p.ask(a, Publish, nil)
	}
	for len(t.live) > 0 {
		p.cancel(t.live[0], overtaken())
	}
}

// lose makes up for an attempt that ended without a result, or gives its task up.
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
	default: // cancelled from outside
		t.lost++
		p.tracker.Kill(at, a.task, a.number)
	}
	if len(t.live) == 0 && (t.failed >= p.config.MaxFailures || t.lost >= p.config.MaxLost) {
		p.book.settle(t, nil)
		t.givenUp = true
		p.tracker.GiveUp(at, a.task)
	}
	p.book.wait(a.task, nil)
}

// cancel ends an attempt that the tracker has already taken out.
func (p *Phase) cancel(a *attempt, why *restart.Decision) {
	p.leave(a)
	p.die(a)
	p.ask(a, Cancel, why)
}

// ask gives an action for the first time. It is repeated until it is seen to have been carried out.
func (p *Phase) ask(a *attempt, op Op, why *restart.Decision) {
	a.why = why
	a.since, a.again = p.time.clock.Since, 0
	p.say(a, op)
	p.book.note(a)
}

// say gives an action.
func (p *Phase) say(a *attempt, op Op) {
	a.asked = p.time.clock.Since
	p.scratch.actions = append(p.scratch.actions, p.action(a, op))
}

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
