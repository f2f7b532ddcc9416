package engine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

const phaseVersion = 8

// AppendBinary appends a snapshot of the phase to dst: all that it observed and has in hand, except what the host gave
// it, which [Restore] takes again. It never fails. O(n log n), some 200 bytes a task. Between snapshots keep what
// changes: see [Phase.AppendChanges].
func (p *Phase) AppendBinary(dst []byte) ([]byte, error) {
	p.ready()
	return snapshot.Append(dst, phaseVersion, func(c *snapshot.Codec) {
		c.Part(tracked{p: p})
		hasOrder := p.config.Order != nil
		c.Bool(&hasOrder)
		p.code(c)
	})
}

// MarshalBinary returns a snapshot; see [Phase.AppendBinary].
func (p *Phase) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }

// Saved is what a host keeps of a phase.
type Saved struct {
	// Snapshot is that of [Phase.AppendBinary].
	Snapshot []byte
	// Changes is what [Phase.AppendChanges] has given since, and perhaps before, one behind the other. What is cut short
	// at its end, by a crash while it was written, is passed over.
	Changes []byte
	// Journal is that of [Phase.Journal] at the moment of the snapshot, or nil: then that of the restored phase begins
	// there, and can be read by [journal.Resume] alone. It is read if Config.Journal is set.
	Journal []byte
}

// Restore returns the phase of a snapshot: it answers as if it had never stopped, and takes what the engine shows next.
// Then what has changed since is taken to the books: the same attempts run, have ended and have won; their progress
// they report again. Of the configuration it takes Hosts, which were written with or after the snapshot and restored
// before it, Order, Journal, OnEvent, and what tracker.Restore takes, with an error for what was not nil and is; all
// else stands in the snapshot. If the Hosts are those that still hold the phase as it was, call its Release first, or
// its slots count twice. What is not a snapshot is an error. O(n log n).
//
// What is [Phase.Outstanding] then may or may not have been carried out. Poll asks again for what is missing, so there
// is nothing to do but go on.
func Restore(c Config, saved Saved) (*Phase, error) {
	if c.Hosts == nil {
		c.Hosts = &Hosts{}
	}
	c.Hosts.fill()
	p := &Phase{view: view{config: c, hosts: c.Hosts, book: book{attempts: map[string]*attempt{}}, restored: true}}
	config := c.tracker()
	if c.Journal {
		p.recorder, p.recorded = new(journal.Recorder), saved.Journal
	}
	c.watch(&config, p.recorder)
	in := snapshot.Codec{In: snapshot.NewReader("restart/engine: Phase", phaseVersion, saved.Snapshot)}
	in.Part(tracked{p, config})
	hadOrder := false
	if in.Bool(&hadOrder); hadOrder && c.Order == nil {
		return nil, check.Bad(place, "Order", nil, "the one that the phase had, or another")
	}
	if in.OK() {
		p.takeConfig(p.tracker.Config())
		p.code(&in)
	}
	if err := in.In.Close(); err != nil {
		return nil, err
	}
	return p, p.redo(saved.Changes)
}

