package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

const phaseVersion = 9

// AppendBinary appends a snapshot of the phase to dst: all that it observed and has in hand, except what the machine gave
// it, which [Restore] takes again. It never fails. O(n log n), some 200 bytes a task.
func (p *Phase) AppendBinary(dst []byte) ([]byte, error) {
	p.ready()
	return snapshot.Append(dst, phaseVersion, func(c *snapshot.Codec) { p.code(c, tracker.Config{}) })
}

// MarshalBinary returns a snapshot; see [Phase.AppendBinary].
func (p *Phase) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }

// Saved is what a machine keeps of a phase.
type Saved struct {
	// Snapshot is that of [Phase.AppendBinary].
	Snapshot []byte
	// Journal is that of [Phase.Journal] at the moment of the snapshot, or nil: then that of the restored phase begins
	// there, and can be read by [journal.Resume] alone. It is read if Config.Journal is set.
	Journal []byte
}

// Restore returns the phase of a snapshot: it answers as if it had never stopped, and takes what the engine shows next.
// Of the configuration it takes Machines, which were written with or after the snapshot and restored before it, Order, Journal,
// OnEvent, and what tracker.Restore takes, with an error for what was not nil and is; all else stands in the snapshot. If
// the Machines are those that still hold the phase as it was, call its Release first, or its slots count twice. What is not a
// snapshot is an error. O(n log n).
//
// What is [Phase.Outstanding] then may or may not have been carried out. Poll asks again for what is missing, so there
// is nothing to do but go on.
func Restore(c Config, saved Saved) (*Phase, error) {
	c.Machines = c.Machines.fill()
	p := &Phase{config: c, machines: c.Machines, restored: true}
	if c.Journal {
		p.recorder, p.recorded = new(journal.Recorder), saved.Journal
	}
	in := snapshot.Codec{In: snapshot.NewReader("restart/engine: Phase", phaseVersion, saved.Snapshot)}
	p.code(&in, c.tracker(p.observe))
	if err := in.In.Close(); err != nil {
		return nil, err
	}
	return p, nil
}

// tracked codes the phase's tracker as a part.
type tracked struct {
	p      *Phase
	config tracker.Config // to restore it
}

func (t tracked) AppendBinary(dst []byte) ([]byte, error) { return t.p.tracker.AppendBinary(dst) }

func (t tracked) UnmarshalBinary(data []byte) (err error) {
	t.p.tracker, err = tracker.Restore(t.config, data)
	return err
}

// code codes the phase. The configuration is that of the tracker that is read.
func (p *Phase) code(c *snapshot.Codec, config tracker.Config) {
	c.Part(tracked{p, config})
	hasOrder, hasWork := p.config.Order != nil, p.config.Work != nil
	c.All(&hasOrder, &hasWork)
	if c.Reading() {
		if hasOrder && p.config.Order == nil {
			c.In.Fail(check.Bad(place, "Order", nil, "the one that the phase had, or another"))
		}
		was := p.tracker.Config()
		p.config.Tasks, p.config.Interval, p.config.Clones = was.Tasks, was.Interval, was.Clones
		p.config.Policy, p.config.Budget = was.Policy, was.Budget
		p.book = newBook(was.Tasks)
		if hasWork {
			p.config.Work = make([]float64, was.Tasks)
		}
	}
	for i := range p.config.Work {
		c.Amount(&p.config.Work[i])
	}
	c.Number(&p.config.MaxFailures, 1, snapshot.Any)
	c.Number(&p.config.MaxLost, 1, snapshot.Any)
	c.Clock(&p.time.clock)
	c.All(
		&p.config.Preloaded, &p.config.Trace, &p.closed, &p.slots, &p.told, &p.ignored,
		&p.time.epoch, &p.time.now, &p.time.wall, &p.time.earliest,
		&p.sight.seen, &p.sight.blind, &p.sight.usual, &p.sight.arrival, &p.sight.parting, &p.sight.listed, &p.sight.checked,
		&p.decided, &p.heard.losses, &p.heard.departures,
	)
	snapshot.List(c, &p.heard.leaves, func(at *time.Time) { c.Time(at) })
	machines := p.machines.set.Len()
	c.All(&machines)
	known := machines <= p.machines.set.Len() && len(p.heard.leaves) <= machines
	c.Check(known, "knows machines that Config.Machines lacks: restore these first")
	for i := range p.book.tasks {
		if !c.OK() {
			return
		}
		p.codeTask(c, &p.book.tasks[i])
	}
	p.codeAttempts(c)
}

