package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

const phaseVersion = 4

// AppendBinary appends a snapshot of the phase to dst: all that it observed and has in hand, except what the host gave
// it, which [Restore] takes again. It never fails. O(n log n), some 200 bytes a task.
func (p *Phase) AppendBinary(dst []byte) ([]byte, error) {
	p.ready()
	c := snapshot.Codec{Dst: append(dst, phaseVersion)}
	c.Part(tracked{p})
	hasOrder := p.config.Order != nil
	c.Bool(&hasOrder)
	p.code(&c)
	return snapshot.Seal(c.Dst, len(dst)), nil
}

// MarshalBinary returns a snapshot; see [Phase.AppendBinary].
func (p *Phase) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }

// Restore returns the phase of a snapshot: it answers as if it had never stopped, and takes what the engine shows
// next. Of the configuration it takes Hosts, which were written with or after the phase and restored before it,
// Order, and what [tracker.Restore] takes, with an error for what was not nil and is; all else stands in the
// snapshot. If the Hosts are those that still hold the phase as it was, call its Release first, or its slots count
// twice. What is not a snapshot is an error. O(n log n).
//
// A restored phase keeps no journal, since that begins with its phase, and Config.Journal is an error. Take the
// Journal's text with the snapshot; what comes after it can be kept by a [journal.Recorder] whose Observe stands in
// Config.Observe, and read by
// [journal.Resume] of the tracker alone.
func Restore(c Config, data []byte) (*Phase, error) {
	if c.Journal {
		return nil, badField("Config.Journal", true, "false: a journal begins with its phase")
	}
	if c.Hosts == nil {
		c.Hosts = &Hosts{}
	}
	c.Hosts.fill()
	if c.Record == nil {
		c.Record = c.Hosts.record
	}
	if c.Record != c.Hosts.record {
		return nil, badField("Config.Record", "another than that of Hosts", "nil: give it to HostsConfig.Record")
	}
	p := &Phase{config: c, hosts: c.Hosts, attempts: map[string]*attempt{}}
	in := snapshot.Codec{In: snapshot.NewReader("restart/engine: Phase", phaseVersion, data)}
	in.Part(tracked{p})
	hadOrder := false
	if in.Bool(&hadOrder); hadOrder && c.Order == nil {
		return nil, badField("Config.Order", "nil", "the one that the phase had, or another")
	}
	if in.OK() {
		p.config.Config = p.tracker.Config()
		p.tasks = make([]task, p.config.Tasks)
		p.code(&in)
	}
	if err := in.In.Close(); err != nil {
		return nil, err
	}
	return p, nil
}

// tracked codes the phase's tracker as a part.
type tracked struct{ p *Phase }

func (t tracked) AppendBinary(dst []byte) ([]byte, error) { return t.p.tracker.AppendBinary(dst) }

func (t tracked) UnmarshalBinary(data []byte) (err error) {
	t.p.tracker, err = tracker.Restore(t.p.config.Config, data)
	return err
}

// code codes what the phase knows besides its tracker.
func (p *Phase) code(c *snapshot.Codec) {
	c.Bool(&p.config.Queued)
	c.Bool(&p.closed)
	c.Number(&p.config.MaxFailures, 1, snapshot.Any)
	c.Number(&p.config.MaxLost, 1, snapshot.Any)
	hasWork := p.config.Work != nil
	if c.Bool(&hasWork); hasWork && c.In != nil {
		p.config.Work = make([]float64, len(p.tasks))
	}
	for i := range p.config.Work {
		c.Amount(&p.config.Work[i])
	}
	c.Clock(&p.clock)
	for _, t := range []*time.Time{&p.epoch, &p.now, &p.wall, &p.seen, &p.blind} {
		c.Time(t)
	}
	c.Duration(&p.earliest)
	c.Duration(&p.usual)
	for _, n := range []*int{&p.slots, &p.told, &p.ignored, &p.changes, &p.cloned, &p.left} {
		c.Number(n, 0, snapshot.Any)
	}
	snapshot.List(c, &p.leaves, leastTime, func(at *time.Time) { c.Time(at) })
	hosts := len(p.hosts.list)
	c.Number(&hosts, 0, snapshot.Any)
	c.Check(hosts <= len(p.hosts.list), "knows hosts that Config.Hosts lacks: restore these first")
	for i := range p.tasks {
		if !c.OK() {
			return
		}
		p.codeTask(c, &p.tasks[i])
	}
	snapshot.List(c, &p.waiting, 1, func(n *int) { c.Number(n, 0, len(p.tasks)-1) })
	p.codeAttempts(c)
}

func (p *Phase) codeTask(c *snapshot.Codec, t *task) {
	c.Number(&t.failed, 0, snapshot.Any)
	c.Number(&t.lost, 0, snapshot.Any)
	c.Number(&t.withdrawn, 0, snapshot.Any)
	for _, b := range []*bool{&t.alone, &t.waits, &t.over, &t.givenUp} {
		c.Bool(b)
	}
	snapshot.List(c, &t.tried, 1, func(host *int) { c.Number(host, 0, len(p.hosts.list)-1) })
	hasWhy := t.why != restart.Decision{}
	if c.Bool(&hasWhy); hasWhy {
		codeDecision(c, &t.why)
	}
}

