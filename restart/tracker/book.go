package tracker

import (
	"time"

	"github.com/straggler-go/straggler/internal/clock"
)

// book records the tasks of the phase and their attempts: which tasks wait, which attempts run, on which machines
// each task was tried, and how many copies and restarts each task had. In the book a machine is an index into the
// machines of [fleet], and not the host's number. The book contains no estimates of how long attempts take.
type book struct {
	clock clock.Clock
	// The time since the first event. It never decreases.
	now time.Duration
	// The time of the latest begin or end of an attempt.
	lastChange time.Duration
	// The number of events so far.
	events    int
	tasks     []taskState
	rows      *rows // nil unless the phase grows
	attempts  attemptPool
	histories []history
	// How many clones each task may have, at least 1. Clones are attempts of a task that are started from the
	// beginning, before anything is slow. The first attempt of a task is its first clone.
	clones  int32
	waiting queue
	// The tasks that are worth a copy. The last decision about such a task was Copy, or the task would have been copied if
	// there had been a slot, or a suitable slot, for the copy. The order has no meaning.
	candidates []int32
	// The tasks that may have fewer clones than Config.Clones, in the order in which they started. A clone is an
	// attempt that is started beside the first attempt from the beginning, before anything is slow.
	cloning []int32
	// How many attempts may run at once.
	slots int
	// The number of attempts that run or wait in an engine's queue.
	running int
	// The number of attempts that are not copies: the clones of each task, and at least one attempt of each task that
	// has attempts.
	first int
	// The number of tasks with an attempt that has begun and not ended.
	working int
	// The number of tasks that have ever run. The first wave of attempts is over when this number reaches the number
	// of slots.
	started int
	// The number of tasks that are finished now.
	finished int
	// The number of successes so far. It may be larger than the number of finished tasks, because a task whose output
	// was lost may succeed again.
	successes int
}

// newBook returns a book in which all tasks wait. The function known says whether the work of a task is known. Clones
// is the number of clones that each task may have.
func newBook(work []float64, known func(task int) bool, slots, clones int, grows bool) book {
	b := book{
		tasks: make([]taskState, len(work)), slots: slots, clones: int32(clones),
		attempts: attemptPool{make([]attemptState, 0, min(len(work), slots, 8)), none},
	}
	for i := range b.tasks {
		b.tasks[i] = newTask(work[i], known(i))
	}
	if grows {
		b.rows = newRows(len(work))
	}
	b.fillQueue()
	return b
}

// task returns the state of the task with the given index; nil if there is no such task.
func (b *book) task(task int) *taskState {
	if task < 0 || task >= len(b.tasks) {
		return nil
	}
	return &b.tasks[task]
}

// find returns the index, in the pool, of an attempt that has not ended. It returns none if there is no such attempt.
func (b *book) find(task, attempt int) int32 {
	if s := b.task(task); s != nil {
		for i := s.newest; i != none; i = b.attempts.all[i].next {
			if int(b.attempts.all[i].attempt) == attempt {
				return i
			}
		}
	}
	return none
}

// late decides about a late success. The host says that an attempt has finished, but the tracker already counts the
// attempt as ended. If this success can still end the task, late returns the task. Otherwise it returns nil. If the
// task's output was lost, an attempt from before the loss cannot end the task any more.
func (b *book) late(task, attempt int) *taskState {
	s := b.task(task)
	if s == nil || attempt < 0 || attempt >= int(s.launched) || s.flags&finished != 0 || b.find(task, attempt) != none {
		return nil
	}
	if h := b.past(s); h != nil && attempt < int(h.lost) {
		return nil
	}
	return s
}

// attemptOf converts an index into restart.Task.Attempts to the number of the attempt.
func (b *book) attemptOf(s *taskState, index int) int {
	i := s.newest
	for range index {
		if b.attempts.all[i].next == none {
			break
		}
		i = b.attempts.all[i].next
	}
	return int(b.attempts.all[i].attempt)
}

// furthest returns the share of a task that is done: 1 if it has finished, and otherwise the largest score of its
// attempts.
func (b *book) furthest(s *taskState) (score float64) {
	if s.flags&finished != 0 {
		return 1
	}
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		score = max(score, b.attempts.all[i].score)
	}
	return score
}

// several reports whether more than one attempt of a task runs or waits in an engine's queue.
func (b *book) several(s *taskState) bool {
	return s.newest != none && b.attempts.all[s.newest].next != none
}

// runs reports whether at least one attempt of the task runs. Other attempts of the task may wait in an engine's
// queue.
func (b *book) runs(s *taskState) bool {
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		if b.attempts.all[i].begun {
			return true
		}
	}
	return false
}

