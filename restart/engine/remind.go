package engine

import (
	"time"
)

// remind compares what was asked for with what was seen, and asks again for what is missing.
func (v *view) remind() {
	open := v.book.pending
	v.book.pending = nil // what is asked for from now on comes behind
	kept := open[:0]
	for _, a := range open {
		if a.pending = v.remindOf(a); a.pending {
			kept = append(kept, a)
		}
	}
	v.book.pending = append(kept, v.book.pending...)
}

// remindOf asks again for what is missing of an attempt, and reports whether it is still open. A request is repeated
// after twice the lag that was seen lately, then after twice that, and so on.
func (v *view) remindOf(a *attempt) bool {
	op, open := a.request(&v.book.tasks[a.task])
	if !open {
		return false
	}
	now := v.time.clock.Since
	switch {
	case a.asked == now:
		return true
	case op == Publish && v.restored: // it is not known whether it was carried out
		v.say(a, op)
		return true
	case op != Publish && a.again >= 2 && now-max(a.since, a.seen) >= v.missable(a) && !v.sight.isBlind(v.time.now):
		v.miss(a)
		return false
	}
	if a.asked == never || now-a.asked >= v.sight.patience(op, a.again) {
		if a.asked != never {
			a.again = min(a.again+1, maxDoublings)
		}
		v.say(a, op)
	}
	return true
}

// missable is for how long an attempt may be missing.
func (v *view) missable(a *attempt) time.Duration {
	trace := v.sight.trace(&v.config)
	if !a.dying {
		trace <<= min(v.book.tasks[a.task].untraced, maxDoublings)
	}
	return trace
}

// miss takes an attempt to be over that is missing: one that was told to end has done so; one that never arrived is
// withdrawn, and its task goes on elsewhere.
func (v *view) miss(a *attempt) {
	t := &v.book.tasks[a.task]
	v.hold(a.host, -1)
	wasDying := a.dying
	v.book.end(a)
	a.gone = true
	if wasDying {
		return
	}
	a.why = nil
	v.scratch.actions = append(v.scratch.actions, v.action(a, Cancel))
	if a.seen != never {
		v.lose(v.time.now, a, false, Lost)
		return
	}
	t.untraced++
	v.tracker.Kill(v.time.now, a.task, a.number)
	if len(t.live) == 0 {
		v.book.wait(a.task, nil)
	}
}

// searchMissing looks for attempts that were seen to go on, and are in no list any more, while others are: once in a
// quarter of the time that they may be missing. O(attempts) then.
func (v *view) searchMissing() {
	now, trace := v.time.clock.Since, v.sight.trace(&v.config)
	if now-v.sight.checked < trace/4 || v.sight.isBlind(v.time.now) {
		return
	}
	v.sight.checked = now
	for i := range v.book.tasks {
		t := &v.book.tasks[i]
		for k := len(t.live) - 1; k >= 0; k-- {
			if a := t.live[k]; a.seen != never && v.sight.listed-a.seen >= trace {
				v.miss(a)
			}
		}
	}
}
