package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
)

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

const recordVersion = 3

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
