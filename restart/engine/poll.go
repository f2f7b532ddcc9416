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
	return p.answer(p.moves.decided == never || p.time.clock.Since-p.moves.decided >= p.config.Interval)
}

// Close ends the phase, done or not, and returns the actions that cancel what still runs: none if it is done. Its
// tracker closes, so that the phase holds nothing of a shared Budget or record of machines any more; see
// tracker.Tracker.Close. From now on it is Done and submits nothing. Go on with Poll, or call [Phase.Release], so
// that its hosts are free for others: what is cancelled holds its slot until it is seen to end. To close again does
// nothing. The actions hold until the next call. O(n) in the number of tasks.
func (p *Phase) Close(now time.Time) []Action {
	p.start(now, nil)
	p.close()
	p.log.note(p)
	p.restored = false
	return p.scratch.actions
}

func (p *Phase) close() {
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
	p.closed, p.told = true, 0
}

// start begins a call.
func (p *Phase) start(now time.Time, told []Attempt) {
	p.ready()
	s := &p.scratch
	clear(s.actions)
	s.actions, s.events = s.actions[:0], s.events[:0]
	clear(s.chosen)
	if !p.time.clock.Begun {
		p.compareClocks(now, told)
	}
	if p.time.tick(now, p.past(now, told)) {
		p.hosts.set.ForgetClocks()
	}
}

// compareClocks looks, at the first call of an engine that dates progress, for hosts that run something and have dated
// nothing for long. Either their attempts are silent, or the clock is behind; as long as that can't be told, the last
// date counts as that of just now: a silent one is noticed a little later for it, and healthy ones are not killed.
func (v *view) compareClocks(now time.Time, told []Attempt) {
	type host struct {
		latest time.Time
		runs   bool
	}
	var known []host // those that are not known come first
	reports := false
	for i := range told {
		a := &told[i]
		if !valid(a, len(v.book.tasks)) || a.State == Queued {
			continue
		}
		n := v.hosts.number(a.Host) + 1
		known = append(known, make([]host, max(n+1-len(known), 0))...)
		known[n].runs = known[n].runs || a.State == Running
		reports = reports || !a.AsOf.IsZero()
		for _, t := range [...]time.Time{a.Begun, a.Ended, a.AsOf} {
			if t.After(known[n].latest) {
				known[n].latest = t
			}
		}
	}
	for n, h := range known {
		if reports && h.runs && !h.latest.IsZero() && now.Sub(h.latest)/gap > v.config.Interval {
			v.hosts.set.Clock(n-1).Tell(inRange(h.latest), now.Add(-v.config.Interval), time.Time{})
		}
	}
}

// past returns how far what is told at the first call goes back.
func (v *view) past(now time.Time, told []Attempt) (past time.Duration) {
	if v.time.clock.Begun || now.IsZero() {
		return 0
	}
	for i := range told {
		if valid(&told[i], len(v.book.tasks)) {
			for _, t := range [...]time.Time{told[i].Begun, told[i].Ended, told[i].AsOf} {
				if !t.IsZero() {
					past = max(past, now.Sub(inRange(t)))
				}
			}
		}
	}
	return past
}

// take takes what is told to the books, in the order of its times.
func (v *view) take(told []Attempt) {
	for i := range told {
		v.note(&told[i])
	}
	events := v.scratch.events
	if !slices.IsSortedFunc(events, before) {
		slices.SortFunc(events, before)
	}
	for i := range events {
		v.happen(&events[i])
	}
	// What is overtaken by one line may have ended by another.
	v.scratch.actions = slices.DeleteFunc(v.scratch.actions, func(a Action) bool {
		return a.Op == Cancel && v.book.attempts[a.ID].ended
	})
}

// answer decides, everything or only what fills the slots that have become free, and returns the actions of the call.
func (p *Phase) answer(all bool) []Action {
	p.scratch.slow = p.hosts.record.AppendAvoid(p.scratch.slow[:0])
	p.hosts.set.Settle(p.time.wall, p.scratch.slow)
	p.remind()
	p.decide(all)
	p.log.note(p)
	p.restored = false
	return p.scratch.actions
}

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

