package engine

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/heap"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/internal/cluster"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Phase runs the tasks of one phase on an engine. It decides which attempts should run, and compares them with the
// attempts that the engine shows. The zero value is a phase without tasks. A Phase is not safe for concurrent use.
type Phase struct {
	config   Config
	machines *Machines
	tracker  *tracker.Tracker
	// Records the journal; nil if Config.Journal is false.
	recorder *journal.Recorder
	// For a restored phase: the journal from before the snapshot.
	recorded []byte

	book    book
	time    timeline
	timing  timing
	noticed noticed
	// The number of slots from SetSlots or Config. It is not used if the machines have slots.
	slots int
	// The number of slots that was last reported to the tracker.
	told int
	// The number of reports that were ignored because they made no sense.
	ignored int
	// The time at which the policy was last asked about all tasks, or the constant never.
	decided time.Duration
	// No attempt has run for longer than its timeout before this time.
	overdue time.Duration

	// In shadow mode, the tasks for which Config.Shadow was called.
	shown map[int]bool
	// True if the phase was restored from a snapshot and has not been polled since.
	restored bool
	closed   bool
	// True if Release was called: the phase occupies no slots of machines any more.
	released bool
	scratch  scratch
}

// noticed contains the values of the counters of Machines at the last call. If a counter has changed since then, the
// phase acts.
type noticed struct {
	losses, departures int
	// For each machine, the time at which it will leave, as it was last reported to the tracker.
	leaves []time.Time
}

// scratch contains slices and a map whose memory is used again in each call.
type scratch struct {
	actions []Action
	events  []event
	// For each task that is not over, the ID of the attempt whose result the engine has published.
	chosen map[int]string
	// The waiting tasks in the order of Config.Order.
	order []int
	// Waiting tasks that found no machine.
	passed []int
	// The machines on which the policy wanted no copy.
	refused []int
	// The machines on which a new attempt should not run.
	unwanted []int
	// The machines that are slow, as computed from earlier attempts (MachinesConfig.Record).
	slow []int
}

// New returns a phase at its start. If a field of the configuration is out of range, it returns an error that states
// the field. O(n) for n tasks.
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
	p.book = newBook(max(c.Tasks, len(c.Work)), c.Work)
	for i, n := range c.Failures {
		p.book.tasks[i].failed = max(n, 0)
	}
	if !c.Preloaded {
		p.book.waiting = make([]int, 0, len(p.book.tasks))
		for i := range p.book.tasks {
			p.book.wait(i, nil)
		}
	}
	return p, nil
}

// observe passes an event of the tracker to the journal and to Config.OnEvent.
func (p *Phase) observe(e tracker.Event, a tracker.Answer) {
	if p.recorder != nil {
		p.recorder.OnEvent(e, a)
	}
	if p.config.OnEvent != nil {
		p.config.OnEvent(e, a)
	}
}

// ready creates the parts of a zero Phase, so that it is a phase without tasks. It returns the tracker.
func (p *Phase) ready() *tracker.Tracker {
	if p.tracker == nil {
		// This configuration is valid, so the error is nil.
		empty, _ := New(Config{Work: []float64{}, Interval: time.Second})
		*p = *empty
	}
	return p.tracker
}

// SetSlots changes how many attempts may run at once. It is for an engine that places attempts itself. A negative
// number is treated as 0. SetSlots changes nothing if the machines have slots.
func (p *Phase) SetSlots(slots int) { p.slots = max(slots, 0) }

// SetEligible sets whether a task may be copied and whether it may be restarted. At first both are allowed for every
// task. A task that may not be copied also gets no clones. After an attempt of such a task was cancelled, the task is
// submitted again only when the attempt is known to have ended, or when it has ignored the Cancel for a timeout.
func (p *Phase) SetEligible(task int, copies, restart bool) {
	p.ready().SetEligible(task, copies, restart)
	if task >= 0 && task < len(p.book.tasks) {
		p.book.tasks[task].noCopy = !copies
	}
}

