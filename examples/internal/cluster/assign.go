package cluster

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/delay/assign"
)

// Assignment lets each clone of a task read outputs of its own, by package delay/assign. After a task has ended, its
// other clones run on for this, until no clone waits for them [Dolly §4].
type Assignment struct {
	Table assign.WindowTableConfig
	// Window is the time that a clone waits for an output of its own, if Fixed is set. Otherwise the simulation
	// learns it.
	Window time.Duration
	Fixed  bool
	// Exclusive gives each output to one clone of a task: a clone reads an output that another clone has read only if no
	// further output can come. So contention avoidance does [Dolly §4.1]. Otherwise a clone may read it after the other.
	Exclusive bool
	// Polls lets the clones of a task poll for outputs in random orders, and who comes first takes an output [Dolly §5].
	// Otherwise the same clones get the first outputs of all inputs.
	Polls bool
	// Every is the time between two computations of the windows; 0 is an hour.
	Every time.Duration
}

// assigner has the lags and reads of clones, for the whole cluster.
type assigner struct {
	config    *Assignment
	table     *assign.WindowTable
	refreshed time.Duration
	inputs    []assign.Input
	copies    [][]assign.Clone
	taken     map[taken]int // number of clones that took an output, if it is exclusive
}

// taken is an output of an input, for the clones of a task.
type taken struct {
	task, input int32
	copy        int
}

// reader has the inputs that a clone has still to read.
type reader struct {
	left    []int32 // numbers of the tasks to read, in their phase
	read    int
	ready   time.Duration // since when the clone could read
	current int32         // the task that it reads now, an element of left; none if it waits
	copy    int
	began   time.Duration
	shared  bool
	pace    float64 // share of its bandwidth that it has
}

// oneInTwenty is used as follows: one of twenty jobs gets the longest useful window. If lags were always cut short,
// they could not show that a longer window would be better (see assign.WindowTable.ObserveCut).
const oneInTwenty = 20

// newAssigner returns nil if clones neither share bandwidth nor wait. If clones share bandwidth and Assign is not
// set, the window is 0: contention cloning.
func newAssigner(s *sim) (*assigner, error) {
	if s.c.Assign == nil {
		if s.pace(2) == 1 {
			return nil, nil
		}
		return &assigner{config: &Assignment{Fixed: true}, table: new(assign.WindowTable)}, nil
	}
	config := s.c.Assign.Table
	if !s.c.Assign.Polls {
		config.Pairing = assign.Coordinated // look says who comes first
	}
	table, err := assign.NewWindowTable(config)
	return &assigner{config: s.c.Assign, table: table, taken: map[taken]int{}}, err
}

// open begins the reads of a phase that opens, and sets the window of its clones.
func (a *assigner) open(s *sim, id int32) {
	p := &s.phases[id]
	if a == nil || len(p.inputs) != 1 || p.missing > 0 && !p.perTask {
		return
	}
	up := &s.phases[p.inputs[0]]
	if p.cloned == 0 {
		a.stop(s, up)
		return
	}
	if up.kept == nil { // each task has the one output
		up.kept = make([][]kept, up.end-up.first)
	}
	if every := a.config.Every; s.now-a.refreshed >= every && (every > 0 || s.now-a.refreshed >= time.Hour) {
		a.table.Refresh()
		a.refreshed = s.now
	}
	p.assigned, p.window = true, assign.Forever // until its clones know how long a read takes
	choice, known := a.table.For(assign.Job{
		Tasks: int(p.end - p.first), Clones: int(p.clones), Inputs: int(up.end - up.first),
	})
	switch {
	case a.config.Fixed:
		p.window = a.config.Window
	case known && p.job%oneInTwenty == 0:
		p.window = choice.InTurn.Window
	case known:
		p.window = choice.Window
	}
	s.tell(p.job, "phase %d: its clones wait up to %v for outputs of their own; learned: %v", id-s.jobs[p.job].phases[0],
		p.window, known)
}

// begin lets a clone read.
func (a *assigner) begin(s *sim, at int32) {
	c := &s.copies[at]
	c.reader = &reader{ready: s.now, current: none, pace: 1}
	for first, end := s.inputsOf(c.phase, s.phases[c.phase].inputs[0], c.task); first < end; first++ {
		c.reader.left = append(c.reader.left, int32(first))
	}
	if left := c.reader.left; a.config.Polls {
		s.draws.For(8, uint64(c.task), uint64(s.tasks[c.task].drawn)).Shuffle(len(left), func(i, k int) { left[i], left[k] = left[k], left[i] })
	}
	a.ask(s, at)
}

