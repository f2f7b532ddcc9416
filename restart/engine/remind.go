package engine

import (
	"time"

	"github.com/straggler-go/straggler/restart"
)

// remind compares what was asked for with what was seen, and asks again for what is missing.
func (p *Phase) remind() {
	open := p.book.pending
	p.book.pending = nil // what is asked for from now on comes behind
	kept := open[:0]
	for _, a := range open {
		if a.pending = p.remindOf(a); a.pending {
			kept = append(kept, a)
		}
	}
	p.book.pending = append(kept, p.book.pending...)
}

// remindOf asks again for what is missing of an attempt, and reports whether it is still open. A request is repeated
// after twice the lag that was seen lately, then after twice that, and so on.
func (p *Phase) remindOf(a *attempt) bool {
	op, open := a.request(&p.book.tasks[a.task])
	if !open {
		return false
	}
	now := p.time.clock.Since
	switch {
	case op == Publish && p.restored:
		p.say(a, op)
		return true
	case a.asked == now:
		return true
	case op == Publish && !p.confirms: // it was given at the call before, and so is carried out
		a.published = true
	case op != Publish && a.again >= 2 && now-max(a.since, a.seen) >= p.missable(a) && !p.sight.isBlind(p.time.now):
		p.miss(a)
		return false
	}
	if a.published {
		return false
	}
	if a.asked == never || now-a.asked >= p.sight.patience(op, a.again) {
		if a.asked != never {
			a.again = min(a.again+1, maxDoublings)
		}
		p.say(a, op)
	}
	return true
}

// missable is for how long an attempt may be missing.
func (p *Phase) missable(a *attempt) time.Duration {
	trace := p.sight.trace(&p.config)
	if !a.dying {
		trace <<= min(p.book.tasks[a.task].untraced, maxDoublings)
	}
	return trace
}

// miss takes an attempt to be over that is missing: one that was told to end has done so; one that never arrived is
// withdrawn, and its task goes on elsewhere.
func (p *Phase) miss(a *attempt) {
	t := &p.book.tasks[a.task]
	p.hold(a.host, -1)
	wasDying := a.dying
	p.book.end(a)
	a.gone = true
	if wasDying {
		return
	}
	a.why = nil
	p.scratch.actions = append(p.scratch.actions, p.action(a, Cancel))
	if a.seen != never {
		p.lose(p.time.now, a, false, Lost)
		return
	}
	t.untraced++
	p.tracker.Kill(p.time.now, a.task, a.number)
	if len(t.live) == 0 {
		p.book.wait(a.task, restart.Decision{})
	}
}

// searchMissing looks for attempts that were seen to go on, and are in no list any more, while others are: once in a
// quarter of the time that they may be missing. O(attempts) then.
func (p *Phase) searchMissing() {
	now, trace := p.time.clock.Since, p.sight.trace(&p.config)
	if now-p.sight.checked < trace/4 || p.sight.isBlind(p.time.now) {
		return
	}
	p.sight.checked = now
	for i := range p.book.tasks {
		t := &p.book.tasks[i]
		for k := len(t.live) - 1; k >= 0; k-- {
			if a := t.live[k]; a.seen != never && p.sight.listed-a.seen >= trace {
				p.miss(a)
			}
		}
	}
}