// age returns how long an attempt has run; 0 if it has not begun.
func (b *book) age(a *attemptState) time.Duration {
	if !a.begun {
		return 0
	}
	return b.now - a.start
}

// isClone reports whether an attempt is a clone. The clones of a task are its first attempts: as many as
// Config.Clones.
func (b *book) isClone(a *attemptState) bool { return a.attempt < b.clones }

// oldest returns the index of the attempt of a task that has run longest. If two attempts began at the same time, it
// returns the attempt with the lower number.
func (b *book) oldest(s *taskState) (oldest int32) {
	oldest = s.newest
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		if b.age(&b.attempts.all[i]) >= b.age(&b.attempts.all[oldest]) {
			oldest = i
		}
	}
	return oldest
}

// isCopy reports whether an attempt is a copy: it was launched beside another attempt of the task, and is no clone.
func (b *book) isCopy(s *taskState, a *attemptState) bool {
	return a.attempt != s.original && !b.isClone(a)
}

// firsts returns how many attempts of a task are not copies. These are the clones of the task. If the task has
// attempts, but no clone among them, then one attempt is not a copy, and firsts returns 1.
func (b *book) firsts(s *taskState) int {
	n := 0
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		if b.isClone(&b.attempts.all[i]) {
			n++
		}
	}
	if s.newest != none {
		n = max(n, 1)
	}
	return n
}

// copies returns how many copies run or wait in an engine's queue.
func (b *book) copies() int { return b.running - b.first }

// history returns the history of a task, which the caller may change. A history records the copies, restarts and
// other rare facts of a task. If the task has no history, it gets one.
func (b *book) history(s *taskState) *history {
	if r := b.rows; s.history == none && r != nil && len(r.histories) > 0 {
		last := len(r.histories) - 1
		s.history, r.histories = r.histories[last], r.histories[:last]
	} else if s.history == none {
		s.history = int32(len(b.histories))
		b.histories = append(b.histories, newHistory())
	}
	return &b.histories[s.history]
}

// past returns the history of a task; nil if it has none.
func (b *book) past(s *taskState) *history {
	if s.history == none {
		return nil
	}
	return &b.histories[s.history]
}

// save records how much of a task's work a checkpoint contains.
func (b *book) save(s *taskState, work float64) {
	if work > 0 && s.work > 0 {
		b.history(s).saved = partOf(work, s.work)
	}
}

// saved returns the part of a task's work that a new attempt need not do, because a checkpoint contains it.
func (b *book) saved(s *taskState) part {
	if h := b.past(s); h != nil {
		return h.saved
	}
	return 0
}

// role says why an attempt was launched.
type role uint8

const (
	asOriginal role = iota // the task had no other attempt
	asClone                // it is a clone, beside another attempt
	asCopy                 // it is a copy, beside another attempt
)

// submit adds a new attempt of a task. Machine is the index of the machine, or none if it is not known. The attempt
// has not begun to run.
func (b *book) submit(task, machine int32) (*attemptState, role) {
	s, as := &b.tasks[task], asOriginal
	switch {
	case s.newest == none:
		b.leave(s)
		s.original = s.launched
		b.mayLackClones(task)
	case s.launched < b.clones:
		as = asClone
	default:
		as = asCopy
		h := b.history(s)
		h.lastCopy = b.now
		h.copies++
		b.dropCandidate(task)
	}
	b.first -= b.firsts(s)
	submitted := b.now
	if b.running >= b.slots {
		submitted = noTime // it waits for a slot, so the time until its begin is no dispatch delay
	}
	i := b.attempts.take(min(len(b.tasks), b.slots))
	a := &b.attempts.all[i]
	*a = attemptState{
		track: newTrack(), start: submitted, task: task, next: s.newest, machine: machine, attempt: s.launched,
	}
	s.newest = i
	s.launched++
	b.first += b.firsts(s)
	b.running++
	s.addMachine(machine)
	return a, as
}

// begin records that an attempt begins to run now. Machine is the index of its machine. If Machine is none, the attempt
// runs on the machine of its submission. The first wave is the first attempts of as many tasks as the phase has slots. It is counted here
// and not at the submission, because the host may submit all tasks to an engine's queue at once.
func (b *book) begin(a *attemptState, machine int32) {
	s := &b.tasks[a.task]
	if machine != none {
		a.machine = machine
	}
	if !b.runs(s) {
		b.working++
	}
	if a.attempt == s.original {
		s.flags &^= firstWave
		if b.started < b.slots {
			s.flags |= firstWave
		}
	}
	if s.flags&hasRun == 0 {
		s.flags |= hasRun
		b.started++
	}
	a.start, a.begun, a.resumed = b.now, true, b.saved(s)
	b.lastChange = b.now
	s.addMachine(a.machine)
}

