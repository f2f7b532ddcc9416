package engine

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
)

// code codes what the phase knows besides its tracker.
func (p *Phase) code(c *snapshot.Codec) {
	for _, b := range []*bool{&p.config.Preloaded, &p.closed, &p.moves.any} {
		c.Bool(b)
	}
	c.Number(&p.config.MaxFailures, 1, snapshot.Any)
	c.Number(&p.config.MaxLost, 1, snapshot.Any)
	hasWork := p.config.Work != nil
	if c.Bool(&hasWork); hasWork && c.In != nil {
		p.config.Work = make([]float64, len(p.book.tasks))
	}
	for i := range p.config.Work {
		c.Amount(&p.config.Work[i])
	}
	c.Clock(&p.time.clock)
	for _, t := range []*time.Time{&p.time.epoch, &p.time.now, &p.time.wall, &p.sight.seen, &p.sight.blind} {
		c.Time(t)
	}
	for _, d := range []*time.Duration{
		&p.config.Trace, &p.time.earliest, &p.sight.usual, &p.sight.arrival, &p.sight.parting, &p.sight.listed,
		&p.sight.checked, &p.moves.last, &p.moves.longest, &p.moves.decided,
	} {
		c.Duration(d)
	}
	for _, n := range []*int{
		&p.slots, &p.told, &p.ignored, &p.cloned, &p.heard.losses, &p.heard.departures, &p.log.calls,
	} {
		c.Number(n, 0, snapshot.Any)
	}
	snapshot.List(c, &p.heard.leaves, func(at *time.Time) { c.Time(at) })
	hosts := p.hosts.set.Len()
	c.Number(&hosts, 0, snapshot.Any)
	known := hosts <= p.hosts.set.Len() && len(p.heard.leaves) <= hosts
	c.Check(known, "knows hosts that Config.Hosts lacks: restore these first")
	for i := range p.book.tasks {
		if !c.OK() {
			return
		}
		p.codeTask(c, &p.book.tasks[i])
	}
	p.codeAttempts(c)
}

func (v *view) codeTask(c *snapshot.Codec, t *task) {
	for _, n := range []*int{&t.failed, &t.lost, &t.withdrawn, &t.untraced} {
		c.Number(n, 0, snapshot.Any)
	}
	for _, b := range []*bool{&t.alone, &t.waits, &t.over, &t.givenUp} {
		c.Bool(b)
	}
	snapshot.List(c, &t.tried, func(host *int) { c.Number(host, 0, v.hosts.set.Len()-1) })
	codeKept(c, &t.why)
}

// codeAttempts codes the attempts: of each task those that go on, in their order, and then the others; those with a
// request first come first.
func (v *view) codeAttempts(c *snapshot.Codec) {
	var all []*attempt
	if c.In == nil {
		for i := range v.book.tasks {
			all = append(all, v.book.tasks[i].live...)
		}
		others := slices.SortedFunc(maps.Values(v.book.attempts), func(a, b *attempt) int { return cmp.Compare(a.id, b.id) })
		all = append(all, slices.DeleteFunc(others, func(a *attempt) bool { return !a.dying && !a.ended })...)
	}
	snapshot.List(c, &all, func(a **attempt) {
		if c.In != nil {
			*a = &attempt{}
		}
		v.codeAttempt(c, *a)
	})
	if c.In != nil && c.OK() {
		for _, a := range all {
			c.Check(v.book.attempts[a.id] == nil, "names an attempt twice")
			v.book.attempts[a.id] = a
			v.book.adopted = v.book.adopted || a.adopted
		}
		v.settle(c, all)
	}
	pending := make([]string, len(v.book.pending))
	for i, a := range v.book.pending {
		pending[i] = a.id
	}
	snapshot.List(c, &pending, func(id *string) { c.Text(id) })
	if c.In == nil {
		return
	}
	for _, id := range pending {
		a := v.book.attempts[id]
		c.Check(a != nil && !a.pending, "asks for an attempt that it does not know, or twice")
		if c.OK() {
			v.book.note(a)
		}
	}
}

func (v *view) codeAttempt(c *snapshot.Codec, a *attempt) {
	c.Text(&a.id)
	c.Number(&a.task, 0, len(v.book.tasks)-1)
	c.Number(&a.number, 0, snapshot.Any)
	c.Number(&a.host, nowhere, v.hosts.set.Len()-1)
	snapshot.List(c, &a.avoid, func(name *string) { c.Text(name) })
	if c.In != nil && len(a.avoid) == 0 {
		a.avoid = nil
	}
	c.Time(&a.asOf)
	for _, d := range []*time.Duration{&a.submitted, &a.since, &a.asked, &a.seen} {
		c.Duration(d)
	}
	snapshot.Small(c, &a.again, 0, maxDoublings)
	won := a == v.book.tasks[a.task].winner
	for _, b := range []*bool{&won, &a.ahead, &a.adopted, &a.late, &a.begun, &a.dying, &a.ended, &a.gone, &a.published} {
		c.Bool(b)
	}
	if c.In != nil && won && c.OK() {
		v.book.tasks[a.task].winner = a
	}
	codeKept(c, &a.why)
}

// settle counts what follows from the attempts that were read.
func (v *view) settle(c *snapshot.Codec, all []*attempt) {
	for _, a := range all {
		t := &v.book.tasks[a.task]
		if a.ended {
			continue
		}
		v.hold(a.host, 1)
		if a.dying {
			t.dying++
			v.book.dying++
		} else {
			t.goes(a)
			v.book.live++
		}
	}
	for i := range v.book.tasks {
		t := &v.book.tasks[i]
		switch {
		case t.over:
			v.book.over++
		case t.waits:
			v.book.waiting = append(v.book.waiting, i)
		default:
			c.Check(len(t.live) > 0 || v.config.Preloaded, "holds a task that neither runs nor waits")
		}
		c.Check(!t.waits || !t.over && len(t.live) == 0, "holds a task that waits, and runs or is over")
	}
}

// codeWhy codes a decision, which most things have none of.
func codeWhy(c *snapshot.Codec, d *restart.Decision) {
	has := *d != restart.Decision{}
	if c.Bool(&has); has {
		codeDecision(c, d)
	}
}

// codeKept codes a decision that is kept by [because].
func codeKept(c *snapshot.Codec, why **restart.Decision) {
	has := *why != nil
	switch c.Bool(&has); {
	case !has:
	case c.In == nil:
		codeDecision(c, *why)
	default:
		var d restart.Decision
		codeDecision(c, &d)
		*why = because(d)
	}
}

func codeDecision(c *snapshot.Codec, d *restart.Decision) {
	snapshot.Small(c, &d.Action, 0, math.MaxUint8)
	snapshot.Small(c, &d.Reason, 0, math.MaxUint8)
	snapshot.Small(c, &d.Basis, 0, math.MaxUint8)
	c.Number(&d.Copy, 0, snapshot.Any)
	for _, t := range []*time.Duration{&d.Remaining, &d.Fresh, &d.Bar, &d.Gain} {
		c.Duration(t)
	}
	c.Real(&d.Value)
	c.Real(&d.Threshold)
	c.Number(&d.Tried, 0, snapshot.Any)
	c.Number(&d.Won, 0, d.Tried)
	machines := make([]int, d.Avoid.Len())
	for i := range machines {
		machines[i] = d.Avoid.At(i)
	}
	snapshot.List(c, &machines, func(n *int) { c.Number(n, 0, snapshot.Any) })
	if c.In != nil {
		d.Avoid = restart.Avoid(restart.Task{Tried: machines}, restart.Phase{})
	}
}