// Done reports whether the phase was closed, or every task is over. A task is over if it was given up, or if its
// result is published. O(open requests).
func (p *Phase) Done() bool {
	return p.closed || p.book.over == len(p.book.tasks) && !slices.ContainsFunc(p.book.pending, func(a *attempt) bool {
		op, open := a.request(&p.book.tasks[a.task])
		return open && op == Publish
	})
}

// Published confirms that the engine has carried out the Publish of the attempt with this ID. Until Published is
// called, or a report has Attempt.Published set, Poll returns the Publish again and [Phase.Done] is false. If the
// attempt is not the winner of its task, Published changes nothing. O(1).
func (p *Phase) Published(id string) {
	if a := p.book.attempts[id]; a != nil && p.book.tasks[a.task].winner == a {
		a.published = true
	}
}

// GivenUp returns the tasks that were given up after too many failed or lost attempts, in ascending order. If an
// attempt of such a task succeeds later, nothing changes. O(n) for n tasks, or O(1) if no task was given up.
func (p *Phase) GivenUp() (tasks []int) {
	if p.book.givenUp == 0 {
		return nil
	}
	for i := range p.book.tasks {
		if p.book.tasks[i].givenUp {
			tasks = append(tasks, i)
		}
	}
	return tasks
}

// Rest is a task that has failed and waits for the end of its back-off.
type Rest struct {
	Task     int
	Failures int           // the number of failed attempts of the task
	For      time.Duration // the time until the end of the back-off
}

// Resting returns the tasks that wait for the end of their back-off, and of which no cancelled attempt runs. O(tasks
// that wait for the end of their back-off).
func (p *Phase) Resting() (all []Rest) {
	if p.closed {
		return nil
	}
	for _, i := range p.book.resting {
		if t := &p.book.tasks[i]; t.resting && t.dying == 0 {
			all = append(all, Rest{i, t.failed, max(num.Sub(t.rests, p.time.clock.Since), 0)})
		}
	}
	return all
}

// GiveUp gives up a task that waits for the end of its back-off: GivenUp then contains the task. An adapter calls it if
// another phase will run the task, so that a phase need not wait for a long back-off. If the task does not wait for the
// end of its back-off, GiveUp changes nothing.
func (p *Phase) GiveUp(task int) {
	if p.closed || task < 0 || task >= len(p.book.tasks) || !p.book.tasks[task].resting {
		return
	}
	t := &p.book.tasks[task]
	p.book.endTask(t, nil)
	t.givenUp = true
	p.book.givenUp++
}

// Attempts returns the attempts that the phase has submitted or adopted, as they were last reported, by their tasks and
// in the order in which they were submitted. Their times are on the clock of the caller. Progress is left out. An
// attempt that is not known to have ended is Queued or Running. O(n log n) for n attempts.
func (p *Phase) Attempts() []Attempt {
	when := func(d time.Duration) time.Time {
		if d == never {
			return time.Time{}
		}
		return p.time.epoch.Add(d)
	}
	all := slices.SortedFunc(maps.Values(p.book.attempts), func(a, b *attempt) int {
		return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.number, b.number), cmp.Compare(a.id, b.id))
	})
	list := make([]Attempt, len(all))
	for i, a := range all {
		list[i] = Attempt{
			ID: a.id, Task: a.task, Machine: p.machines.set.Name(a.machine), Begun: when(a.since), Ended: when(a.until),
			State: a.fate, Published: a.published,
		}
		if a.fate == Queued && a.begun {
			list[i].State = Running
		}
	}
	return list
}

// Winner returns the ID of the attempt that has won the task. This is the attempt whose result is published. Result
// ok is false if the task has no winner.
func (p *Phase) Winner(task int) (id string, ok bool) {
	if task < 0 || task >= len(p.book.tasks) || p.book.tasks[task].winner == nil {
		return "", false
	}
	return p.book.tasks[task].winner.id, true
}

