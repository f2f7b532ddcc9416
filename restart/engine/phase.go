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

// Phase keeps the tracker of one phase in step with the engine that runs its tasks. The zero value is a phase
// without tasks. A Phase is not safe for concurrent use.
type Phase struct {
	config   Config
	machines *Machines
	tracker  *tracker.Tracker
	recorder *journal.Recorder // nil without a journal
	recorded []byte            // the journal before the snapshot, of a restored phase

	book    book
	time    timeline
	timing  timing
	noticed noticed
	slots   int           // from SetSlots or Config; not used if the machines have slots
	told    int           // the number of slots that the tracker was last told
	ignored int           // how many reports to Poll made no sense
	decided time.Duration // when the policy was last asked about all tasks, or never

	restored bool // restored from a snapshot, and not polled since
	closed   bool
	released bool // Release was called: the phase holds no slots of machines
	scratch  scratch
}

// noticed holds the counters of Machines as the phase saw them last. The phase acts when a counter has changed.
type noticed struct {
	losses, departures int
	leaves             []time.Time // by machine: when it leaves, as the tracker was told
}

// scratch is memory that each call uses again.
type scratch struct {
	actions  []Action
	events   []event
	chosen   map[int]string // by task: the ID of the attempt with a published result, for tasks that are not over
	order    []int
	refused  []int // machines for which the policy wanted no copy
	unwanted []int // machines
	slow     []int // machines
}