// takeConfig takes the configuration from the tracker that was restored.
func (p *Phase) takeConfig(c tracker.Config) {
	p.config.Tasks, p.config.Interval, p.config.Clones = c.Tasks, c.Interval, c.Clones
	p.config.Policy, p.config.Budget = c.Policy, c.Budget
	p.book.tasks = make([]task, c.Tasks)
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
	snapshot.Small(c, &d.Measure, 0, math.MaxUint8)
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

// changes is what has happened since it was last asked for: a record for each call that changed anything, of the lines
// that did and of the actions that were given.
type changes struct {
	on      bool
	calls   int // recorded so far
	records []byte
	lines   []*Attempt // of this call, that changed anything
	closed  bool       // that is recorded
}

// AppendChanges appends to dst what has happened since it was last called, for a file that grows between two snapshots:
// so saving costs what has changed, and not what there is. Begins, ends and actions are in it, some 50 bytes each;
// progress is not, which the engine shows again. The first call gives nothing, and turns it on: make it before the
// first Poll, and after Restore. What SetSlots and SetEligible say is not in it either; say it again. O(what has
// changed).
//
// To save is to append to the file before the actions are carried out, or after: neither loses anything. Once the file
// is longer than a snapshot, or every few minutes, write a new snapshot beside it, put it in the old one's place, and
// begin a new file. A record that the snapshot knows already is passed over, so it does not matter if that is
// interrupted. A crash may leave half of a record at the end of the file: append to it all the same.
func (p *Phase) AppendChanges(dst []byte) []byte {
	p.ready()
	p.log.on = true
	if dst == nil {
		dst = []byte{} // a database writes nil as NULL
	}
	dst = append(dst, p.log.records...)
	p.log.records = p.log.records[:0]
	return dst
}

// changed takes note of a line that changes anything.
func (l *changes) changed(seen *Attempt) {
	if l.on && (len(l.lines) == 0 || l.lines[len(l.lines)-1] != seen) {
		l.lines = append(l.lines, seen)
	}
}

// note records a call, if it changed anything.
func (l *changes) note(p *Phase) {
	if !l.on || len(l.lines)+len(p.scratch.actions) == 0 && !(p.closed && !l.closed) {
		return
	}
	r := record{call: l.calls, before: p.time.before, now: p.time.wall, slots: p.slots, closed: p.closed, actions: p.scratch.actions}
	for _, seen := range l.lines {
		r.lines = append(r.lines, *seen)
	}
	sealed, _ := snapshot.Append(nil, recordVersion, r.code) // it never fails
	l.records = append(binary.AppendUvarint(append(l.records, mark...), uint64(len(sealed))), sealed...)
	l.calls++
	l.closed = p.closed
	clear(l.lines)
	l.lines = l.lines[:0]
}

const recordVersion = 4

// mark stands before each record, so that the next one is found behind one that was cut short.
const mark = "\xffSG\xfe"

// record is a call, as far as it changed anything.
type record struct {
	call    int
	before  time.Time // of the call before this one, whether it changed anything or not
	now     time.Time
	slots   int
	closed  bool
	lines   []Attempt
	actions []Action
}

func (r *record) code(c *snapshot.Codec) {
	c.Number(&r.call, 0, snapshot.Any)
	codeMaybe(c, &r.before)
	c.Time(&r.now)
	c.Number(&r.slots, 0, snapshot.Any)
	c.Bool(&r.closed)
	snapshot.List(c, &r.lines, func(a *Attempt) { // without its progress
		snapshot.Small(c, &a.State, 0, int(Cancelled))
		c.Text(&a.ID)
		c.Number(&a.Task, 0, snapshot.Any)
		c.Text(&a.Host)
		c.Bool(&a.Published)
		for _, t := range []*time.Time{&a.Begun, &a.Ended} {
			at := inRange(*t)
			codeMaybe(c, &at)
			*t = at
		}
	})
	snapshot.List(c, &r.actions, func(a *Action) {
		snapshot.Small(c, &a.Op, 0, int(Publish))
		c.Number(&a.Task, 0, snapshot.Any)
		c.Text(&a.ID)
		c.Text(&a.Host)
		snapshot.List(c, &a.Avoid, func(name *string) { c.Text(name) })
		codeWhy(c, &a.Decision)
	})
}

// codeMaybe codes a time that is often not known.
func codeMaybe(c *snapshot.Codec, t *time.Time) {
	known := !t.IsZero()
	if c.Bool(&known); known {
		c.Time(t)
	}
}

// redo takes what has changed since a snapshot to the books. A record that a crash cut short is passed over: the phase
// that was restored then went on as if that call had never been, and wrote its own records behind the stump.
func (p *Phase) redo(data []byte) error {
	stumps, most := 0, 4*(len(mark)+len(data))
	for len(data) > 0 {
		r, taken, err := readRecord(data)
		switch {
		case err == nil && r.call > p.log.calls:
			return fmt.Errorf("restart/engine: changes: a record is of call %d, and the one before it of call %d: some are missing",
				r.call, p.log.calls-1)
		case err == nil && r.call == p.log.calls:
			if err := p.redoCall(&r); err != nil {
				return err
			}
		case err != nil:
			if stumps += taken; stumps > most { // hostile: a crash leaves less than a record
				return err
			}
			next := bytes.Index(data[1:], []byte(mark))
			if next < 0 {
				p.restored = true
				return p.torn(data, err)
			}
			taken = 1 + next
		}
		data = data[taken:]
	}
	p.restored = true
	return nil
}

// readRecord reads the record with which data begins, and returns how many bytes were looked at.
func readRecord(data []byte) (r record, taken int, err error) {
	const place = "restart/engine: changes"
	body, ok := bytes.CutPrefix(data, []byte(mark))
	size, n := binary.Uvarint(body)
	if !ok || n <= 0 || size > uint64(len(body)-n) {
		return r, len(mark), errCut
	}
	in := snapshot.Codec{In: snapshot.NewReader(place, recordVersion, body[n:n+int(size)])}
	r.code(&in)
	return r, len(mark) + n + int(size), in.In.Close()
}

var errCut = errors.New("restart/engine: changes: snapshot: begins with no record, or with half of one")

// torn returns the error of what the file ends with, unless that is half of a record.
func (p *Phase) torn(rest []byte, err error) error {
	if err == errCut && (bytes.HasPrefix(rest, []byte(mark)) || bytes.HasPrefix([]byte(mark), rest)) {
		return nil
	}
	return err
}

// redoCall takes a call to the books: what happened happens again, and what was decided is not decided again.
func (p *Phase) redoCall(r *record) error {
	p.log.calls++
	p.slots = r.slots
	if !r.before.IsZero() {
		p.time.tick(r.before, 0)
	}
	p.start(r.now, r.lines)
	p.take(r.lines)
	for _, a := range r.actions {
		if a.Task >= len(p.book.tasks) {
			return errors.New("restart/engine: changes: snapshot: names a task that there is not")
		}
		p.redoAction(&a)
	}
	if r.closed && !p.closed {
		p.close()
	}
	return nil
}

func (p *Phase) redoAction(action *Action) {
	a := p.book.find(action.ID, action.Task)
	switch {
	case a == nil && action.Op == Submit && !p.book.tasks[action.Task].over:
		host := p.hosts.set.Number(action.Host)
		number := p.tracker.Submit(p.time.now, action.Task, host)
		p.enter(attempt{
			id: action.ID, task: action.Task, number: number, host: host, avoid: action.Avoid, seen: never,
		}, because(action.Decision))
		if action.Decision.Reason == restart.Cloned {
			p.cloned++
		}
	case a == nil || a.task != action.Task || a.ended:
	case action.Op == Cancel && !a.dying:
		p.drop(a, action.Decision)
	case a.asked < p.time.clock.Since: // it was given again
		a.asked, a.again = p.time.clock.Since, min(a.again+1, maxDoublings)
	}
}