// overtaken is why the other attempts of a finished task end.
func overtaken() *restart.Decision {
	return &restart.Decision{Action: restart.Kill, Reason: restart.Overtaken}
}

// end takes note that an attempt has ended.
func (v *view) end(at time.Time, a *attempt, seen *Attempt) {
	if a.ended {
		return
	}
	wasDying := a.dying
	if wasDying {
		took(&v.sight.parting, v.time.clock.Since-a.since)
	}
	v.hold(a.host, -1)
	v.book.end(a)
	v.moves.move(v.time.clock.Since)
	t := &v.book.tasks[a.task]
	chosen, some := v.scratch.chosen[a.task]
	switch {
	case t.over && seen.Published && !t.givenUp && !v.closed:
		t.winner, a.published = a, true
	case t.over:
	case seen.State == Succeeded && some && chosen != a.id: // another attempt's result is published
		v.lose(at, a, wasDying, Cancelled)
	case seen.State == Succeeded:
		v.succeed(at, a, wasDying, seen.Published)
	default:
		v.lose(at, a, wasDying, seen.State)
	}
}

// succeed ends a task. The result of an attempt that was cancelled is as good as any if it comes first; the tracker, to
// which that attempt has ended, is told of one more, which leaves no sample; so also where its age is not known.
func (v *view) succeed(at time.Time, a *attempt, wasDying, published bool) {
	t := &v.book.tasks[a.task]
	if a.late && !wasDying {
		v.tracker.Kill(at, a.task, a.number)
	}
	if wasDying || a.late {
		a.number = v.tracker.Submit(at, a.task, a.host)
	}
	v.tracker.Finish(at, a.task, a.number)
	v.book.settle(t, a)
	if a.published = published; !published {
		v.ask(a, Publish, nil)
	}
	for len(t.live) > 0 {
		v.cancel(t.live[0], overtaken())
	}
}

// lose makes up for an attempt that ended without a result, or gives its task up. One that was told to end was made up
// for then.
func (v *view) lose(at time.Time, a *attempt, wasDying bool, state State) {
	if wasDying {
		return
	}
	t := &v.book.tasks[a.task]
	switch state {
	case Failed:
		t.failed++
		v.tracker.Fail(at, a.task, a.number)
	case Lost:
		t.lost++
		v.tracker.Fail(at, a.task, a.number)
		if a.host != nowhere {
			v.hosts.set.Lose(a.host, v.time.wall)
		}
	default: // cancelled from outside
		t.lost++
		v.tracker.Kill(at, a.task, a.number)
	}
	switch {
	case len(t.live) > 0:
	case t.failed >= v.config.MaxFailures || t.lost >= v.config.MaxLost:
		v.book.settle(t, nil)
		t.givenUp = true
		v.tracker.GiveUp(at, a.task)
	default:
		v.book.wait(a.task, nil)
	}
}

// cancel ends an attempt that the tracker has already taken out.
func (v *view) cancel(a *attempt, why *restart.Decision) {
	v.book.leave(a)
	v.book.die(a)
	v.ask(a, Cancel, why)
}

// ask gives an action for the first time. It is repeated until it is seen to have been carried out.
func (v *view) ask(a *attempt, op Op, why *restart.Decision) {
	a.why = why
	a.since, a.again = v.time.clock.Since, 0
	v.say(a, op)
	v.book.note(a)
}

// say gives an action.
func (v *view) say(a *attempt, op Op) {
	a.asked = v.time.clock.Since
	v.scratch.actions = append(v.scratch.actions, v.action(a, op))
}

func (v *view) action(a *attempt, op Op) Action {
	action := Action{Op: op, Task: a.task, ID: a.id, Host: v.hosts.set.Name(a.host)}
	if op == Submit {
		action.Avoid = a.avoid
	}
	if a.why != nil {
		action.Decision = *a.why
	}
	return action
}
