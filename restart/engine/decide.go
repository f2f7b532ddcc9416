package engine

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// decide asks the policy about what runs, and gives the free slots away: to copies first, as far as the policy wants
// any while tasks wait, then to waiting tasks, then to clones.
func (p *Phase) decide() {
	p.leavings()
	p.stranded()
	p.tellSlots()
	if !p.isBlind() {
		p.sweep()
		p.copies()
	}
	p.starts()
	p.clones()
}

// leavings tells the tracker which hosts leave, and when, as far as it has not been told.
func (p *Phase) leavings() {
	if p.left == p.hosts.leaving {
		return
	}
	p.left = p.hosts.leaving
	p.leaves = append(p.leaves, make([]time.Time, max(len(p.hosts.list)-len(p.leaves), 0))...)
	for host := range p.hosts.list {
		at := p.hosts.list[host].leaves
		if p.leaves[host].Equal(at) {
			continue
		}
		p.leaves[host] = at
		if !at.IsZero() {
			at = p.now.Add(at.Sub(p.wall))
		}
		p.tracker.Leave(p.now, host, at)
	}
}

// sweep carries out what the policy wants to end. A decision changes the facts for those behind it, which are asked
// anew.
func (p *Phase) sweep() {
	p.tracker.Sweep(p.now, func(a tracker.Answer) {
		if (a.Action == restart.Restart || a.Action == restart.Kill) && p.giveUpCopy(a) {
			p.tellSlots()
		}
	})
}

// stranded cancels attempts that wait for hosts of which none is left, or for one that rests since it has lost another,
// and lets their tasks be submitted anew. A task that this has befallen MaxLost times keeps its place in the queue:
// hosts that go down and come back do not have it submitted for ever.
func (p *Phase) stranded() {
	if p.changes == p.hosts.changes {
		return
	}
	p.changes = p.hosts.changes
	for i := range p.tasks {
		t := &p.tasks[i]
		for _, a := range slices.Clone(t.live) {
			if a.begun || p.hosts.canRun(a) || len(t.live) == 1 && t.withdrawn >= p.config.MaxLost {
				continue
			}
			p.tracker.Kill(p.now, i, a.number)
			p.cancel(a, restart.Decision{})
			if len(t.live) == 0 {
				t.withdrawn++
				p.wait(i, restart.Decision{})
			}
		}
	}
}

// tellSlots tells the tracker how many attempts may run: those that do, and as many as there is room for.
func (p *Phase) tellSlots() {
	if p.closed {
		return
	}
	slots := max(p.slots-p.dying, 0)
	if p.hosts.placing() {
		slots = p.live + p.hosts.sums.room
	}
	if slots != p.told {
		p.told = slots
		p.tracker.SetSlots(slots)
	}
}

func (p *Phase) free() int { return p.told - p.live }

// giveUpCopy carries a decision to restart or to kill out. It reports false if there is no such copy.
func (p *Phase) giveUpCopy(answer tracker.Answer) bool {
	task, d := answer.Task, answer.Decision
	t := &p.tasks[task]
	a := t.numbered(answer.Attempt)
	if a == nil {
		return false
	}
	if d.Action == restart.Restart {
		p.tracker.Restart(p.now, task, a.number)
	} else {
		p.tracker.Kill(p.now, task, a.number)
	}
	p.cancel(a, d)
	if len(t.live) == 0 {
		p.wait(task, d)
	}
	return true
}

// copies submits the copies that the policy wants, the largest gain first.
func (p *Phase) copies() {
	p.served = p.served[:0]
	defer p.showServed()
	for p.free() > 0 {
		host := nowhere
		if p.hosts.placing() {
			if host, _ = p.hosts.pick(nobody, false); host == nowhere {
				return
			}
		}
		d := p.tracker.Next(p.now, host)
		switch {
		case d.Action == restart.Duplicate && p.submitCopy(d.Task, host, d.Decision):
		case (d.Action == restart.Restart || d.Action == restart.Kill) && p.giveUpCopy(d):
			p.tellSlots()
		case host == nowhere, p.refused(d.Reason):
			return
		default:
			p.served = append(p.served, host)
			p.hosts.hide(host, true)
		}
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

func (p *Phase) showServed() {
	for _, host := range p.served {
		p.hosts.hide(host, false)
	}
}

// nobody is skipped.
func nobody(int) bool { return false }

// submitCopy submits a copy on the host that asked, or on another one if a copy of the task is there already: a policy
// of the caller's own need not say what to avoid. It reports false if there is another one, but it is full.
func (p *Phase) submitCopy(task, host int, d restart.Decision) bool {
	if t := &p.tasks[task]; host != nowhere && t.isOn(host) {
		other, open := p.hosts.pick(t.isOn, false)
		if other == nowhere && open {
			return false
		}
		if other != nowhere {
			host = other
		}
	}
	p.submit(task, host, d)
	return true
}