// Outstanding returns the requests that the engine does not yet show as carried out. Poll repeats them after some
// time. They are:
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

// Ledger returns how many attempts were started, won and wasted so far. Its field Ignored includes the reports that
// were ignored because they made no sense. If a cancelled attempt wins, it is included twice among the started
// attempts.
func (p *Phase) Ledger() tracker.Ledger {
	l := p.ready().Ledger()
	l.Ignored += p.ignored
	l.ClockSteps += p.time.clock.Steps
	return l
}

// Facts returns the facts of the phase that a policy would receive now.
func (p *Phase) Facts() restart.Phase { return p.ready().Phase() }

// UnitTimes returns the estimate of the time that one unit of work takes. Do not change it.
func (p *Phase) UnitTimes() *estimate.UnitTimes { return p.ready().UnitTimes() }

// Journal returns the events that were reported to the tracker, and the tracker's answers. The text can be read by
// [journal.Replay] and package restarttest. If Config.Journal is false, the result is nil. The text is valid until
// the next call of Poll, Push, Close or SetEligible.
func (p *Phase) Journal() []byte {
	switch {
	case p.recorder == nil:
		return nil
	case len(p.recorded) == 0:
		return p.recorder.Bytes()
	}
	return slices.Concat(p.recorded, p.recorder.Bytes())
}

// Release frees the slots that the phase occupies on shared machines. Call it when nobody polls the phase any more.
// Otherwise cancelled attempts that are not known to have ended would occupy their slots for ever. A share of a
// Budget is returned by [Phase.Close]. O(attempts).
func (p *Phase) Release() {
	for _, a := range p.book.attempts {
		if !a.ended {
			p.occupy(a.machine, -1)
		}
	}
	p.released = true
}

// occupy adds n attempts to the number of attempts on a machine; n is 1 or -1.
func (p *Phase) occupy(machine, n int) {
	if machine != nowhere && !p.released {
		p.machines.set.Load(machine, n)
	}
}

// nowhere is the number of an unknown machine.
const nowhere = cluster.Nowhere

// never is used as the time of an event that has not happened.
const never time.Duration = -1

// book contains the tasks and their attempts: the attempts that the phase wants, and the attempts that the engine has
// shown.
type book struct {
	tasks    []task
	attempts map[string]*attempt
	// Memory for the next attempts, allocated in advance.
	room []attempt
	// True if an attempt was adopted: the engine has shown an attempt that the phase did not submit. Then the engine
	// may have given it a name that newName would give to another attempt.
	adopted bool
	// The amount of work of each task; nil if it is not known.
	work []float64
	// The tasks to submit, as a binary heap: the task with the most work is first. A task that is no longer ready stays
	// in the heap until it is the first.
	waiting []int
	// The tasks that rest after a failure.
	resting []int
	// The attempts with an open request. The list may contain attempts whose request is carried out.
	pending []*attempt
	// The number of attempts that run or are queued, as the tracker counts them.
	live int
	// The number of cancelled attempts of the phase that are not known to have ended.
	dying int
	// The number of tasks that have finished, were given up, or were open when the phase was closed.
	over int
	// The number of tasks that were given up.
	givenUp int
}

// newBook returns a book with the given number of tasks and without attempts.
func newBook(tasks int, work []float64) book {
	b := book{tasks: make([]task, tasks), work: work, attempts: make(map[string]*attempt, tasks)}
	for i := range b.tasks {
		t := &b.tasks[i]
		t.live, t.tried = t.oneLive[:0], t.oneTried[:0]
	}
	return b
}

