package engine

import (
	"slices"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Phase keeps the tracker of one phase in step with the engine that runs its tasks. The zero value is a phase without
// tasks. Not safe for concurrent use.
type Phase struct {
	config   Config
	hosts    *Hosts
	tracker  *tracker.Tracker
	recorder *journal.Recorder // watches the tracker; nil without a journal

	tasks    []task
	attempts map[string]*attempt
	waiting  []int // tasks to submit; some may not wait any more, some may stand there twice
	held     []int // attempts by host, until they are known to have ended
	live     int   // attempts that the tracker takes to run or to be queued
	dying    int   // attempts that are cancelled and not known to have ended
	slots    int   // what SetSlots says, if the hosts do not say
	told     int   // the slots that the tracker was told of
	over     int   // tasks that have finished, were given up, or were not done when the phase was closed
	closed   bool
	ignored  int

	clock    clock.Clock
	epoch    time.Time     // of the first call
	earliest time.Duration // of the clock, at the call before this one
	now      time.Time     // of this call, as the tracker is told
	wall     time.Time     // of this call, as the host said

	changes int           // of the hosts, as last seen
	cloned  int           // clones that were submitted
	left    int           // changes of when hosts leave, as last told
	leaves  []time.Time   // when hosts leave, as last told
	seen    time.Time     // when attempts were last seen to run
	usual   time.Duration // from one time to the next, at least the interval
	blind   time.Time     // until when silence says nothing

	events   []event
	actions  []Action
	numbers  []int // of tasks or attempts
	order    []int
	served   []int // hosts that no copy gains from, in one call
	unwanted []int // hosts
}

type task struct {
	live         []*attempt // that were not cancelled and are not known to have ended
	tried        []int      // hosts
	failed, lost int        // attempts
	withdrawn    int        // attempts that waited for a host that went away, while no other went on
	dying        int        // attempts that are cancelled and not known to have ended
	why          restart.Decision
	alone        bool // no two attempts may run at once
	waits        bool
	over         bool
	givenUp      bool
}

type attempt struct {
	id           string
	task, number int
	host         int      // nowhere if not known
	avoid        []string // where it must not run, if the engine places
	asOf         time.Time
	ahead        bool // asOf was in the future
	adopted      bool // it was not submitted here
	begun        bool
	dying, ended bool
}

// New returns a phase of which nothing has been observed, or an error that names the field that is out of range. O(n)
// in the number of tasks.
func New(c Config) (*Phase, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	t, recorder, err := newTracker(c)
	if err != nil {
		return nil, err
	}
	n := max(c.Tasks, len(c.Work))
	p := &Phase{
		config: c, hosts: c.Hosts, tracker: t, recorder: recorder, tasks: make([]task, n), attempts: make(map[string]*attempt, n),
		slots: c.Slots, told: c.Slots, usual: c.Interval,
	}
	if !c.Queued {
		for i := range p.tasks {
			p.wait(i, restart.Decision{})
		}
	}
	return p, nil
}

// ready makes of the zero value what it stands for.
func (p *Phase) ready() {
	if p.tracker == nil {
		empty, _ := New(Config{Config: tracker.Config{Work: []float64{}, Interval: time.Second}}) // it is valid
		*p = *empty
	}
}

// SetSlots changes how many attempts may run at once, for an engine that places. A negative number counts as 0. It
// changes nothing if the hosts have slots.
func (p *Phase) SetSlots(slots int) { p.slots = max(slots, 0) }

// SetEligible says whether a task may be duplicated and restarted; at first every task may be both. One that may not be
// duplicated has no clones either, and is submitted again only once what was cancelled of it is known to have ended.
func (p *Phase) SetEligible(task int, duplicate, restart bool) {
	p.ready()
	if task >= 0 && task < len(p.tasks) {
		p.tasks[task].alone = !duplicate
	}
	p.tracker.SetEligible(task, duplicate, restart)
}

// Done reports whether every task has finished or was given up, or the phase was closed.
func (p *Phase) Done() bool { return p.over == len(p.tasks) }

// GivenUp returns the tasks of which too many attempts failed or were lost, in ascending order. A result that comes
// after that changes nothing. O(n).
func (p *Phase) GivenUp() []int {
	var tasks []int
	for i := range p.tasks {
		if p.tasks[i].givenUp {
			tasks = append(tasks, i)
		}
	}
	return tasks
}

// Ledger returns the account of what was launched, won and wasted so far. Ignored counts what Observe was told and
// could make no sense of, too. A cancelled attempt that wins all the same counts as one more that was started.
func (p *Phase) Ledger() tracker.Ledger {
	p.ready()
	l := p.tracker.Ledger()
	l.Ignored += p.ignored
	l.ClockSteps += p.clock.Steps
	return l
}

// Facts returns the facts of the phase as a policy sees them now.
func (p *Phase) Facts() restart.Phase {
	p.ready()
	return p.tracker.Phase()
}

// Rates returns what was learned of the time that a unit of work takes. Read it only.
func (p *Phase) Rates() *estimate.UnitTimes {
	p.ready()
	return p.tracker.Rates()
}

// Journal returns what the tracker was told and what it answered, as [journal.Replay] and package restarttest read it;
// nil without Config.Journal. It holds until the next call of Observe or SetEligible.
func (p *Phase) Journal() []byte {
	if p.recorder == nil {
		return nil
	}
	return p.recorder.Bytes()
}

// Release gives back what the phase's attempts hold of hosts that it shares. Call it when the phase is no longer
// observed: there may be attempts that were cancelled and are not known to have ended. What it holds of a Budget comes
// back by
// [Phase.Close]. O(hosts).
func (p *Phase) Release() {
	for host, n := range p.held {
		p.hosts.load(host, -n)
		p.held[host] = 0
	}
}

// hold counts an attempt on a host, or with -1 takes it away.
func (p *Phase) hold(host, n int) {
	if host == nowhere {
		return
	}
	for len(p.held) <= host {
		p.held = append(p.held, 0)
	}
	if p.held[host]+n >= 0 { // it does not get there once the phase was released
		p.held[host] += n
		p.hosts.load(host, n)
	}
}

// wait puts a task among those to submit, because of the decision or, if that is zero, for a reason that is none of the
// policy's.
func (p *Phase) wait(i int, why restart.Decision) {
	if t := &p.tasks[i]; !t.waits && !t.over {
		t.waits, t.why = true, why
		p.waiting = append(p.waiting, i)
	}
}

// enter counts an attempt in that the tracker has taken.
func (p *Phase) enter(a *attempt) {
	t := &p.tasks[a.task]
	t.live = append(t.live, a)
	t.waits = false
	p.live++
	p.hold(a.host, 1)
	t.try(a.host)
}

// leave takes an attempt out of those that go on.
func (p *Phase) leave(a *attempt) {
	t := &p.tasks[a.task]
	if i := slices.Index(t.live, a); i >= 0 {
		t.live = slices.Delete(t.live, i, i+1)
		p.live--
	}
}

// cancel ends an attempt that the tracker has already taken out.
func (p *Phase) cancel(a *attempt, why restart.Decision) {
	p.leave(a)
	p.die(a)
	p.actions = append(p.actions, Action{Op: Cancel, Task: a.task, ID: a.id, Decision: why})
}

// die counts an attempt as one that ends some time.
func (p *Phase) die(a *attempt) {
	a.dying = true
	p.tasks[a.task].dying++
	p.dying++
}

// numbered returns the attempt of a task that the tracker calls by this number.
func (t *task) numbered(number int) *attempt {
	for _, a := range t.live {
		if a.number == number {
			return a
		}
	}
	return nil
}

func (t *task) try(host int) {
	if host != nowhere && !t.wasOn(host) {
		t.tried = append(t.tried, host)
	}
}

// wasOn reports whether an attempt of the task was ever on the host or submitted for it.
func (t *task) wasOn(host int) bool { return slices.Contains(t.tried, host) }

// isOn reports whether an attempt of the task is there that was not cancelled.
func (t *task) isOn(host int) bool {
	return slices.ContainsFunc(t.live, func(a *attempt) bool { return a.host == host })
}

// attemptName returns a name that nothing has: an adopted attempt may be called as one of ours would be.
func (p *Phase) attemptName(task, number int) string {
	name := strconv.Itoa(task) + "." + strconv.Itoa(number)
	for p.attempts[name] != nil {
		name += "+"
	}
	return name
}
