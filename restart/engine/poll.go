package engine

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// Poll receives a list of the attempts that the engine shows now, and returns what to do. Call it every
// Interval, and also as soon as an attempt ends.
//
// The list should contain every attempt that waits or runs. It should also contain each ended attempt, until a
// snapshot of the phase that includes the end has been saved. An attempt that is missing from the list keeps its
// state until Config.Trace has passed. An attempt with an unknown ID is adopted: the phase manages it from then on as
// if it had submitted it. A Preloaded phase adopts an attempt only when it no longer waits. A report that makes no
// sense is ignored, and is added to [tracker.Ledger.Ignored].
//
// The same calls return the same actions. The result depends on the order of the list, so sort a list whose order is
// random. If the caller's clock is set back, no time passes.
//
// [tracker.Ledger.Ignored]: https://pkg.go.dev/github.com/straggler-go/straggler/restart/tracker#Ledger
func (p *Phase) Poll(now time.Time, list []Attempt) Turn {
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

// Push receives events of attempts, and returns what to do. It is for an engine that cannot list its
// attempts. An event is an Attempt with the new state of one attempt. An attempt without an event keeps its state.
// Call Push with each new event, and every Interval even without events. The policy is asked about the running
// attempts once in each Interval. O(events), and once in each Interval one decision for each running attempt.
func (p *Phase) Push(now time.Time, events []Attempt) Turn {
	p.start(now, events)
	p.timing.notePoll(p.time.now, p.config.Interval)
	p.applyAll(events)
	return p.decideAndAnswer(p.decided == never || p.time.clock.Since-p.decided >= p.config.Interval)
}

// Close ends the phase, whether its tasks are done or not, and returns the actions that cancel the attempts that
// still run. If the phase is done, there are none. Close also closes the tracker, so that the phase no longer uses a
// part of a shared Budget or record of machines; see tracker.Tracker.Close. After Close the phase is Done and submits
// nothing.
//
// A cancelled attempt occupies its slot until it is seen to end. So either continue to call Poll, or call
// [Phase.Release] to free the phase's machines for other phases. A second Close does nothing. O(n) for n tasks.
func (p *Phase) Close(now time.Time) Turn {
	p.start(now, nil)
	for _, t := range p.book.all {
		p.cancelAll(t, nil)
		if !t.over {
			p.book.endTask(t, nil)
		}
	}
	p.tracker.Close(p.time.now)
	p.closed, p.told, p.restored = true, 0, false
	return p.turn()
}

// start begins a call: it clears the scratch memory and sets the time of the call.
func (p *Phase) start(now time.Time, told []Attempt) {
	p.ready()
	s := &p.scratch
	if clear(s.actions); cap(s.actions)/64 > max(len(s.actions), 16) {
		s.actions = nil // the first poll of a large phase has far more actions than the others
	}
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

// compareClocks returns the time from the earliest event of the first call until now.
//
// It also looks for machines that run attempts and have reported no time in the last five (gap) intervals. It does so
// only if the engine reports times of progress. Such a machine has silent attempts, or its clock is behind. Nobody
// can tell which of both is true. So the latest reported time of the machine is treated as one interval ago. Then a
// silent attempt is noticed a little later, and a healthy attempt is not killed.
func (p *Phase) compareClocks(now time.Time, told []Attempt) (past time.Duration) {
	type machine struct {
		latest time.Time
		runs   bool
	}
	// The index is the machine number + 1; index 0 is for unknown machines.
	var known []machine
	reports := false
	for i := range told {
		a := &told[i]
		if !p.valid(a) {
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

// applyAll turns the reports into events, and applies the events in the order of their times.
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
	clear(events) // else the events would keep the host's lists in memory
	// One report of the list may lead to a Cancel of an attempt whose end is in another report.
	p.scratch.actions = slices.DeleteFunc(p.scratch.actions, func(a Action) bool {
		of := p.book.attempts[a.ID] // nil if its task was forgotten
		return a.Op == Cancel && of != nil && of.ended
	})
}

// decideAndAnswer makes the decisions of a call and returns what to do. If all is true, the policy is asked about
// every running attempt. If all is false, only free slots are filled.
func (p *Phase) decideAndAnswer(all bool) Turn {
	p.scratch.slow = p.machines.knowledge.Machines().AppendAvoid(p.scratch.slow[:0])
	p.machines.set.Settle(p.time.wall, p.scratch.slow)
	p.repeatRequests()
	p.decide(all)
	p.forgetLeaving()
	p.restored = false
	return p.turn()
}

// turn returns what a call has to say. O(tasks that rest or were given up since the last call).
func (p *Phase) turn() Turn {
	s := &p.scratch
	s.rests, s.givenUp = p.listRests(s.rests), append(s.givenUp[:0], p.book.news...)
	p.book.news = p.book.news[:0]
	slices.Sort(s.givenUp)
	return Turn{s.actions, s.rests, s.givenUp}
}

// listRests lists the tasks that wait for the end of their back-off, and of which no cancelled attempt runs. The result uses
// the memory of the argument list.
func (p *Phase) listRests(list []Rest) []Rest {
	list = list[:0]
	for _, i := range p.book.resting {
		if t := p.book.task(i); t.resting && t.dying == 0 {
			list = append(list, Rest{i, int(t.failed), max(num.Sub(t.rests, p.time.clock.Since), 0)})
		}
	}
	return list
}

// cancel cancels an attempt that has already ended for the tracker.
func (p *Phase) cancel(a *attempt, why *restart.Decision) {
	p.markDying(a)
	p.ask(a, Cancel, why)
}

// cancelAll cancels the live attempts of a task, the oldest first.
func (p *Phase) cancelAll(t *task, why *restart.Decision) {
	p.scratch.live = t.live(p.scratch.live)
	for _, a := range p.scratch.live {
		p.cancel(a, why)
	}
}

// ask makes a request for the first time. The request is repeated until the engine shows it as carried out.
func (p *Phase) ask(a *attempt, op Op, why *restart.Decision) {
	a.why = why
	a.firstAsked, a.repeats = p.time.clock.Since, 0
	p.emit(a, op)
	p.book.addPending(a)
}

// emit adds a request to the actions of this call.
func (p *Phase) emit(a *attempt, op Op) {
	a.lastAsked = p.time.clock.Since
	p.scratch.actions = append(p.scratch.actions, p.action(a, op))
}

// action returns a request about an attempt as an Action.
func (p *Phase) action(a *attempt, op Op) Action {
	action := Action{Op: op, Task: a.task, Attempt: a.number, ID: a.id, Machine: p.machines.set.Name(a.machine)}
	if op == Submit {
		action.Avoid = a.avoid
	}
	if a.why != nil {
		action.Decision = *a.why
	}
	return action
}