func (p *Phase) codeTask(c *snapshot.Codec, t *task) {
	c.All(&t.failed, &t.lost, &t.withdrawn, &t.untraced, &t.alone, &t.waits, &t.over, &t.givenUp)
	snapshot.List(c, &t.tried, func(machine *int) { c.Number(machine, 0, p.machines.set.Len()-1) })
	codeWhy(c, &t.why, t.waits)
}

// codeAttempts codes the attempts: first those with a request, in their order.
func (p *Phase) codeAttempts(c *snapshot.Codec) {
	byName := func(a, b *attempt) int { return cmp.Compare(a.id, b.id) }
	others := slices.SortedFunc(maps.Values(p.book.attempts), byName)
	others = slices.DeleteFunc(others, func(a *attempt) bool { return a.pending })
	all := slices.Concat(p.book.pending, others)
	snapshot.List(c, &all, func(a **attempt) {
		if c.In != nil {
			*a = &attempt{}
		}
		p.codeAttempt(c, *a)
	})
	if c.Reading() {
		p.settle(c, all)
	}
}

func (p *Phase) codeAttempt(c *snapshot.Codec, a *attempt) {
	c.Number(&a.task, 0, len(p.book.tasks)-1)
	c.Number(&a.number, 0, snapshot.Any)
	c.Number(&a.machine, nowhere, p.machines.set.Len()-1)
	snapshot.List(c, &a.avoid, func(name *string) { c.Text(name) })
	if c.In != nil && len(a.avoid) == 0 {
		a.avoid = nil
	}
	snapshot.Small(c, &a.again, 0, maxDoublings)
	won := c.OK() && a == p.book.tasks[a.task].winner
	c.All(
		&a.id, &won, &a.asOf, &a.submitted, &a.since, &a.asked, &a.seen, &a.pending,
		&a.ahead, &a.adopted, &a.late, &a.begun, &a.dying, &a.ended, &a.gone, &a.published,
	)
	if c.Reading() && won {
		p.book.tasks[a.task].winner = a
	}
	codeWhy(c, &a.why, a.pending || a.gone)
}

// settle makes what follows from the attempts that were read.
func (p *Phase) settle(c *snapshot.Codec, all []*attempt) {
	b := &p.book
	for _, a := range all {
		c.Check(b.attempts[a.id] == nil, "names an attempt twice")
		b.attempts[a.id] = a
		b.adopted = b.adopted || a.adopted
		if a.pending {
			b.pending = append(b.pending, a)
		}
		t := &b.tasks[a.task]
		switch {
		case a.ended:
			continue
		case a.dying:
			t.dying++
			b.dying++
		default:
			t.live = append(t.live, a)
			b.live++
		}
		p.hold(a.machine, 1)
	}
	for i := range b.tasks {
		t := &b.tasks[i]
		slices.SortFunc(t.live, func(a, b *attempt) int { return cmp.Compare(a.number, b.number) })
		switch {
		case t.over:
			b.over++
		case t.waits:
			b.waiting = append(b.waiting, i)
		default:
			c.Check(len(t.live) > 0 || p.config.Preloaded, "holds a task that neither runs nor waits")
		}
		c.Check(!t.waits || !t.over && len(t.live) == 0, "holds a task that waits, and runs or is over")
	}
}

// codeWhy codes the decision for which something is asked, as its JSON, as long as it may be given again.
func codeWhy(c *snapshot.Codec, why **restart.Decision, again bool) {
	text := ""
	if again && *why != nil {
		json, _ := (*why).MarshalJSON() // none for a reason that a policy made up
		text = string(json)
	}
	c.Text(&text)
	if c.Reading() && text != "" {
		*why = new(restart.Decision)
		c.In.Fail((*why).UnmarshalJSON([]byte(text)))
	}
}
