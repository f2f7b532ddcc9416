package engine

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// decide asks the policy about what runs, and gives the free slots away: to copies first, as far as the policy wants any
// while tasks wait, then to waiting tasks, then to clones.
func (p *Phase) decide(now time.Time) {
	p.stranded(now)
	p.tellSlots(now)
	if !p.isBlind(now) {
		p.sweep(now)
		p.copies(now)
	}
	p.starts(now)
	p.clones(now)
}

// sweep carries out what the policy wants to end. A decision changes the facts for those behind it, which are asked anew;
// a Sweep with a journal does that by itself, and one without does it otherwise.
func (p *Phase) sweep(now time.Time) {
	p.numbers = p.numbers[:0]
	p.tracker.Sweep(now, func(task int, d restart.Decision) {
		if d.Action == restart.Restart || d.Action == restart.Kill {
			p.numbers = append(p.numbers, task)
		}
	})
	for _, task := range p.numbers {
		d := p.tracker.Decide(now, task)
		if (d.Action == restart.Restart || d.Action == restart.Kill) && p.giveUpCopy(now, task, d) {
			p.tellSlots(now)
		}
	}
}

// stranded cancels attempts that wait for hosts of which none is left, or for one that rests since it has lost another,
// and lets their tasks be submitted anew.
func (p *Phase) stranded(now time.Time) {
	if p.changes == p.hosts.changes {
		return
	}
	p.changes = p.hosts.changes
	usable := p.hosts.usable(now)
	for i := range p.tasks {
		t := &p.tasks[i]
		for _, a := range slices.Clone(t.live) {
			if a.begun || p.hosts.canRun(a, usable) {
				continue
			}
			p.tracker.Kill(now, i, a.number)
			p.cancel(a, restart.Decision{})
			if len(t.live) == 0 {
				p.wait(i, restart.Decision{})
			}
		}
	}
}

// tellSlots tells the tracker how many attempts may run: those that do, and as many as there is room for.
func (p *Phase) tellSlots(now time.Time) {
	slots := max(p.slots-p.dying, 0)
	if p.hosts.placing() {
		slots = p.live + p.hosts.free(now)
	}
	if slots != p.told {
		p.told = slots
		p.tracker.SetSlots(slots)
	}
}

func (p *Phase) free() int { return p.told - p.live }

// giveUpCopy carries a decision to restart or to kill out. It reports false if there is no such copy.
func (p *Phase) giveUpCopy(now time.Time, task int, d restart.Decision) bool {
	t := &p.tasks[task]
	a := t.numbered(d.Copy)
	if a == nil {
		return false
	}
	if d.Action == restart.Restart {
		p.tracker.Restart(now, task, a.number)
	} else {
		p.tracker.Kill(now, task, a.number)
	}
	p.cancel(a, d)
	if a.begun { // if not, the host has not had it yet
		p.hosts.strike(now, a.host)
	}
	if len(t.live) == 0 {
		p.wait(task, d)
	}
	return true
}

// copies submits the copies that the policy wants, the largest gain first.
func (p *Phase) copies(now time.Time) {
	p.served = slices.Grow(p.served[:0], len(p.hosts.list))[:len(p.hosts.list)]
	clear(p.served)
	for p.free() > 0 {
		host := nowhere
		if p.hosts.placing() {
			if host, _ = p.hosts.pick(now, p.wasServed, false); host == nowhere {
				return
			}
		}
		task, d := p.tracker.Next(now, host)
		switch {
		case d.Action == restart.Duplicate && p.submitCopy(now, task, host, d):
		case (d.Action == restart.Restart || d.Action == restart.Kill) && p.giveUpCopy(now, task, d):
			p.tellSlots(now)
		case host == nowhere, d.Reason == restart.NothingToDo: // no host gains any
			return
		default:
			p.served[host] = true
		}
	}
}

// wasServed reports whether no copy gains from a host.
func (p *Phase) wasServed(host int) bool { return p.served[host] }

// submitCopy submits a copy on the host that asked, or on another one if a copy of the task is there already: a policy of
// the caller's own need not say what to avoid. It reports false if there is another one, but it is full.
func (p *Phase) submitCopy(now time.Time, task, host int, d restart.Decision) bool {
	if t := &p.tasks[task]; host != nowhere && t.isOn(host) {
		other, open := p.hosts.pick(now, t.isOn, false)
		if other == nowhere && open {
			return false
		}
		if other != nowhere {
			host = other
		}
	}
	p.submit(now, task, host, d)
	return true
}
