package engine

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/internal/cluster"
)

// nowhere is the number of an unknown machine.
const nowhere = cluster.Nowhere

// never is used as the time of an event that has not happened.
const never time.Duration = -1

// book contains what the phase has asked the engine for, and what the engine has shown. Which tasks wait, and which
// attempts run, is in the book of the tracker.
type book struct {
	tasks    []task
	attempts map[string]*attempt
	// The tasks of a growing phase; nil in a phase of a fixed number of tasks.
	rows *rows
	// Memory for the next attempts, allocated in advance.
	room []attempt
	// True if an attempt was adopted: the engine has shown an attempt that the phase did not submit. Then the engine
	// may have given it a name that newName would give to another attempt.
	adopted bool
	// The tasks that rest after a failure.
	resting []int
	// In a Preloaded phase, the tasks that have lost their attempts and may have to be submitted.
	again []int
	// The attempts with an open request. The list may contain attempts whose request is carried out.
	pending []*attempt
	// The number of cancelled attempts of the phase that are not known to have ended.
	dying int
	// The number of tasks that have finished, were given up, or were open when the phase was closed.
	over int
	// The tasks that were given up since the last call.
	news []int
}

// newBook returns a book with the given number of tasks and without attempts. Grows says that further tasks may come.
func newBook(tasks int, grows bool) book {
	b := book{tasks: make([]task, tasks), attempts: make(map[string]*attempt, tasks)}
	if grows {
		b.rows = newRows(tasks)
	}
	return b
}

// task is the state of one task, beside what the tracker knows about it.
type task struct {
	// The newest live attempt of the task, or nil. Each attempt points to the next older one.
	newest *attempt
	// Other attempts of the task, one for each machine that had one: the head of their list, or nil.
	past *attempt
	// The attempt whose result is the task's result, or nil.
	winner *attempt
	// The decision that made the task wait. nil stands for the zero Decision.
	why *restart.Decision
	// The time until which the task rests after a failure. While it rests, the task waits for no slot.
	rests time.Duration
	// The numbers of failed attempts and of lost attempts.
	failed, lost int32
	// How often the task's only attempt was withdrawn from the queue of a machine.
	withdrawn int32
	// How many attempts were submitted and never seen.
	untraced int32
	// The number of cancelled attempts of the task that are not known to have ended.
	dying int32
	// True if the host has said that two attempts of the task must not run at once. The tracker's flag says less: shadow
	// mode sets it, too.
	alone bool
	// True if the task is in book.again.
	again bool
	// True if the task is not to be submitted before the time rests.
	resting bool
	// True if the task is in book.resting.
	listed bool
	// True if the task needs no attempt any more.
	over bool
	// True if the task was given up.
	givenUp bool
	// True if a copy of the task has failed, and the attempt that it was a copy of still runs (Config.EngineRetries).
	spent bool
	// A mark of sortWaiting.
	marked bool
	// True if the task is to be forgotten (Phase.Forget).
	leaving bool
}

