package engine

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/pages"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// AppendBinary appends a snapshot of the phase to dst. The snapshot contains the state and the configuration of the
// phase. It does not contain the parts of the configuration that only your program can supply; [Restore] takes these
// parts again. AppendBinary never fails. O(n log n), about 200 bytes for each task.
func (p *Phase) AppendBinary(dst []byte) ([]byte, error) {
	p.ready()
	return snapshot.Append(dst, snapshot.Version, func(c *snapshot.Codec) { p.code(c, tracker.Config{}) })
}

// MarshalBinary returns a snapshot of the phase; see [Phase.AppendBinary].
func (p *Phase) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }

// Saved is the saved state of a phase.
type Saved struct {
	// Snapshot is the output of [Phase.AppendBinary].
	Snapshot []byte
	// Journal is the output of [Phase.Journal] at the moment of the snapshot. If it is nil, the journal of the
	// restored phase begins at the snapshot, and only [journal.Resume] can read it. Journal is used only if
	// Config.Journal is set.
	Journal []byte
}

// Restore returns the phase that was saved. The phase behaves as if it had never stopped, and continues with the next
// Poll. If the data is not a snapshot, Restore returns an error. O(n log n).
//
// Restore uses only these fields of the configuration; all other fields come from the snapshot:
//
//   - Machines: they must have been saved with the snapshot or later, and must be restored before the phase.
//   - Order, BackOff, Journal and OnEvent.
//   - The fields that tracker.Restore uses. The Policy may be another one than before; see [Phase.PolicyBefore].
//
// Every later release reads the snapshots of a release. It is an error if a field is nil now and was not nil when the snapshot was taken. If Machines still contain the
// attempts of the old phase, call the old phase's Release first. Otherwise these attempts occupy their slots twice.
//
// The engine may or may not have carried out the requests of [Phase.Outstanding]. Poll repeats the requests that the
// engine does not show as carried out, so the adapter need do nothing special.
func Restore(c Config, saved Saved) (*Phase, error) {
	c.Machines = c.Machines.fill()
	p := &Phase{config: c, machines: c.Machines, restored: true}
	if c.Journal {
		p.recorder, p.recorded = new(journal.Recorder), saved.Journal
	}
	in := snapshot.Codec{In: snapshot.NewReader("restart/engine: Phase", snapshot.Version, saved.Snapshot)}
	p.code(&in, c.tracker(p.observe))
	if err := in.In.Close(); err != nil {
		if data := saved.Snapshot; len(data) > 0 && data[0] != snapshot.Version {
			err = fmt.Errorf("%w. Call New: its first Poll takes over the attempts that the engine lists", err)
		}
		return nil, err
	}
	if p.PolicyBefore() != "" {
		p.recorded = nil // the policy of the journal did not give the answers from now on
	}
	return p, nil
}

// PolicyBefore returns the text of the policy and its settings before the phase was restored, if it goes on under
// another policy or other settings; see [tracker.Tracker.PolicyBefore]. Then the journal of the phase begins at the
// snapshot, as if Saved.Journal were nil.
func (p *Phase) PolicyBefore() string { return p.ready().PolicyBefore() }

// tracked encodes and decodes the phase's tracker as a part of the phase's snapshot.
type tracked struct {
	p *Phase
	// The configuration with which the tracker is restored.
	config tracker.Config
}

func (t tracked) AppendBinary(dst []byte) ([]byte, error) { return t.p.tracker.AppendBinary(dst) }

func (t tracked) UnmarshalBinary(data []byte) (err error) {
	t.p.tracker, err = tracker.Restore(t.config, data)
	return err
}

