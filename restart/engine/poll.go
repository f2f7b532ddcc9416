package engine

import (
	"slices"
	"time"
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