// task is the state of one task and its attempts.
type task struct {
	// The attempts that run or are queued, and were not cancelled.
	live []*attempt
	// The machines that run or ran an attempt of the task.
	tried []int
	// Memory for the first element of live.
	oneLive [1]*attempt
	// Memory for the first element of tried.
	oneTried [1]int
	// The attempt whose result is the task's result, or nil.
	winner *attempt
	// The numbers of failed attempts and of lost attempts.
	failed, lost int
	// How often the task's only attempt was withdrawn from the queue of a machine.
	withdrawn int
	// The time until which the task rests after a failure. While it rests, the task waits for no slot.
	rests time.Duration
	// How many attempts were submitted and never seen.
	untraced int
	// The number of cancelled attempts of the task that are not known to have ended.
	dying int
	// The decision that made the task wait. nil stands for the zero Decision.
	why *restart.Decision
	// True if two attempts of the task must not run at once.
	noCopy bool
	// True if the task is to be submitted.
	waits bool
	// True if the task is in book.waiting.
	queued bool
	// True if the task is not to be submitted before the time rests.
	resting bool
	// True if the task needs no attempt any more.
	over bool
	// True if the task was given up, because too many attempts failed or were lost.
	givenUp bool
}

// attempt is the state of one attempt that the phase has submitted or adopted. An adopted attempt was first shown by
// the engine.
type attempt struct {
	id           string
	task, number int
	// The number of the attempt's machine; nowhere if it is not known.
	machine int
	// The names of machines on which the attempt must not run, if the engine places attempts.
	avoid []string
	// The decision that led to the open request (a request that is not yet carried out); nil for the zero Decision.
	why *restart.Decision
	// The AsOf of the last report, as the engine reported it.
	asOf time.Time
	// The time at which the attempt was first submitted; 0 if it was adopted.
	submitted time.Duration
	// The times at which the attempt began to run and ended, or the constant never.
	since, until time.Duration
	// The times at which the open request was first made and last made.
	firstAsked, lastAsked time.Duration
	// The time at which a list last contained the attempt, or the constant never.
	seen time.Duration
	// How often the open request was repeated.
	repeats uint8
	// True if the attempt is in book.pending.
	pending bool
	// True if asOf was in the future.
	ahead bool
	// True if the engine showed the attempt first: the phase has not submitted it.
	adopted bool
	// True if the attempt had already run for long when it was first seen, so that its age is unknown.
	late bool
	// True if the attempt runs or ran.
	begun bool
	// The state in which the attempt was reported to have ended.
	fate State
	// Field dying is true if the attempt was cancelled, and ended if it has ended.
	dying, ended bool
	// True if the attempt is treated as ended because it was missing for too long.
	gone bool
	// True if the attempt's result is published.
	published bool
}

// request returns the last request about an attempt, and whether this request is still open.
func (a *attempt) request(t *task) (op Op, open bool) {
	switch {
	case a.dying && !a.ended:
		return Cancel, true
	case t.winner == a:
		return Publish, !a.published
	}
	return Submit, !a.ended && !a.adopted && a.seen == never
}

// find returns the attempt with an ID, or nil. It searches the task's live attempts first, because the attempt is
// usually among them.
func (b *book) find(id string, task int) *attempt {
	for _, a := range b.tasks[task].live {
		if a.id == id {
			return a
		}
	}
	return b.attempts[id]
}

// keep returns a pointer to a copy of a decision. For the zero Decision, which most requests have, it returns nil and
// allocates nothing.
func keep(d restart.Decision) *restart.Decision {
	if d == (restart.Decision{}) {
		return nil
	}
	// A pointer to d itself would cause an allocation for the zero Decision, too.
	kept := d
	return &kept
}

// wait adds task i to the tasks to submit, unless the task is over or has a live attempt. The decision why led to
// that; it is nil if no policy decided.
func (b *book) wait(i int, why *restart.Decision) {
	if t := &b.tasks[i]; !t.waits && !t.over && len(t.live) == 0 {
		t.waits, t.why = true, why
		b.enqueue(i)
	}
}

// enqueue puts task i into the heap of tasks to submit, unless it is there.
func (b *book) enqueue(i int) {
	if t := &b.tasks[i]; !t.queued {
		t.queued = true
		b.waiting = heap.Push(b.waiting, i, b.before)
	}
}