// New returns a phase that has seen nothing yet, or an error that names the field that is out of range. O(n) in
// the number of tasks.
func New(c Config) (*Phase, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	p := &Phase{config: c, machines: c.Machines, timing: timing{period: c.Interval}, decided: never}
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

// observe passes an event of the tracker on to the journal and to Config.OnEvent.
func (p *Phase) observe(e tracker.Event, a tracker.Answer) {
	if p.recorder != nil {
		p.recorder.OnEvent(e, a)
	}
	if p.config.OnEvent != nil {
		p.config.OnEvent(e, a)
	}
}

// ready turns a zero Phase into a phase without tasks, and returns the tracker.
func (p *Phase) ready() *tracker.Tracker {
	if p.tracker == nil {
		empty, _ := New(Config{Work: []float64{}, Interval: time.Second}) // it is valid
		*p = *empty
	}
	return p.tracker
}

// SetSlots changes how many attempts may run at once, for an engine that places attempts itself. A negative
// number counts as 0. SetSlots changes nothing if the machines have slots.
func (p *Phase) SetSlots(slots int) { p.slots = max(slots, 0) }

// SetEligible says whether a task may be copied and whether it may be restarted. At first every task may be
// both. A task that may not be copied has no clones either. The task is submitted again only when its cancelled
// attempts are known to have ended.
func (p *Phase) SetEligible(task int, copies, restart bool) {
	p.ready().SetEligible(task, copies, restart)
	if task >= 0 && task < len(p.book.tasks) {
		p.book.tasks[task].noCopy = !copies
	}
}

// Done reports whether the phase was closed, or every task is over: given up, or finished with a published
// result. O(open requests).
func (p *Phase) Done() bool {
	return p.closed || p.book.over == len(p.book.tasks) && !slices.ContainsFunc(p.book.pending, func(a *attempt) bool {
		op, open := a.request(&p.book.tasks[a.task])
		return open && op == Publish
	})
}

// Published confirms that the engine has carried out Publish for the attempt. Poll returns the Publish again
// until Published is called or Attempt.Published says the same; before that the phase is not [Phase.Done]. An
// ID of an attempt that is not the winner of its task changes nothing. O(1).
func (p *Phase) Published(id string) {
	if a := p.book.attempts[id]; a != nil && p.book.tasks[a.task].winner == a {
		a.published = true
	}
}

// GivenUp returns the tasks that were given up after too many failed or lost attempts, in ascending order. A
// later result of such a task changes nothing. O(n).
func (p *Phase) GivenUp() (tasks []int) {
	for i := range p.book.tasks {
		if p.book.tasks[i].givenUp {
			tasks = append(tasks, i)
		}
	}
	return tasks
}

// Winner returns the ID of the attempt that has won the task: the attempt that Publish names. The result ok is
// false if the task has no winner.
func (p *Phase) Winner(task int) (id string, ok bool) {
	if task < 0 || task >= len(p.book.tasks) || p.book.tasks[task].winner == nil {
		return "", false
	}
	return p.book.tasks[task].winner.id, true
}

// Outstanding returns the requests that the engine has not yet shown as carried out. Poll repeats them in time.
// They are:
//
//   - a Submit of an attempt that no list has shown,
//   - a Cancel of an attempt that is not known to have ended,
//   - a Publish that is not confirmed.
//
// O(open requests).
func (p *Phase) Outstanding() (all []Action) {
	for _, a := range p.book.pending {
		if op, open := a.request(&p.book.tasks[a.task]); open {
			all = append(all, p.action(a, op))
		}
	}
	return all
}

// Ledger returns the account of attempts that were started, won and wasted so far. Its Ignored also counts the
// reports to Poll that made no sense. A cancelled attempt that wins counts as one more started attempt.
func (p *Phase) Ledger() tracker.Ledger {
	l := p.ready().Ledger()
	l.Ignored += p.ignored
	l.ClockSteps += p.time.clock.Steps
	return l
}

// Facts returns the facts of the phase, as a policy gets them now.
func (p *Phase) Facts() restart.Phase { return p.ready().Phase() }

// UnitTimes returns the estimate of the time that a unit of work takes. Only read it.
func (p *Phase) UnitTimes() *estimate.UnitTimes { return p.ready().UnitTimes() }

// Journal returns the events that the tracker was told and its answers, as text for [journal.Replay] and
// package restarttest. Without Config.Journal the result is nil. The text is valid until the next call of Poll,
// Push, Close or SetEligible.
func (p *Phase) Journal() []byte {
	switch {
	case p.recorder == nil:
		return nil
	case len(p.recorded) == 0:
		return p.recorder.Bytes()
	}
	return slices.Concat(p.recorded, p.recorder.Bytes())
}

// Release gives the phase's slots on shared machines back. Call it when nobody polls the phase any more:
// cancelled attempts may not be known to have ended, and they would hold their slots for ever. A Budget is
// given back by [Phase.Close]. O(attempts).
func (p *Phase) Release() {
	for _, a := range p.book.attempts {
		if !a.ended {
			p.occupy(a.machine, -1)
		}
	}
	p.released = true
}

// occupy adds n attempts to the load of a machine; n is 1 or -1.
func (p *Phase) occupy(machine, n int) {
	if machine != nowhere && !p.released {
		p.machines.set.Load(machine, n)
	}
}

// nowhere is the number of an unknown machine.
const nowhere = cluster.Nowhere

// never is the time of an event that has not happened.
const never time.Duration = -1

// book holds the tasks and their attempts: which are wanted, and which the engine has shown.
type book struct {
	tasks    []task
	attempts map[string]*attempt
	room     []attempt  // allocated in advance for the next attempts
	adopted  bool       // some attempt was adopted, so the engine may have given a name that newName would give
	waiting  []int      // tasks to submit; may hold a task that no longer waits, or a task twice
	sorted   bool       // waiting is in order, and holds each task once
	pending  []*attempt // attempts with an open request; may hold attempts whose request is done
	live     int        // attempts that run or are queued, as the tracker knows them
	dying    int        // cancelled attempts that are not known to have ended
	over     int        // tasks that have finished, were given up, or were open when the phase was closed
}

func newBook(tasks int) book {
	b := book{tasks: make([]task, tasks), attempts: make(map[string]*attempt, tasks)}
	for i := range b.tasks {
		t := &b.tasks[i]
		t.live, t.tried = t.oneLive[:0], t.oneTried[:0]
	}
	return b
}

// task is one task and its attempts.
type task struct {
	live         []*attempt        // attempts that run or are queued and were not cancelled
	tried        []int             // machines that run or ran an attempt of the task
	oneLive      [1]*attempt       // memory for the first element of live
	oneTried     [1]int            // memory for the first element of tried
	winner       *attempt          // the attempt that has the task's result, or nil
	failed, lost int               // number of failed and of lost attempts
	withdrawn    int               // how often its only attempt was withdrawn from a queue
	untraced     int               // how many attempts were submitted and never seen
	dying        int               // attempts that are cancelled and not known to have ended
	why          *restart.Decision // why the task waits; nil for the zero Decision
	noCopy       bool              // no two attempts may run at once
	waits        bool              // the task is to be submitted
	over         bool              // the task needs no attempt any more
	givenUp      bool              // too many attempts failed or were lost
}

// attempt is one attempt that was submitted or adopted.
type attempt struct {
	id                    string
	task, number          int
	machine               int               // nowhere if not known
	avoid                 []string          // machines on which it must not run, if the engine places
	why                   *restart.Decision // why the open request was made; nil for the zero Decision
	asOf                  time.Time         // AsOf of the last report, as the engine said it
	submitted             time.Duration     // when it was first submitted; 0 if it was adopted
	firstAsked, lastAsked time.Duration     // when the open request was first made, and when it was last made
	seen                  time.Duration     // when a list last showed it, or never
	repeats               uint8             // how often the open request was repeated
	pending               bool              // it is in book.pending
	ahead                 bool              // asOf was in the future
	adopted               bool              // the engine showed it first: the phase did not submit it
	late                  bool              // it had run for long when it was first seen, so its age is unknown
	begun                 bool              // it runs or ran
	dying, ended          bool              // it was cancelled; it is over
	gone                  bool              // it counts as ended because it was missing for too long
	published             bool              // its result is published
}

// request returns the last request about an attempt, and whether that request is still open.
func (a *attempt) request(t *task) (op Op, open bool) {
	switch {
	case a.dying && !a.ended:
		return Cancel, true
	case t.winner == a:
		return Publish, !a.published
	}
	return Submit, !a.ended && !a.adopted && a.seen == never
}

// find returns the attempt with an ID, or nil. find looks first at the task's live attempts, which is the usual
// case.
func (b *book) find(id string, task int) *attempt {
	for _, a := range b.tasks[task].live {
		if a.id == id {
			return a
		}
	}
	return b.attempts[id]
}

// keep returns a pointer to a copy of a decision; nil for the zero Decision, which most requests have.
func keep(d restart.Decision) *restart.Decision {
	if d == (restart.Decision{}) {
		return nil
	}
	kept := d // d itself would be allocated for the zero Decision too
	return &kept
}

// wait puts a task among the tasks to submit, unless the task is over or has a live attempt. The decision is
// the reason; it is nil if no policy decided.
func (b *book) wait(i int, why *restart.Decision) {
	if t := &b.tasks[i]; !t.waits && !t.over && len(t.live) == 0 {
		t.waits, t.why = true, why
		b.waiting, b.sorted = append(b.waiting, i), false
	}
}

// add puts a new attempt into the book and counts it on its machine. Attempts are allocated many at once. They
// are kept as long as the phase.
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
	p.occupy(a.machine, 1)
	return kept
}

