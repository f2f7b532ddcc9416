package engine

import (
	"slices"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/internal/heap"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/internal/cluster"
)

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

// giveUp ends a task that gets no result from this phase.
func (b *book) giveUp(t *task) {
	b.endTask(t, nil)
	t.givenUp = true
	b.givenUp++
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