// code encodes the phase into the codec, or decodes the phase from the codec. For decoding, config is the
// configuration of the tracker.
func (p *Phase) code(c *snapshot.Codec, config tracker.Config) {
	k := &p.config
	c.Field(1, "tracker").Part(tracked{p, config})
	hasOrder, hasBackOff, hasWork := k.Order != nil, k.BackOff != nil, k.Work != nil
	c.Field(2, "given").All(&hasOrder, &hasBackOff, &hasWork)
	if c.Reading() {
		if hasOrder && k.Order == nil {
			c.In.Fail(check.Bad(place, "Order", nil, "a function, because the phase had one"))
		}
		if hasBackOff && k.BackOff == nil {
			c.In.Fail(check.Bad(place, "BackOff", nil, "a function, because the phase had one"))
		}
		was := p.tracker.Config()
		k.Tasks, k.Interval, k.Clones, k.Policy, k.Budget = was.Tasks, was.Interval, was.Clones, was.Policy, was.Budget
		k.Recent, k.Kind = was.Recent, was.Kind
		p.book = newBook(was.Tasks, was.Recent > 0) // codeRows has the tasks of a growing phase
		if hasWork {
			k.Work = make([]float64, was.Tasks)
		}
	}
	snapshot.Each(c.Field(3, "work"), k.Work, c.Amount)
	c.Field(4, "config").Fields(func() {
		c.Field(1, "max-failures").Number(&k.MaxFailures, 1, snapshot.Any)
		c.Field(2, "max-lost").Number(&k.MaxLost, 1, snapshot.Any)
		c.Field(3, "patience").Amount(&k.Patience)
		c.Field(4, "preloaded").Bool(&k.Preloaded)
		c.Field(5, "engine-retries").Bool(&k.EngineRetries)
		c.Field(6, "timeout").Duration(&k.Timeout)
		c.Field(7, "trace").All(&k.Trace)
		if p.book.rows != nil {
			p.codeRows(c.Field(8, "rows"))
		}
	})
	c.Field(5, "clock").Clock(&p.time.clock)
	c.Field(6, "times").All(&p.time.epoch, &p.time.now, &p.time.wall, &p.time.earliest)
	c.Field(7, "closed").Bool(&p.closed)
	c.Field(8, "slots").All(&p.slots, &p.told)
	c.Field(9, "ignored").All(&p.ignored)
	c.Field(10, "timing").All(&p.timing.lastRunning, &p.timing.blindUntil, &p.timing.period, &p.timing.submitLag,
		&p.timing.cancelLag, &p.timing.lastListed, &p.timing.lastChecked)
	c.Field(11, "decided").Duration(&p.decided)
	c.Field(12, "noticed").All(&p.noticed.losses, &p.noticed.departures)
	snapshot.List(c, &p.noticed.leaves, c.Time)
	machines := p.machines.set.Len()
	c.Field(13, "machines").All(&machines)
	known := machines <= p.machines.set.Len() && len(p.noticed.leaves) <= machines
	c.Check(known, "knows machines that Config.Machines lacks: restore Config.Machines first")
	c.Field(14, "tasks").Fields(func() { p.codeTasks(c) })
	c.Field(15, "attempts").Fields(func() { p.codeAttempts(c) })
}

// codeRows encodes or decodes which tasks a growing phase has.
func (p *Phase) codeRows(c *snapshot.Codec) {
	r := p.book.rows
	c.Number(&r.next, 0, snapshot.Any)
	last := r.next - 1
	snapshot.List(c, &r.indexes, func(index *int) { c.Number(index, -1, last) })
	snapshot.List(c, &r.free, func(row *int) { c.Number(row, 0, len(r.indexes)-1) })
	snapshot.List(c, &r.leaving, func(index *int) { c.Number(index, 0, last) })
	if !c.Reading() {
		return
	}
	p.book.tasks, r.of = make([]task, len(r.indexes)), pages.Index{}
	for row, index := range r.indexes {
		if index >= 0 {
			known := p.tracker.Task(index)
			c.Check(known.Waits || known.Finished || known.GivenUp || known.Launched > 0, "has a task that its tracker does not have")
			r.of.Set(index, row)
		}
	}
	for _, row := range r.free {
		c.Check(r.indexes[row] < 0, "has a task in a free row")
	}
	for _, index := range r.leaving {
		if !p.book.has(index) || p.book.task(index).leaving {
			c.Check(false, "is to forget a task twice, or one that it does not have")
			return
		}
		p.book.task(index).leaving = true
	}
	c.Check(r.of.Len()+len(r.free) == len(r.indexes), "has other tasks than rows")
}

// codeTasks encodes or decodes the state of each task.
func (p *Phase) codeTasks(c *snapshot.Codec) {
	tasks := p.book.tasks
	snapshot.Each(c.Field(1, "failures"), tasks, func(t *task) {
		for _, n := range [...]*int32{&t.failed, &t.lost, &t.withdrawn, &t.untraced} {
			snapshot.Small(c, n, 0, math.MaxInt32)
		}
	})
	snapshot.Each(c.Field(2, "rest"), tasks, func(t *task) { c.All(&t.rests, &t.resting) })
	snapshot.Each(c.Field(3, "state"), tasks, func(t *task) { c.All(&t.alone, &t.again, &t.spent, &t.over, &t.givenUp) })
	c.Field(4, "decision")
	for i, t := range p.book.all {
		codeWhy(c, &t.why, p.tracker.Task(i).Waits)
	}
}