// attempt is the state of one attempt that the phase has submitted or adopted. An adopted attempt was first shown by
// the engine.
type attempt struct {
	id string
	// The next attempt in the list of the task that contains this one, or nil.
	older        *attempt
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

// isLive reports whether an attempt runs or is queued, and was not cancelled. The tracker knows exactly these attempts.
func (a *attempt) isLive() bool { return !a.dying && !a.ended }

// find returns the attempt with an ID, or nil. It searches the newest attempts of the task first, because the attempt
// is usually among them.
func (b *book) find(id string, task int) *attempt {
	a := b.task(task).newest
	for range 4 {
		if a == nil {
			break
		}
		if a.id == id {
			return a
		}
		a = a.older
	}
	return b.attempts[id] // a task may have very many attempts, so the search is short
}

// live returns the live attempts of a task, the oldest first. The result uses the memory of the argument list.
func (t *task) live(list []*attempt) []*attempt {
	list = list[:0]
	for a := t.newest; a != nil; a = a.older {
		list = append(list, a)
	}
	slices.Reverse(list)
	return list
}

// hasOne reports whether the task has a single live attempt.
func (t *task) hasOne() bool { return t.newest != nil && t.newest.older == nil }

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

// wait records that a task that lost an attempt waits again, unless it is over or has a live attempt. The decision why
// led to that; it is nil if no policy decided.
func (p *Phase) wait(i int, why *restart.Decision) {
	t := p.book.task(i)
	if t.over || t.newest != nil {
		return
	}
	t.why = why
	p.spend(i, false)
	if p.config.Preloaded && !p.config.EngineRetries && !t.again {
		t.again = true
		p.book.again = append(p.book.again, i)
	}
}

// spend says whether a task must get no copy as long as its attempt runs, since a copy of it has failed.
func (p *Phase) spend(i int, spent bool) {
	if t := p.book.task(i); t.spent != spent {
		t.spent = spent
		p.tracker.SetEligible(i, !spent && !t.alone, !p.tracker.Task(i).NoRestart)
	}
}

// waits reports whether a task is to be submitted now. Of the tasks that wait in a Preloaded phase, those that never had
// an attempt wait in the engine.
func (p *Phase) waits(i int) bool {
	return p.tracker.Task(i).Waits && (!p.config.Preloaded || p.book.task(i).again)
}

// work returns the work of a task; 0 if the works of tasks are not known.
func (p *Phase) work(task int) float64 {
	switch {
	case p.book.rows != nil:
		return p.tracker.Task(task).Work
	case p.config.Work != nil:
		return p.config.Work[task]
	}
	return 0
}

// before is the order of waiting tasks: more work first, then the lower index.
func (p *Phase) before(i, j int) int {
	return cmp.Or(cmp.Compare(p.work(j), p.work(i)), cmp.Compare(i, j))
}

// add puts a new attempt into the book, and adds it to the number of attempts on its machine. Attempts are kept as long as
// the task is not forgotten.
func (p *Phase) add(a attempt) *attempt {
	b := &p.book
	kept := b.memory()
	*kept = a
	b.attempts[a.id] = kept
	b.adopted = b.adopted || a.adopted
	b.task(a.task).link(kept)
	p.occupy(a.machine, 1)
	return kept
}

// memory returns memory for an attempt: that of a forgotten attempt, or new memory, which is allocated for many attempts
// at once.
func (b *book) memory() *attempt {
	if b.rows != nil && b.rows.spare != nil {
		a := b.rows.spare
		b.rows.spare = a.older
		return a
	}
	if len(b.room) == 0 {
		b.room = make([]attempt, min(max(len(b.attempts), 8), 64))
	}
	a := &b.room[0]
	b.room = b.room[1:]
	return a
}

// link makes an attempt the newest live attempt of its task.
func (t *task) link(a *attempt) { a.older, t.newest = t.newest, a }

// unlink removes an attempt from the list that begins at head, and reports whether the list contained it.
func unlink(head **attempt, a *attempt) bool {
	for link := head; *link != nil; link = &(*link).older {
		if *link == a {
			*link, a.older = a.older, nil
			return true
		}
	}
	return false
}

// retire records that an attempt is not live any more. Of the attempts of one machine the list of past attempts needs
// only one.
func (b *book) retire(a *attempt) {
	if t := b.task(a.task); unlink(&t.newest, a) {
		b.remember(a)
	}
}

// remember puts an attempt that is not live into the list of past attempts, if its machine is not there yet. In a growing
// phase, it puts each attempt there, to find all attempts of a task that is forgotten.
func (b *book) remember(a *attempt) {
	t := b.task(a.task)
	for x := t.past; x != nil; x = x.older {
		if x == a || b.rows == nil && x.machine == a.machine {
			return
		}
	}
	if b.rows == nil && a.machine == nowhere {
		return
	}
	a.older, t.past = t.past, a
}

// markDying marks an attempt as cancelled but not known to have ended.
func (p *Phase) markDying(a *attempt) {
	a.dying = true
	p.book.retire(a)
	p.book.task(a.task).dying++
	p.book.dying++
}

// markEnded marks an attempt as ended, and frees its slot.
func (p *Phase) markEnded(a *attempt) {
	a.ended = true
	p.book.retire(a)
	p.occupy(a.machine, -1)
	if a.dying {
		p.book.task(a.task).dying--
		p.book.dying--
	}
}

// endTask marks a task as over. Argument winner is the attempt that won, or nil.
func (b *book) endTask(t *task, winner *attempt) {
	t.over, t.resting, t.givenUp = true, false, false
	t.winner = winner
	b.over++
}

// giveUp ends a task that gets no result from this phase.
func (b *book) giveUp(task int) {
	t := b.task(task)
	b.endTask(t, nil)
	t.givenUp = true
	b.news = append(b.news, task)
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

// wasOn reports whether an attempt of the task runs or ran on the machine, or waits for it.
func (t *task) wasOn(machine int) bool {
	for a := t.past; a != nil; a = a.older {
		if a.machine == machine {
			return true
		}
	}
	return t.isOn(machine)
}

// isOn reports whether the machine has a live attempt of the task.
func (t *task) isOn(machine int) bool {
	for a := t.newest; a != nil; a = a.older {
		if a.machine == machine {
			return true
		}
	}
	return false
}

// on returns the machines that have a live attempt of the task or, if past is true, ever had one. The result uses the
// memory of the argument list.
func (t *task) on(list []int, past bool) []int {
	list = list[:0]
	for a := t.newest; a != nil; a = a.older {
		if a.machine != nowhere {
			list = append(list, a.machine)
		}
	}
	for a := t.past; past && a != nil; a = a.older {
		if a.machine != nowhere {
			list = append(list, a.machine)
		}
	}
	return list
}
