package engine

import (
	"slices"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/internal/cluster"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Phase keeps the tracker of one phase in step with the engine that runs its tasks. The zero value is a phase without
// tasks. Not safe for concurrent use.
type Phase struct {
	config   Config
	machines *Machines
	tracker  *tracker.Tracker
	recorder *journal.Recorder // watches the tracker; nil without a journal
	recorded []byte            // the journal before the recorder's

	book    book
	time    timeline
	sight   sight
	heard   heard         // of the machines
	slots   int           // what SetSlots says, if the machines do not say
	told    int           // the slots that the tracker was told of
	ignored int           // what Poll was told and could make no sense of
	decided time.Duration // when all was last decided about; never if it was not

	restored bool // and not called since
	closed   bool
	released bool // and holds nothing of the machines
	scratch  scratch
}

// heard is what a phase has taken notice of that its machines count.
type heard struct {
	losses, departures int
	leaves             []time.Time // when machines leave, as the tracker was told
}

// scratch is memory that is used at each call.
type scratch struct {
	actions  []Action
	events   []event
	chosen   map[int]string // attempts by task whose results are published, of tasks that are not over
	order    []int
	served   []int // machines that no copy gains from
	unwanted []int // machines
	slow     []int // machines
}

// New returns a phase of which nothing has been observed, or an error that names the field that is out of range. O(n)
// in the number of tasks.
func New(c Config) (*Phase, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	p := &Phase{config: c, machines: c.Machines, sight: sight{usual: c.Interval}, decided: never}
	config := c.tracker(p.observe)
	p.slots, p.told = config.Slots, config.Slots
	if c.Journal {
		p.recorder = journal.NewRecorder(config)
	}
	var err error
	if p.tracker, err = tracker.New(config); err != nil {
		return nil, err
	}
	p.book = newBook(max(c.Tasks, len(c.Work)))
	if !c.Preloaded {
		p.book.waiting = make([]int, 0, len(p.book.tasks))
		for i := range p.book.tasks {
			p.book.wait(i, nil)
		}
	}
	return p, nil
}

// observe takes an event of the tracker.
func (p *Phase) observe(e tracker.Event, a tracker.Answer) {
	if p.recorder != nil {
		p.recorder.OnEvent(e, a)
	}
	if p.config.OnEvent != nil {
		p.config.OnEvent(e, a)
	}
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
// changes nothing if the machines have slots.
func (p *Phase) SetSlots(slots int) { p.slots = max(slots, 0) }

// SetEligible says whether a task may be duplicated and restarted; at first every task may be both. One that may not be
// duplicated has no clones either, and is submitted again only once what was cancelled of it is known to have ended.
func (p *Phase) SetEligible(task int, copies, restart bool) {
	p.ready().SetEligible(task, copies, restart)
	if task >= 0 && task < len(p.book.tasks) {
		p.book.tasks[task].alone = !copies
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
func (p *Phase) GivenUp() (tasks []int) {
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
func (p *Phase) Outstanding() (all []Action) {
	for _, a := range p.book.pending {
		if op, open := a.request(&p.book.tasks[a.task]); open {
			all = append(all, p.action(a, op))
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

// Release gives back what the phase's attempts hold of machines that it shares. Call it when the phase is no longer
// observed: there may be attempts that were cancelled and are not known to have ended. What it holds of a Budget comes
// back by [Phase.Close]. O(attempts).
func (p *Phase) Release() {
	for _, a := range p.book.attempts {
		if !a.ended {
			p.hold(a.machine, -1)
		}
	}
	p.released = true
}

// hold counts an attempt on a machine, or with -1 takes it away.
func (p *Phase) hold(machine, n int) {
	if machine != nowhere && !p.released {
		p.machines.set.Load(machine, n)
	}
}

const nowhere = cluster.Nowhere

// never stands for the time of what has not happened.
const never time.Duration = -1

// book is what is known of the tasks and their attempts: what is wanted, and what was seen.
type book struct {
	tasks    []task
	attempts map[string]*attempt
	room     []attempt  // for the next ones
	adopted  bool       // some attempt was adopted, so that a name may be taken
	waiting  []int      // tasks to submit; some may not wait any more, some may stand there twice
	sorted   bool       // they stand in order, each once
	pending  []*attempt // with a request that is not seen to have been carried out; some may not have one any more
	live     int        // attempts that the tracker takes to run or to be queued
	dying    int        // attempts that are cancelled and not known to have ended
	over     int        // tasks that have finished, were given up, or were not done when the phase was closed
}

func newBook(tasks int) book {
	b := book{tasks: make([]task, tasks), attempts: make(map[string]*attempt, tasks)}
	for i := range b.tasks {
		t := &b.tasks[i]
		t.live, t.tried = t.oneLive[:0], t.oneTried[:0]
	}
	return b
}

type task struct {
	live         []*attempt        // that were not cancelled and are not known to have ended
	tried        []int             // machines
	oneLive      [1]*attempt       // room for the first of live
	oneTried     [1]int            // room for the first of tried
	winner       *attempt          // whose result is the task's
	failed, lost int               // attempts
	withdrawn    int               // attempts that waited for a machine that went away, while no other went on
	untraced     int               // attempts that were submitted and never seen
	dying        int               // attempts that are cancelled and not known to have ended
	why          *restart.Decision // why it waits; nil for the zero Decision
	alone        bool              // no two attempts may run at once
	waits        bool
	over         bool
	givenUp      bool
}

type attempt struct {
	id           string
	task, number int
	machine      int               // nowhere if not known
	avoid        []string          // where it must not run, if the engine places
	why          *restart.Decision // of the request; nil for the zero Decision
	asOf         time.Time         // of the last report, as told
	submitted    time.Duration     // when it was first submitted, if it was not adopted
	since, asked time.Duration     // when what is requested was first asked for, and last
	seen         time.Duration     // when it was last shown, or never
	again        uint8             // how often the request was repeated
	pending      bool              // it stands among those with a request
	ahead        bool              // asOf was in the future
	adopted      bool              // it was not submitted here
	late         bool              // it began long before it was first told of, so its age is not known
	begun        bool
	dying, ended bool
	gone         bool // it counts as ended since it was missing for too long
	published    bool
}

// request returns what an attempt was asked for that has not been seen to have happened.
func (a *attempt) request(t *task) (op Op, open bool) {
	switch {
	case a.dying && !a.ended:
		return Cancel, true
	case t.winner == a:
		return Publish, !a.published
	}
	return Submit, !a.ended && !a.adopted && a.seen == never
}

// find returns the attempt of a name, or nil if it was never heard of. Most are among those of their task that go on.
func (b *book) find(id string, task int) *attempt {
	for _, a := range b.tasks[task].live {
		if a.id == id {
			return a
		}
	}
	return b.attempts[id]
}

// because returns where a decision is kept; nil for the zero Decision, which most requests have.
func because(d restart.Decision) *restart.Decision {
	if d == (restart.Decision{}) {
		return nil
	}
	kept := d // not d itself, which would be allocated for the zero Decision, too
	return &kept
}

// wait puts a task among those to submit unless an attempt of it goes on, because of the decision or, if that is nil, for a
// reason that is none of the policy's.
func (b *book) wait(i int, why *restart.Decision) {
	if t := &b.tasks[i]; !t.waits && !t.over && len(t.live) == 0 {
		t.waits, t.why = true, why
		b.waiting, b.sorted = append(b.waiting, i), false
	}
}

// add takes a new attempt to the book, and its slot on its machine. Attempts are allocated many at once, and kept for as long as
// the phase.
func (p *Phase) add(a attempt) *attempt {
	b := &p.book
	if len(b.room) == 0 {
		b.room = make([]attempt, min(max(len(b.attempts), 8), 64))
	}
	kept := &b.room[0]
	b.room = b.room[1:]
	*kept = a
	b.attempts[a.id] = kept
	b.adopted = b.adopted || a.adopted
	p.hold(a.machine, 1)
	return kept
}

// enter counts an attempt in that the tracker has taken.
func (p *Phase) enter(a *attempt) {
	t := &p.book.tasks[a.task]
	t.live = append(t.live, a)
	t.waits = false
	t.try(a.machine)
	p.book.live++
}

// leave takes an attempt out of those that go on.
func (p *Phase) leave(a *attempt) {
	t := &p.book.tasks[a.task]
	if i := slices.Index(t.live, a); i >= 0 {
		t.live = slices.Delete(t.live, i, i+1)
		p.book.live--
	}
}

// die counts an attempt as one that ends some time.
func (p *Phase) die(a *attempt) {
	a.dying = true
	p.book.tasks[a.task].dying++
	p.book.dying++
}

// retire counts an attempt as one that has ended.
func (p *Phase) retire(a *attempt) {
	a.ended = true
	p.leave(a)
	p.hold(a.machine, -1)
	if a.dying {
		p.book.tasks[a.task].dying--
		p.book.dying--
	}
}

// settle ends a task, with a result or without.
func (b *book) settle(t *task, winner *attempt) {
	t.over, t.waits, t.givenUp = true, false, false
	t.winner = winner
	b.over++
}

// note puts an attempt among those with a request.
func (b *book) note(a *attempt) {
	if !a.pending {
		a.pending = true
		b.pending = append(b.pending, a)
	}
}

// name returns a name that nothing has: an adopted attempt may be called as one of ours would be. Ours differ, since the
// tracker gives no number of a task twice.
func (b *book) name(task, number int) string {
	var text [40]byte
	name := string(strconv.AppendInt(append(strconv.AppendInt(text[:0], int64(task), 10), '.'), int64(number), 10))
	for b.adopted && b.attempts[name] != nil {
		name += "+"
	}
	return name
}

func (t *task) try(machine int) {
	if machine != nowhere && !t.wasOn(machine) {
		t.tried = append(t.tried, machine)
	}
}

// wasOn reports whether an attempt of the task was ever on the machine or submitted for it.
func (t *task) wasOn(machine int) bool { return slices.Contains(t.tried, machine) }

// on returns the machines on which an attempt of the task is that was not cancelled, in the memory of a list.
func (t *task) on(list []int) []int {
	return slices.DeleteFunc(append(list[:0], t.tried...), func(machine int) bool { return !t.isOn(machine) })
}

// isOn reports whether an attempt of the task is there that was not cancelled.
func (t *task) isOn(machine int) bool {
	return slices.ContainsFunc(t.live, func(a *attempt) bool { return a.machine == machine })
}