// codeAttempts encodes or decodes the attempts: first the attempts with an open request, in their order, and then all
// others.
func (p *Phase) codeAttempts(c *snapshot.Codec) {
	byName := func(a, b *attempt) int { return cmp.Compare(a.id, b.id) }
	others := slices.SortedFunc(maps.Values(p.book.attempts), byName)
	others = slices.DeleteFunc(others, func(a *attempt) bool { return a.pending })
	all := slices.Concat(p.book.pending, others)
	each := func(number int, name string, code func(a *attempt)) {
		snapshot.Each(c.Field(number, name), all, func(a **attempt) { code(*a) })
	}
	snapshot.List(c.Field(1, "id"), &all, func(a **attempt) {
		if !c.Writes() {
			*a = &attempt{}
		}
		c.Text(&(*a).id)
		c.Number(&(*a).task, 0, snapshot.Any)
		c.Check(p.book.has((*a).task), "holds an attempt of a task that it does not have")
		c.Number(&(*a).number, 0, snapshot.Any)
	})
	each(2, "machine", func(a *attempt) {
		c.Number(&a.machine, nowhere, p.machines.set.Len()-1)
		if snapshot.List(c, &a.avoid, c.Text); !c.Writes() && len(a.avoid) == 0 {
			a.avoid = nil
		}
	})
	each(3, "request", func(a *attempt) {
		snapshot.Small(c, &a.repeats, 0, maxDoublings)
		c.All(&a.pending, &a.submitted, &a.firstAsked, &a.lastAsked)
	})
	each(4, "times", func(a *attempt) { c.All(&a.asOf, &a.since, &a.until, &a.seen) })
	each(5, "state", func(a *attempt) {
		snapshot.Small(c, &a.fate, 0, int(Cancelled))
		c.All(&a.ahead, &a.adopted, &a.late, &a.begun, &a.dying, &a.ended, &a.gone, &a.published)
		won := c.OK() && a == p.book.task(a.task).winner
		if c.Bool(&won); c.Reading() && won {
			p.book.task(a.task).winner = a
		}
	})
	each(6, "decision", func(a *attempt) { codeWhy(c, &a.why, a.pending || a.gone) })
	if c.Reading() {
		for _, a := range all {
			if a.pending {
				p.book.pending = append(p.book.pending, a)
			}
		}
		p.rebuild(c, all)
	}
}

// rebuild computes the lists and numbers of the book from the attempts that were decoded. It also checks that the
// tasks and their attempts agree, and that the tracker has the attempts that are live here.
func (p *Phase) rebuild(c *snapshot.Codec, all []*attempt) {
	b := &p.book
	live := 0
	slices.SortStableFunc(all, func(a, b *attempt) int { return cmp.Compare(a.number, b.number) })
	for _, a := range all {
		c.Check(b.attempts[a.id] == nil, "names an attempt twice")
		b.attempts[a.id] = a
		b.adopted = b.adopted || a.adopted
		t := b.task(a.task)
		if a.isLive() {
			live++
			c.Check(p.tracks(a), "holds an attempt that its tracker does not have")
			c.Check(t.newest == nil || t.newest.number < a.number, "holds two attempts of one number")
			c.Check(!t.over, "holds an attempt of a task that is over")
			t.link(a)
		} else {
			b.remember(a)
		}
		switch {
		case a.ended:
			continue
		case a.dying:
			t.dying++
			b.dying++
		}
		p.occupy(a.machine, 1)
	}
	c.Check(live == p.tracker.Running(), "holds other attempts than its tracker")
	for i, t := range b.all {
		known := p.tracker.Task(i)
		if t.over {
			b.over++
		}
		if t.givenUp && !t.leaving {
			b.news = append(b.news, i)
		}
		if t.resting {
			t.listed = true
			b.resting = append(b.resting, i)
		}
		if t.again {
			b.again = append(b.again, i)
		}
		c.Check(!t.resting || known.GivenUp && !t.over, "holds a resting task that does not wait")
		c.Check(p.closed || t.over == (known.Finished || known.GivenUp && !t.resting), "holds a task that is over, or is not")
		c.Check(!t.givenUp || t.over, "holds a task that was given up and is not over")
		c.Check(!t.again || p.config.Preloaded && !p.config.EngineRetries, "holds a task that the engine has all by itself")
	}
}

// tracks reports whether the tracker has an attempt.
func (p *Phase) tracks(a *attempt) bool {
	for known := range p.tracker.Attempts(a.task) {
		if known.Attempt == a.number {
			return true
		}
	}
	return false
}

// codeWhy encodes or decodes the decision that led to a request, as JSON. The decision is encoded only if the request
// may be repeated (again).
func codeWhy(c *snapshot.Codec, why **restart.Decision, again bool) {
	text := ""
	if again && *why != nil {
		// The result is empty if a custom policy has invented the reason.
		json, _ := (*why).MarshalJSON()
		text = string(json)
	}
	c.Text(&text)
	if c.Reading() && text != "" {
		*why = new(restart.Decision)
		c.In.Fail((*why).UnmarshalJSON([]byte(text)))
	}
}
