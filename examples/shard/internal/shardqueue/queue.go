package shardqueue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
)

// Queue is the state of a queue. The zero value is a queue that nobody has opened. A Queue is not safe for concurrent
// use.
type Queue struct {
	config   *Config // nil: not opened
	opened   time.Time
	order    []int            // the pieces, the longest first
	packages map[string][]int // the pieces of each package
	pieces   []piece
	machines []machine // in the order in which they joined
	batches  []batch
	record   *machines.Record
	done     int // number of pieces that are done
}

// status is where a piece is.
type status int8

const (
	waiting status = iota
	held           // by a machine
	done
)

// piece is the state of a piece.
type piece struct {
	status
	by     int // the machine that holds or held the piece, or ran it; nobody
	kept   int // the retried machine for which a waiting piece is kept; nobody
	failed bool
}

const nobody = -1

// machine is a machine that has joined.
type machine struct {
	name, session string
	present       bool
	heard         time.Time
	factor        float64 // time of a test here / time on the average machine, from earlier runs
	known         bool    // the factor is known: from earlier runs, or since a batch has ended
	lanes         []int   // the batch of each lane; nobody
}

// batch has the pieces of one draw of a lane.
type batch struct {
	machine int
	pieces  []int
	calls   []Call
	at      time.Time
	seconds float64 // predicted, on the average machine
	ended   bool
}

// Call is one call of go test: a package, or some of its tests.
type Call struct {
	Package string `json:"package"`
	// If Tests is not empty, the call runs these tests only. If Skip is not empty, it runs all tests but these.
	Tests []string `json:"tests,omitempty"`
	Skip  []string `json:"skip,omitempty"`
	// Seconds is the predicted time on the average machine.
	Seconds float64 `json:"seconds"`

	pieces []int
}

// Apply changes the state by an event. An event that cannot have happened is an error, and then the state is unchanged.
func (q *Queue) Apply(e Event) error {
	if e.Kind == Opened {
		return q.open(e)
	}
	if q.config == nil {
		return fmt.Errorf("shardqueue: Event.Kind is %q, want %q first", e.Kind, Opened)
	}
	now := time.UnixMilli(e.At)
	m := q.machine(e.Machine)
	if m < 0 && e.Kind != Joined {
		return fmt.Errorf("shardqueue: Event.Machine is %.120q, want a machine that has joined", e.Machine)
	}
	var err error
	switch e.Kind {
	case Joined:
		m, err = q.join(m, e)
	case Gave:
		err = q.give(m, e, now)
	case Ended:
		err = q.end(m, e, now)
	case Left, Lost:
		q.free(m)
	default:
		err = fmt.Errorf("shardqueue: Event.Kind is %.40q, want opened, joined, gave, ended, left or lost", e.Kind)
	}
	if err == nil && e.Kind != Lost {
		q.machines[m].hear(now)
	}
	return err
}

func (m *machine) hear(now time.Time) {
	if now.After(m.heard) {
		m.heard = now
	}
}

// machine returns the index of a machine, or -1.
func (q *Queue) machine(name string) int {
	return slices.IndexFunc(q.machines, func(m machine) bool { return m.name == name })
}

func (q *Queue) open(e Event) error {
	switch {
	case q.config != nil:
		return fmt.Errorf("shardqueue: Event.Kind is %q, but the queue is open already", e.Kind)
	case e.Config == nil:
		return fmt.Errorf("shardqueue: Event.Config is empty, want the pieces of the queue")
	}
	if err := e.Config.Validate(); err != nil {
		return err
	}
	record, err := machines.New(machines.Config{})
	if err != nil {
		return err
	}
	*q = Queue{config: e.Config, opened: time.UnixMilli(e.At), record: record, packages: map[string][]int{}}
	for i, p := range e.Config.Pieces {
		q.pieces = append(q.pieces, piece{by: nobody, kept: nobody})
		q.order = append(q.order, i)
		q.packages[p.Package] = append(q.packages[p.Package], i)
	}
	slices.SortStableFunc(q.order, func(a, b int) int {
		return cmp.Compare(q.config.Pieces[b].Seconds, q.config.Pieces[a].Seconds)
	})
	return nil
}