// codeAttempts codes the attempts: of each task those that go on, in their order, and then the others.
func (p *Phase) codeAttempts(c *snapshot.Codec) {
	var all []*attempt
	if c.In == nil {
		for i := range p.tasks {
			all = append(all, p.tasks[i].live...)
		}
		others := slices.SortedFunc(maps.Values(p.attempts), func(a, b *attempt) int { return cmp.Compare(a.id, b.id) })
		all = append(all, slices.DeleteFunc(others, func(a *attempt) bool { return !a.dying && !a.ended })...)
	}
	snapshot.List(c, &all, leastAttempt, func(a **attempt) {
		if c.In != nil {
			*a = &attempt{}
		}
		p.codeAttempt(c, *a)
	})
	if c.In == nil || !c.OK() {
		return
	}
	for _, a := range all {
		c.Check(p.attempts[a.id] == nil, "names an attempt twice")
		p.attempts[a.id] = a
	}
	p.settle(all)
}

// leastTime is how many bytes a time takes at least.
const leastTime = 2

// leastAttempt is how many bytes an attempt takes at least.
const leastAttempt = 11

func (p *Phase) codeAttempt(c *snapshot.Codec, a *attempt) {
	c.Text(&a.id)
	c.Number(&a.task, 0, len(p.tasks)-1)
	c.Number(&a.number, 0, snapshot.Any)
	c.Number(&a.host, nowhere, len(p.hosts.list)-1)
	snapshot.List(c, &a.avoid, 1, func(name *string) { c.Text(name) })
	if c.In != nil && len(a.avoid) == 0 {
		a.avoid = nil
	}
	c.Time(&a.asOf)
	for _, b := range []*bool{&a.ahead, &a.adopted, &a.begun, &a.dying, &a.ended} {
		c.Bool(b)
	}
}

// settle counts what follows from the attempts that were read.
func (p *Phase) settle(all []*attempt) {
	for i := range p.tasks {
		if p.tasks[i].over {
			p.over++
		}
	}
	for _, a := range all {
		t := &p.tasks[a.task]
		if a.ended {
			continue
		}
		p.hold(a.host, 1)
		if a.dying {
			t.dying++
			p.dying++
		} else {
			t.live = append(t.live, a)
			p.live++
		}
	}
}

func codeDecision(c *snapshot.Codec, d *restart.Decision) {
	action, reason, basis := int(d.Action), int(d.Reason), int(d.Basis)
	for _, n := range []*int{&action, &reason, &basis} {
		c.Number(n, 0, 255)
	}
	d.Action, d.Reason, d.Basis = restart.Action(action), restart.Reason(reason), restart.Basis(basis)
	c.Number(&d.Copy, 0, snapshot.Any)
	for _, t := range []*time.Duration{&d.Remaining, &d.Fresh, &d.Bar, &d.Gain} {
		c.Duration(t)
	}
	c.Real(&d.Value)
	c.Real(&d.Threshold)
	machines := make([]int, d.Avoid.Len())
	for i := range machines {
		machines[i] = d.Avoid.At(i)
	}
	snapshot.List(c, &machines, 1, func(n *int) { c.Number(n, 0, snapshot.Any) })
	if c.In != nil {
		d.Avoid = restart.Avoid(restart.Task{Tried: machines}, restart.Phase{})
	}
}

const hostsVersion = 3

// AppendBinary appends a snapshot of the hosts to dst: what is known of them, their record of machines included unless
// it is the caller's own, and without what phases hold of them, which comes back with these. It never fails. O(hosts).
func (h *Hosts) AppendBinary(dst []byte) ([]byte, error) {
	h.fill()
	c := snapshot.Codec{Dst: append(dst, hostsVersion)}
	h.code(&c)
	return snapshot.Seal(c.Dst, len(dst)), nil
}

// MarshalBinary returns a snapshot; see [Hosts.AppendBinary].
func (h *Hosts) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

// UnmarshalBinary sets h to what was written. Of a record of the caller's own, give h the same by [NewHosts] before.
// What is not a snapshot is an error, and leaves h as it was. O(hosts).
func (h *Hosts) UnmarshalBinary(data []byte) error {
	read := Hosts{record: h.record}
	read.fill()
	in := snapshot.Codec{In: snapshot.NewReader("restart/engine: Hosts", hostsVersion, data)}
	read.code(&in)
	if err := in.In.Close(); err != nil {
		return err
	}
	*h = read
	return nil
}

func (h *Hosts) code(c *snapshot.Codec) {
	c.Duration(&h.rest)
	c.Check(h.rest > 0, "has no rest")
	c.Number(&h.changes, 0, snapshot.Any)
	phases := int(h.phases)
	c.Number(&phases, 0, snapshot.Any)
	h.phases = uint64(phases)
	list := h.list
	snapshot.List(c, &list, leastHost, func(s *hostState) {
		c.Text(&s.Name)
		c.Number(&s.Slots, 0, 1<<30)
		for _, b := range []*bool{&s.resting, &s.down} {
			c.Bool(b)
		}
		c.Time(&s.restUntil)
		c.Time(&s.leaves)
	})
	c.Number(&h.leaving, 0, snapshot.Any)
	record, own := h.record.(snapshot.State)
	written := own
	c.Bool(&written)
	c.Check(written == own, "has, or lacks, a record of machines of the caller's own")
	if c.In != nil && c.OK() {
		h.take(c, list)
	}
	if written && own { // last, so that nothing else can be wrong once it was read in place
		c.Last(record)
	}
}

// leastHost is how many bytes a host takes at least.
const leastHost = 8

// take makes the hosts that were read those that are known.
func (h *Hosts) take(c *snapshot.Codec, list []hostState) {
	for i, read := range list {
		if err := h.check(i, read.Host, list[0].Slots > 0); err != nil {
			c.In.Fail(fmt.Errorf("restart/engine: Hosts: %w", err))
			return
		}
		h.add(read.Host)
		s := &h.list[i]
		s.resting, s.restUntil, s.leaves, s.down = read.resting, read.restUntil, read.leaves, read.down
		if s.resting {
			h.resting = append(h.resting, i)
		}
		h.changed(i)
	}
}