// ask asks the library about a clone that reads nothing.
func (a *assigner) ask(s *sim, at int32) {
	c := &s.copies[at]
	p := &s.phases[c.phase]
	r := c.reader
	window := p.window
	if window == assign.Forever && !a.config.Fixed {
		window = a.alone(p, c) // the longest that is ever of use
	}
	d := assign.Decide(a.look(s, at), window)
	s.tell(p.job, "task %d: attempt %d: %v", c.task-p.first, c.attempt, d)
	if d.Action == assign.Wait {
		c.stage = awaits
		if d.Wait > 0 {
			s.queue.Push(s.now+d.Wait, asksAgain, at, c.life)
		}
		return
	}
	a.observe(s, at, r.left[d.Input], d)
	r.current, r.copy, r.began, r.shared = r.left[d.Input], d.Clone, s.now, d.Action == assign.ReadShared
	if a.config.Exclusive {
		a.taken[taken{c.task, r.current, r.copy}]++
	}
	r.pace = 1
	s.enter(at, reads, c.reading/float64(len(r.left)+r.read))
	a.contend(s, c.task)
	if d.KillRest {
		a.killRest(s, p, r.current, window)
	}
	a.wake(s, c.task)
}

// alone returns the time that a clone needs to read one input that no other clone reads.
func (a *assigner) alone(p *phase, c *copyOf) time.Duration {
	n := len(c.reader.left) + c.reader.read
	return time.Duration(c.reading / float64(n) * float64(time.Second))
}

// look returns the inputs that a clone has still to read, with the clones that read them.
func (a *assigner) look(s *sim, at int32) []assign.Input {
	c := &s.copies[at]
	up := &s.phases[s.phases[c.phase].inputs[0]]
	a.inputs = a.inputs[:0]
	for i, u := range c.reader.left {
		if i == len(a.copies) {
			a.copies = append(a.copies, nil)
		}
		list := a.copies[i][:0]
		for k, output := range up.keptOf(u) {
			list = append(list, assign.Clone{State: output.state, Readers: a.taken[taken{c.task, u, k}]})
		}
		in, before := assign.Input{Waited: s.now - c.reader.ready}, false // the list has the latest first
		for other := s.tasks[c.task].first; other != none; other = s.copies[other].sibling {
			o := s.copies[other].reader
			switch {
			case other == at:
				before = true
			case o == nil:
			case o.current == u && a.config.Exclusive: // it has taken the output
			case o.current == u:
				list[o.copy].Readers++
			case before && !a.config.Polls && slices.Contains(o.left, u):
				in.Ahead++
			}
		}
		a.copies[i] = list
		in.Clones = list
		a.inputs = append(a.inputs, in)
	}
	return a.inputs
}

// observe records how long a clone waited for an output of its own, unless it is the first clone of its task to read
// the input.
func (a *assigner) observe(s *sim, at, u int32, d assign.Decision) {
	c := &s.copies[at]
	tasks := int(s.phases[c.phase].end - s.phases[c.phase].first)
	first := true
	for other := s.tasks[c.task].first; other != none; other = s.copies[other].sibling {
		if o := s.copies[other].reader; other != at && (o == nil || o.current == u || !slices.Contains(o.left, u)) {
			first = false
		}
	}
	switch waited := s.now - c.reader.ready; {
	case first:
	case d.Reason == assign.OwnOutput:
		a.table.ObserveLag(tasks, waited)
	case d.Reason == assign.WindowOver:
		a.table.ObserveCut(tasks, waited)
	default:
		a.table.ObserveLag(tasks, assign.Forever)
	}
}

// wake asks again about the waiting clones of a task.
func (a *assigner) wake(s *sim, id int32) {
	var wait []int32
	for at := s.tasks[id].first; at != none; at = s.copies[at].sibling {
		if s.copies[at].stage == awaits {
			wait = append(wait, at)
		}
	}
	if a.config.Polls {
		s.draws.For(9, uint64(id), uint64(s.now)).Shuffle(len(wait), func(i, k int) { wait[i], wait[k] = wait[k], wait[i] })
	}
	for _, at := range wait {
		if s.copies[at].stage == awaits {
			a.ask(s, at)
		}
	}
}

// hasRead handles the end of a clone's read of an input.
func (a *assigner) hasRead(s *sim, at int32) {
	c := &s.copies[at]
	p := &s.phases[c.phase]
	r := c.reader
	n := len(r.left) + r.read
	a.table.ObserveRead(int(p.end-p.first), s.taskFacts(c.task).Bytes/float64(n), s.now-r.began, r.shared)
	r.left = slices.DeleteFunc(r.left, func(u int32) bool { return u == r.current })
	r.current, r.pace = none, 1
	r.read++
	c.stage = awaits
	if len(r.left) == 0 {
		c.reader, c.stage = nil, reads
	}
	a.contend(s, c.task)
	a.wake(s, c.task) // itself, too
	if c.reader == nil {
		s.haveRead(at)
	}
}

// taskEnded records the computing times of tasks without clones.
func (a *assigner) taskEnded(s *sim, c *copyOf) {
	if p := &s.phases[c.phase]; a != nil && p.cloned == 0 {
		a.table.ObserveCompute(int(p.end-p.first), s.now-c.worked)
	}
}