// join adds a machine, or notes its return. A machine with another session is a retried machine: the queue keeps the
// pieces of its earlier sessions for this machine, except the pieces that another machine has taken since.
func (q *Queue) join(m int, e Event) (int, error) {
	if err := q.canJoin(m, e); err != nil {
		return m, err
	}
	if m < 0 {
		m = len(q.machines)
		q.machines = append(q.machines, machine{name: e.Machine})
	}
	of := &q.machines[m]
	if of.session != "" && of.session != e.Session {
		q.free(m)
		for i := range q.pieces {
			if p := &q.pieces[i]; p.by == m && p.status != held {
				if p.status == done {
					q.done--
				}
				p.status, p.kept = waiting, m
			}
		}
	}
	if of.session != e.Session {
		of.lanes = slices.Repeat([]int{nobody}, e.Lanes)
		of.factor, of.known = max(e.Factor, leastFactor), e.Factor > 0
		if e.Factor == 0 {
			of.factor = 1
		}
	}
	of.session, of.present = e.Session, true
	return m, nil
}

// canJoin returns an error if a machine cannot join. m is its index, or -1.
func (q *Queue) canJoin(m int, e Event) error {
	switch {
	case badName(e.Machine) || badName(e.Session):
		return fmt.Errorf("shardqueue: the machine is %.120q and its session %.120q, "+
			"want names of 1 to %d letters, digits, . _ or -, and no point first", e.Machine, e.Session, mostName)
	case e.Lanes < 1 || e.Lanes > mostLanes:
		return fmt.Errorf("shardqueue: the number of lanes is %d, want 1 to %d", e.Lanes, mostLanes)
	case e.Factor != 0 && !within(e.Factor, leastFactor, mostFactor):
		return fmt.Errorf("shardqueue: the factor is %v, want 0 or %v to %v", e.Factor, leastFactor, mostFactor)
	case m < 0 && len(q.machines) == mostMachines:
		return fmt.Errorf("shardqueue: %d machines have joined, and no more can", mostMachines)
	}
	return nil
}

// free takes back the pieces that a machine holds, and the pieces that are kept for this machine. The machine has left.
func (q *Queue) free(m int) {
	for i := range q.pieces {
		p := &q.pieces[i]
		if p.status == held && p.by == m {
			p.status = waiting
		}
		if p.kept == m {
			p.kept = nobody
		}
	}
	of := &q.machines[m]
	of.present = false
	for lane := range of.lanes {
		of.lanes[lane] = nobody
	}
}

func (q *Queue) give(m int, e Event, now time.Time) error {
	of := &q.machines[m]
	switch {
	case !of.present:
		return fmt.Errorf("shardqueue: Event.Machine is %q, want a machine that has joined and not left", e.Machine)
	case e.Lane < 0 || e.Lane >= len(of.lanes) || of.lanes[e.Lane] != nobody:
		return fmt.Errorf("shardqueue: Event.Lane is %d, want a lane without a batch, from 0 to %d", e.Lane, len(of.lanes)-1)
	case e.Batch != len(q.batches):
		return fmt.Errorf("shardqueue: Event.Batch is %d, want %d", e.Batch, len(q.batches))
	case len(e.Pieces) == 0:
		return fmt.Errorf("shardqueue: Event.Pieces is empty, want at least one piece")
	}
	seen := map[int]bool{}
	for _, i := range e.Pieces {
		if i < 0 || i >= len(q.pieces) || seen[i] {
			return fmt.Errorf("shardqueue: Event.Pieces has %d, want different pieces from 0 to %d", i, len(q.pieces)-1)
		}
		if p := q.pieces[i]; p.status != waiting || p.kept != nobody && p.kept != m {
			return fmt.Errorf("shardqueue: Event.Pieces has %d, want pieces that wait for this machine", i)
		}
		seen[i] = true
	}
	for _, i := range e.Pieces {
		q.pieces[i] = piece{status: held, by: m, kept: nobody}
	}
	calls := q.calls(e.Pieces)
	b := batch{machine: m, pieces: e.Pieces, calls: calls, at: now}
	for _, c := range calls {
		b.seconds += c.Seconds
	}
	of.lanes[e.Lane] = len(q.batches)
	q.batches = append(q.batches, b)
	return nil
}