// dequeue takes the first task that is ready from the heap. If there is no such task, ok is false.
func (b *book) dequeue() (i int, ok bool) {
	for len(b.waiting) > 0 && !ok {
		i, b.waiting = heap.Pop(b.waiting, b.before)
		b.tasks[i].queued = false
		ok = b.tasks[i].ready()
	}
	return i, ok
}

// ready reports whether a task is to be submitted now.
func (t *task) ready() bool { return t.waits && !t.resting }

// before is the order of waiting tasks: more work first, then the lower index.
func (b *book) before(i, j int) bool {
	if b.work != nil && b.work[i] != b.work[j] {
		return b.work[i] > b.work[j]
	}
	return i < j
}

// add puts a new attempt into the book, and adds it to the number of attempts on its machine. Memory for attempts is
// allocated for many at once. Attempts are kept as long as the phase exists.
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

// addLive adds an attempt to the live attempts of its task. The tracker knows the attempt already.
func (p *Phase) addLive(a *attempt) {
	t := &p.book.tasks[a.task]
	t.live = append(t.live, a)
	t.waits = false
	t.addTried(a.machine)
	p.book.live++
}

// removeLive removes an attempt from the live attempts of its task.
func (p *Phase) removeLive(a *attempt) {
	t := &p.book.tasks[a.task]
	if i := slices.Index(t.live, a); i >= 0 {
		t.live = slices.Delete(t.live, i, i+1)
		p.book.live--
	}
}

// markDying marks an attempt as cancelled but not known to have ended.
func (p *Phase) markDying(a *attempt) {
	a.dying = true
	p.book.tasks[a.task].dying++
	p.book.dying++
}

// markEnded marks an attempt as ended, and frees its slot.
func (p *Phase) markEnded(a *attempt) {
	a.ended = true
	p.removeLive(a)
	p.occupy(a.machine, -1)
	if a.dying {
		p.book.tasks[a.task].dying--
		p.book.dying--
	}
}

// endTask marks a task as over. Argument winner is the attempt that won, or nil.
func (b *book) endTask(t *task, winner *attempt) {
	t.over, t.waits, t.resting, t.givenUp = true, false, false, false
	t.winner = winner
	b.over++
}

// addPending adds an attempt to the attempts with an open request, unless it is among them.
func (b *book) addPending(a *attempt) {
	if !a.pending {
		a.pending = true
		b.pending = append(b.pending, a)
	}
}

// newName returns a name that no attempt has, for example "17.2" for attempt 2 of task 17. The tracker gives each
// attempt of a task a different number. So the name can be in use only if the engine has given it to an adopted
// attempt. Then "+" is appended.
func (b *book) newName(task, number int) string {
	var text [40]byte
	name := string(strconv.AppendInt(append(strconv.AppendInt(text[:0], int64(task), 10), '.'), int64(number), 10))
	for b.adopted && b.attempts[name] != nil {
		name += "+"
	}
	return name
}

// addTried adds a machine to the machines that run or ran an attempt of the task.
func (t *task) addTried(machine int) {
	if machine != nowhere && !t.wasOn(machine) {
		t.tried = append(t.tried, machine)
	}
}

// wasOn reports whether an attempt of the task ever ran on the machine, or was submitted for it.
func (t *task) wasOn(machine int) bool { return slices.Contains(t.tried, machine) }

// on returns the machines that have a live attempt of the task. The result uses the memory of the argument list.
func (t *task) on(list []int) []int {
	return slices.DeleteFunc(append(list[:0], t.tried...), func(machine int) bool { return !t.isOn(machine) })
}

// isOn reports whether the machine has a live attempt of the task.
func (t *task) isOn(machine int) bool {
	return slices.ContainsFunc(t.live, func(a *attempt) bool { return a.machine == machine })
}
