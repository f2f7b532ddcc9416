package engine

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Phase keeps the tracker of one phase in step with the engine that runs its tasks. The zero value is a phase without
// tasks. Not safe for concurrent use.
type Phase struct {
	view
	recorder *journal.Recorder // watches the tracker; nil without a journal
	recorded []byte            // the journal before the recorder's

	slots  int   // what SetSlots says, if the hosts do not say
	told   int   // the slots that the tracker was told of
	cloned int   // clones that were submitted
	heard  heard // of the hosts
}

// view is what a phase knows of its engine: what it was told, and what it has asked for.
type view struct {
	config  Config
	hosts   *Hosts
	tracker *tracker.Tracker

	book  book
	time  timeline
	sight sight
	moves moves
	log   changes
	held  []int // attempts by host, until they are known to have ended

	restored bool // and not called since
	closed   bool
	ignored  int
	scratch  scratch
}

// heard is what a phase has taken notice of that its hosts count.
type heard struct {
	losses, departures int
	leaves             []time.Time // when hosts leave, as the tracker was told
}

// scratch is memory that is used at each call.
type scratch struct {
	actions  []Action
	events   []event
	chosen   map[int]string // attempts by task whose results are published, of tasks that are not over
	numbers  []int
	order    []int
	served   []int // hosts that no copy gains from
	unwanted []int // hosts
	slow     []int // hosts
}

// New returns a phase of which nothing has been observed, or an error that names the field that is out of range. O(n)
// in the number of tasks.
func New(c Config) (*Phase, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	config := c.tracker()
	var record *journal.Recorder
	if c.Journal {
		record = journal.NewRecorder(config)
	}
	c.watch(&config, record)
	t, err := tracker.New(config)
	if err != nil {
		return nil, err
	}
	n := max(c.Tasks, len(c.Work))
	p := &Phase{recorder: record, slots: config.Slots, told: config.Slots, view: view{
		config: c, hosts: c.Hosts, tracker: t,
		book:  book{tasks: make([]task, n), attempts: make(map[string]*attempt, n)},
		sight: sight{usual: c.Interval}, moves: moves{decided: never},
	}}
	if !c.Preloaded {
		p.book.waiting = make([]int, 0, n)
		for i := range p.book.tasks {
			p.book.wait(i, nil)
		}
	}
	return p, nil
}

// ready makes of the zero value what it stands for, and returns the tracker.
func (p *Phase) ready() *tracker.Tracker {
	if p.tracker == nil {
		empty, _ := New(Config{Work: []float64{}, Interval: time.Second}) // it is valid
		*p = *empty
	}
	return p.tracker
}

// SetSlots changes how many attempts may run at once, for an engine that places. A negative number counts as 0. It
// changes nothing if the hosts have slots.
func (p *Phase) SetSlots(slots int) { p.slots = max(slots, 0) }

// SetEligible says whether a task may be duplicated and restarted; at first every task may be both. One that may not be
// duplicated has no clones either, and is submitted again only once what was cancelled of it is known to have ended.
func (p *Phase) SetEligible(task int, duplicate, restart bool) {
	p.ready().SetEligible(task, duplicate, restart)
	if task >= 0 && task < len(p.book.tasks) {
		p.book.tasks[task].alone = !duplicate
	}
}

// Done reports whether every task was given up, or has finished and its result is published; or whether the phase was
// closed. O(requests).
func (p *Phase) Done() bool {
	return p.closed || p.book.over == len(p.book.tasks) && !slices.ContainsFunc(p.book.pending, func(a *attempt) bool {
		op, open := a.request(&p.book.tasks[a.task])
		return open && op == Publish
	})
}

// Published tells that the result of an attempt is in its place: Publish was carried out. Until it is called, or
// Attempt.Published says so, Poll gives that action again and the phase is not [Phase.Done]. An attempt that is not the
// winner of its task changes nothing. O(1).
func (p *Phase) Published(id string) {
	if a := p.book.attempts[id]; a != nil && p.book.tasks[a.task].winner == a {
		a.published = true
	}
}

// GivenUp returns the tasks of which too many attempts failed or were lost, in ascending order. A result that comes
// after that changes nothing. O(n).
func (p *Phase) GivenUp() []int {
	var tasks []int
	for i := range p.book.tasks {
		if p.book.tasks[i].givenUp {
			tasks = append(tasks, i)
		}
	}
	return tasks
}

// Winner returns the attempt whose result is the task's, if it has one: that of the action Publish.
func (p *Phase) Winner(task int) (id string, ok bool) {
	if task < 0 || task >= len(p.book.tasks) || p.book.tasks[task].winner == nil {
		return "", false
	}
	return p.book.tasks[task].winner.id, true
}

// Outstanding returns what was asked for and not yet seen to have happened: attempts that were submitted and are in no
// list, cancelled ones that are not known to have ended, and results that are not known to be published.
// All of it is asked for again in time. O(requests).
func (p *Phase) Outstanding() (all []Request) {
	for _, a := range p.book.pending {
		if op, open := a.request(&p.book.tasks[a.task]); open {
			r := Request{Op: op, Task: a.task, ID: a.id, Host: p.hosts.set.Name(a.host), Since: p.time.asSaid(a.since)}
			all = append(all, r)
		}
	}
	return all
}

// Ledger returns the account of what was launched, won and wasted so far. Ignored counts what Poll was told and could
// make no sense of, too. A cancelled attempt that wins all the same counts as one more that was started.
func (p *Phase) Ledger() tracker.Ledger {
	l := p.ready().Ledger()
	l.Ignored += p.ignored
	l.ClockSteps += p.time.clock.Steps
	return l
}

// Facts returns the facts of the phase as a policy sees them now.
func (p *Phase) Facts() restart.Phase { return p.ready().Phase() }

// UnitTimes returns what was learned of the time that a unit of work takes. Read it only.
func (p *Phase) UnitTimes() *estimate.UnitTimes { return p.ready().UnitTimes() }

// Journal returns what the tracker was told and what it answered, as [journal.Replay] and package restarttest read it;
// nil without Config.Journal. It holds until the next call of Poll, Push, Close or SetEligible.
func (p *Phase) Journal() []byte {
	switch {
	case p.recorder == nil:
		return nil
	case len(p.recorded) == 0:
		return p.recorder.Bytes()
	}
	return slices.Concat(p.recorded, p.recorder.Bytes())
}

// Release gives back what the phase's attempts hold of hosts that it shares. Call it when the phase is no longer
// observed: there may be attempts that were cancelled and are not known to have ended. What it holds of a Budget comes
// back by [Phase.Close]. O(hosts).
func (p *Phase) Release() {
	for host, n := range p.held {
		p.hosts.set.Load(host, -n)
		p.held[host] = 0
	}
}

// hold counts an attempt on a host, or with -1 takes it away.
func (v *view) hold(host, n int) {
	if host == nowhere {
		return
	}
	for len(v.held) <= host {
		v.held = append(v.held, 0)
	}
	if v.held[host]+n >= 0 { // it does not get there once the phase was released
		v.held[host] += n
		v.hosts.set.Load(host, n)
	}
}