// calls joins the pieces of a package to one call, in the order of the first pieces.
func (q *Queue) calls(pieces []int) (calls []Call) {
	at, mine := map[string]int{}, map[int]bool{}
	for _, i := range pieces {
		p := &q.config.Pieces[i]
		k, ok := at[p.Package]
		if !ok {
			k = len(calls)
			at[p.Package] = k
			calls = append(calls, Call{Package: p.Package, Seconds: p.Again})
		}
		calls[k].Seconds += p.Seconds - p.Again
		calls[k].pieces = append(calls[k].pieces, i)
		mine[i] = true
	}
	for k := range calls {
		q.name(&calls[k], mine)
	}
	return calls
}

// name sets the tests of a call. If the call has the rest of the package, it names the tests of all pieces that are not
// in the batch, and skips them.
func (q *Queue) name(c *Call, batch map[int]bool) {
	rest := false
	for _, i := range c.pieces {
		p := &q.config.Pieces[i]
		c.Tests = append(c.Tests, p.Tests...)
		rest = rest || p.Rest
	}
	if !rest {
		return
	}
	c.Tests = nil
	for _, i := range q.packages[c.Package] {
		if !batch[i] {
			c.Skip = append(c.Skip, q.config.Pieces[i].Tests...)
		}
	}
}

// end notes the results of a batch. A piece that another machine has run before keeps its first result.
func (q *Queue) end(m int, e Event, now time.Time) error {
	if err := q.ended(m, e.Batch, e.Calls); err != nil {
		return err
	}
	b := &q.batches[e.Batch]
	b.ended = true
	of := &q.machines[m]
	for lane, at := range of.lanes {
		if at == e.Batch {
			of.lanes[lane] = nobody
			of.known = true
		}
	}
	for k, c := range b.calls {
		for _, i := range c.pieces {
			if q.pieces[i].status != done {
				q.pieces[i] = piece{status: done, by: m, kept: nobody, failed: e.Calls[k].Failed}
				q.done++
			}
		}
		if !e.Calls[k].Failed && c.Seconds >= telling {
			took := machines.Attempt{Ran: duration(e.Calls[k].Seconds), Usual: duration(c.Seconds * of.factor), Done: 1}
			q.record.End(now, m, uint64(e.Batch)*mostPieces+uint64(k), took, machines.Finished)
		}
	}
	return nil
}

// ended returns an error if the results cannot be the results of a batch of the machine that still runs.
func (q *Queue) ended(m, batch int, calls []Ran) error {
	if batch < 0 || batch >= len(q.batches) || q.batches[batch].machine != m {
		return fmt.Errorf("shardqueue: the batch is %d, want a batch that machine %s drew", batch, q.machines[m].name)
	}
	b := &q.batches[batch]
	if b.ended {
		return fmt.Errorf("shardqueue: the batch is %d, which has ended before", batch)
	}
	if len(calls) != len(b.calls) {
		return fmt.Errorf("shardqueue: there are %d results, want %d for the calls of batch %d", len(calls), len(b.calls), batch)
	}
	for k, c := range calls {
		if !within(c.Seconds, 0, mostSeconds) {
			return fmt.Errorf("shardqueue: the time of call %d is %v s, want 0 to %g", k, c.Seconds, mostSeconds)
		}
	}
	return nil
}

func duration(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