// end removes an attempt from its task. If the task has no other attempt, the caller must then put the task into the
// queue of waiting tasks, or call finish.
func (b *book) end(i int32) {
	a := &b.attempts.all[i]
	s := &b.tasks[a.task]
	ran := b.runs(s)
	b.first -= b.firsts(s)
	for link := &s.newest; *link != none; link = &b.attempts.all[*link].next {
		if *link == i {
			*link = a.next
			break
		}
	}
	b.first += b.firsts(s)
	if !b.runs(s) {
		if ran {
			b.working--
		}
		b.dropCandidate(a.task)
	}
	b.attempts.give(i)
	b.running--
	b.lastChange = b.now
}

// finish records that a task has ended with success. All attempts of the task must have been removed before.
func (b *book) finish(task int32) {
	s := &b.tasks[task]
	b.leave(s)
	s.flags = s.flags&^givenUp | finished
	b.finished++
	b.successes++
	b.noteEnd(task)
}

// unfinish makes a finished task wait again, because its output was lost.
func (b *book) unfinish(task int32) {
	s := &b.tasks[task]
	s.flags &^= finished
	b.finished--
	b.enter(task)
	b.history(s).lost = s.launched
}

// giveUp records that the host will not run a waiting task again. It returns false if the task does not wait.
func (b *book) giveUp(s *taskState) bool {
	if s.flags&waits == 0 {
		return false
	}
	b.leave(s)
	s.flags |= givenUp
	return true
}

// retry records that a task that was given up waits again. It returns false if the task was not given up.
func (b *book) retry(task int32) bool {
	s := &b.tasks[task]
	if s.flags&givenUp == 0 {
		return false
	}
	s.flags &^= givenUp
	b.enter(task)
	return true
}

// noteKill records in the history of a task that the host kills its attempt i. Restarts says that the host kills it in
// order to run the task again. The kill of the oldest of several attempts is a restart, too: a copy replaces it.
func (b *book) noteKill(s *taskState, i int32, restarts bool) {
	several := b.several(s)
	if several {
		b.history(s).lastCopy = b.now
	}
	if restarts || several && b.oldest(s) == i {
		b.history(s).restarts++
	}
}

// setScore sets the progress score of an attempt.
func (b *book) setScore(a *attemptState, score float64) { a.score = score }

// startsAnew records that an attempt has not used the checkpoint that it could have resumed from.
func (b *book) startsAnew(a *attemptState) { a.resumed = 0 }

// tick counts an event, and sets the current time to the time of the event. If the host's clock has stepped back, the
// time of the book continues from the last time. The zero time of an untimed event changes nothing.
func (b *book) tick(at time.Time, timed bool) {
	b.events++
	if timed {
		b.now = b.clock.At(at)
	}
}

// setSlots sets how many attempts may run at once, and returns by how many slots the number changed.
func (b *book) setSlots(slots int) (change int) {
	slots = min(max(slots, 0), maxTasks)
	change, b.slots = slots-b.slots, slots
	return change
}

// mayLackClones adds a task to the list b.cloning, if the task had fewer attempts so far than Config.Clones.
func (b *book) mayLackClones(task int32) {
	if s := &b.tasks[task]; b.clones > 1 && s.flags&cloning == 0 && s.launched < b.clones {
		s.flags |= cloning
		b.cloning = append(b.cloning, task)
	}
}

// nextClone returns a running task that should get a further clone and was not tried on the machine; none if there is
// no such task. A task should get a further clone if it runs, may be copied, and had fewer attempts so far than
// Config.Clones, with the attempts that have ended. On its way, nextClone removes the tasks that need no further clone from
// the list b.cloning. Tasks that were tried on the machine stay in the list.
func (b *book) nextClone(machine int32) int32 {
	kept, list := 0, b.cloning
	for i, task := range list {
		if s := &b.tasks[task]; s.newest == none || s.flags&(finished|noCopy) != 0 || s.launched >= b.clones {
			s.flags &^= cloning
			continue
		} else if !s.ranOn(machine) {
			copy(list[i-kept:i], list[:kept])
			b.cloning = list[i-kept:]
			return task
		}
		list[kept] = task
		kept++
	}
	b.cloning = list[:kept]
	return none
}

// setEligible forbids for a task the actions whose flags are set in forbidden (noCopy, noRestart). It allows the
// other actions.
func (b *book) setEligible(task int32, forbidden taskFlags) {
	s := &b.tasks[task]
	s.flags = s.flags&^(noCopy|noRestart) | forbidden
	if forbidden&noCopy == 0 && s.newest != none {
		b.mayLackClones(task) // nextClone may have removed it from the list
	}
}
