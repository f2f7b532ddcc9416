package engine

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// decide asks the policy about what runs, and gives the free slots away: to copies first, as far as the policy wants
// any while tasks wait, then to waiting tasks, then to clones. Between two times of all it fills slots alone.
func (p *Phase) decide(all bool) {
	p.leavings()
	p.stranded()
	p.tellSlots()
	if all && !p.sight.isBlind(p.time.now) {
		p.moves.decided = p.time.clock.Since
		p.sweep()
		p.copies()
	}
	p.starts()
	p.clones()
}

// leavings tells the tracker which hosts leave, and when, as far as it has not been told.
func (p *Phase) leavings() {
	set, heard := p.hosts.set, &p.heard
	if heard.departures == set.Departures {
		return
	}
	heard.departures = set.Departures
	heard.leaves = append(heard.leaves, make([]time.Time, max(set.Len()-len(heard.leaves), 0))...)
	for host := range heard.leaves {
		at := set.Leaves(host)
		if heard.leaves[host].Equal(at) {
			continue
		}
		heard.leaves[host] = at
		if !at.IsZero() {
			at = p.time.now.Add(at.Sub(p.time.wall))
		}
		p.tracker.Leave(p.time.now, host, at)
	}
}

// sweep carries out what the policy wants to end. A decision changes the facts for those behind it, which are asked
// anew.
func (p *Phase) sweep() {
	p.tracker.Sweep(p.time.now, func(a tracker.Answer) {
		if (a.Action == restart.Restart || a.Action == restart.Kill) && p.giveUpCopy(a) {
			p.tellSlots()
		}
	})
}

// stranded cancels attempts that wait for hosts of which none is left, or for one that rests since it has lost another,
// and lets their tasks be submitted anew. A task that this has befallen MaxLost times keeps its place in the queue:
// hosts that go down and come back do not have it submitted for ever.
func (p *Phase) stranded() {
	if p.heard.losses == p.hosts.set.Losses {
		return
	}
	p.heard.losses = p.hosts.set.Losses
	for i := range p.book.tasks {
		t := &p.book.tasks[i]
		for _, a := range slices.Clone(t.live) {
			if a.begun || p.canRun(a) || len(t.live) == 1 && t.withdrawn >= p.config.MaxLost {
				continue
			}
			if p.drop(a, restart.Decision{}); len(t.live) == 0 {
				t.withdrawn++
			}
		}
	}
}

// canRun reports whether there is a host that is up on which the attempt may run; also if no host is known. One that
// was submitted to a host waits for that alone.
func (v *view) canRun(a *attempt) bool {
	if a.host != nowhere {
		return v.hosts.set.Eligible(a.host)
	}
	return v.hosts.set.AnyUp(a.avoid)
}

// tellSlots tells the tracker how many attempts may run: those that do, and as many as there is room for.
func (p *Phase) tellSlots() {
	if p.closed {
		return
	}
	slots := max(p.slots-p.book.dying, 0)
	if p.hosts.set.Placing() {
		slots = p.book.live + p.hosts.set.Room()
	}
	if slots != p.told {
		p.told = slots
		p.tracker.SetSlots(slots)
	}
}

func (p *Phase) free() int { return p.told - p.book.live }

// giveUpCopy carries a decision to restart or to kill out. It reports false if there is no such copy.
func (p *Phase) giveUpCopy(answer tracker.Answer) bool {
	a := p.book.tasks[answer.Task].numbered(answer.Attempt)
	if a == nil {
		return false
	}
	p.drop(a, answer.Decision)
	return true
}

// drop cancels an attempt that goes on, and lets its task wait if it was the only one.
func (p *Phase) drop(a *attempt, why restart.Decision) {
	if why.Action == restart.Restart {
		p.tracker.Restart(p.time.now, a.task, a.number)
	} else {
		p.tracker.Kill(p.time.now, a.task, a.number)
	}
	kept := because(why)
	p.cancel(a, kept)
	if len(p.book.tasks[a.task].live) == 0 {
		p.book.wait(a.task, kept)
	}
}

// copies submits the copies that the policy wants, the largest gain first.
func (p *Phase) copies() {
	p.offer(func() bool { return true }, func(a tracker.Answer, host int) (taken, over bool) {
		switch {
		case a.Action == restart.Duplicate && p.submitCopy(a.Task, host, a.Decision):
		case (a.Action == restart.Restart || a.Action == restart.Kill) && p.giveUpCopy(a):
			p.tellSlots()
		default:
			return false, p.refused(a.Reason)
		}
		return true, false
	})
}

// offer asks the tracker about the free slots, one host after the other, as long as more are wanted. A host whose answer
// is not taken is asked no more, unless it is over with all.
func (p *Phase) offer(wants func() bool, take func(a tracker.Answer, host int) (taken, over bool)) {
	p.scratch.served = p.scratch.served[:0]
	for wants() && p.free() > 0 {
		host := nowhere
		if p.hosts.set.Placing() {
			if host, _ = p.hosts.set.Pick(func(int) bool { return false }, false); host == nowhere {
				break
			}
		}
		taken, over := take(p.tracker.Next(p.time.now, host), host)
		if !taken && (over || host == nowhere) {
			break
		}
		if !taken {
			p.scratch.served = append(p.scratch.served, host)
			p.hosts.set.Hide(host, true)
		}
	}
	for _, host := range p.scratch.served {
		p.hosts.set.Hide(host, false)
	}
}

// refused reports whether no other host would get a copy either, so that none is asked: a poll in which each idle host
// is asked about each straggler takes seconds once there are a thousand of both.
func (p *Phase) refused(why restart.Reason) bool {
	switch why {
	case restart.NothingToDo, restart.CapReached, restart.NoFreeSlot:
		return true
	}
	return p.config.Budget != nil && !p.config.Budget.Allows() // where tasks wait, the answer is to start one
}

// submitCopy submits a copy on the host that asked, or on another one if a copy of the task is there already: a policy
// of the caller's own need not say what to avoid. It reports false if there is another one, but it is full.
func (p *Phase) submitCopy(task, host int, d restart.Decision) bool {
	if t := &p.book.tasks[task]; host != nowhere && t.isOn(host) {
		other, open := p.hosts.set.Pick(t.isOn, false)
		if other == nowhere && open {
			return false
		}
		if other != nowhere {
			host = other
		}
	}
	p.submit(task, host, because(d))
	return true
}