// addLive counts an attempt as live. The tracker knows the attempt already.
func (p *Phase) addLive(a *attempt) {
	t := &p.book.tasks[a.task]
	t.live = append(t.live, a)
	t.waits = false
	t.addTried(a.machine)
	p.book.live++
}

// removeLive takes an attempt out of the live attempts.
func (p *Phase) removeLive(a *attempt) {
	t := &p.book.tasks[a.task]
	if i := slices.Index(t.live, a); i >= 0 {
		t.live = slices.Delete(t.live, i, i+1)
		p.book.live--
	}
}

// markDying counts an attempt as cancelled and not yet ended.
func (p *Phase) markDying(a *attempt) {
	a.dying = true
	p.book.tasks[a.task].dying++
	p.book.dying++
}

// markEnded counts an attempt as ended, and frees its slot.
func (p *Phase) markEnded(a *attempt) {
	a.ended = true
	p.removeLive(a)
	p.occupy(a.machine, -1)
	if a.dying {
		p.book.tasks[a.task].dying--
		p.book.dying--
	}
}

// endTask ends a task, with a winner or without.
func (b *book) endTask(t *task, winner *attempt) {
	t.over, t.waits, t.givenUp = true, false, false
	t.winner = winner
	b.over++
}

// addPending puts an attempt among the attempts with an open request.
func (b *book) addPending(a *attempt) {
	if !a.pending {
		a.pending = true
		b.pending = append(b.pending, a)
	}
}

// newName returns a name that no attempt has: "17.2" for attempt 2 of task 17. The tracker numbers a task's
// attempts without repetition, so only an adopted attempt can have the name already. Then "+" is appended.
func (b *book) newName(task, number int) string {
	var text [40]byte
	name := string(strconv.AppendInt(append(strconv.AppendInt(text[:0], int64(task), 10), '.'), int64(number), 10))
	for b.adopted && b.attempts[name] != nil {
		name += "+"
	}
	return name
}

// addTried adds a machine to the machines where the task was tried.
func (t *task) addTried(machine int) {
	if machine != nowhere && !t.wasOn(machine) {
		t.tried = append(t.tried, machine)
	}
}

// wasOn reports whether an attempt of the task ever ran on the machine or was submitted for it.
func (t *task) wasOn(machine int) bool { return slices.Contains(t.tried, machine) }

// on returns the machines that have a live attempt of the task. The result uses the memory of list.
func (t *task) on(list []int) []int {
	return slices.DeleteFunc(append(list[:0], t.tried...), func(machine int) bool { return !t.isOn(machine) })
}

// isOn reports whether the machine has a live attempt of the task.
func (t *task) isOn(machine int) bool {
	return slices.ContainsFunc(t.live, func(a *attempt) bool { return a.machine == machine })
}
