package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/heap"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// book holds the tasks of the phase and their attempts: which tasks wait, which attempts run, on which machines a task
// was tried, and which copies and restarts it had. A machine is known to the book only by its index in [fleet]. The
// book knows nothing of how long anything takes.
type book struct {
	clock       clock.Clock
	now         time.Duration // time since the first event; never falls
	lastChange  time.Duration // when an attempt last began or ended
	events      int           // number of events so far
	tasks       []taskState
	attempts    attemptPool
	histories   []history
	keepsTrials bool  // histories hold the trials of tasks
	clones      int32 // how many clones each task may have, at least 1
	waiting     queue
	candidates  candidates
	cloning     []int32 // tasks that may lack clones, in the order of their starts
	slots       int
	running     int // attempts that run or wait in an engine's queue
	active      int // tasks with such an attempt
	first       int // attempts that are no copies: the clones of each task, and at least one attempt of each active task
	working     int // tasks with an attempt that has begun
	started     int // tasks that have ever begun; it shows where the first wave ends
	finished    int // tasks that count as finished now
	successes   int // successes so far; a task that lost its output may succeed again
}

// newBook returns a book in which all tasks wait. The first attempts of a task count as clones, up to the given
// number.
func newBook(work []float64, known func(task int) bool, slots, clones int) book {
	b := book{
		tasks: make([]taskState, len(work)), slots: slots, clones: int32(clones),
		attempts: attemptPool{make([]attemptState, 0, min(len(work), slots, 8)), none},
	}
	for i := range b.tasks {
		b.tasks[i] = taskState{
			work: work[i], newest: none, candidate: none, history: none,
			machines: [maxMachines]int32{none, none, none, none},
		}
		if known(i) {
			b.tasks[i].flags |= knownWork
		}
	}
	b.waiting = newQueue(b.tasks)
	b.candidates = candidates{tasks: b.tasks}
	return b
}

// task returns the state of a task; nil for a number out of range.
func (b *book) task(task int) *taskState {
	if task < 0 || task >= len(b.tasks) {
		return nil
	}
	return &b.tasks[task]
}

// find returns the index of an attempt that has not ended; none if there is no such attempt.
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

// late returns the task of an attempt that the tracker already counts as ended, if a success of this attempt can still
// end the task; nil otherwise. An attempt that ended before the task lost its output cannot end the task any more.
func (b *book) late(task, attempt int) *taskState {
	s := b.task(task)
	if s == nil || attempt < 0 || attempt >= int(s.launched) || s.flags&finished != 0 || b.find(task, attempt) != none {
		return nil
	}
	if s.history != none && attempt < int(b.histories[s.history].lost) {
		return nil
	}
	return s
}

// attemptOf returns the number of the task's attempt at an index of restart.Task.Attempts.
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

// several reports whether a task has more than one attempt.
func (b *book) several(s *taskState) bool {
	return s.newest != none && b.attempts.all[s.newest].next != none
}

// runs reports whether an attempt of the task has begun. Other attempts of the task may wait in an engine's queue.
func (b *book) runs(s *taskState) bool {
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		if b.attempts.all[i].begun {
			return true
		}
	}
	return false
}

// age returns how long an attempt has run; 0 before it has begun.
func (b *book) age(a *attemptState) time.Duration {
	if !a.begun {
		return 0
	}
	return b.now - a.start
}

// isClone reports whether an attempt counts as a clone: it is among the first attempts of its task.
func (b *book) isClone(a *attemptState) bool { return a.attempt < b.clones }

// oldest returns the attempt of a task that has run longest; of two attempts that began at the same time, the earlier
// number.
func (b *book) oldest(s *taskState) (oldest int32) {
	oldest = s.newest
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		if b.age(&b.attempts.all[i]) >= b.age(&b.attempts.all[oldest]) {
			oldest = i
		}
	}
	return oldest
}

// isCopy reports whether an attempt was made because its task is slow.
func (b *book) isCopy(s *taskState, a *attemptState) bool {
	return a.attempt != s.original && !b.isClone(a)
}

// firsts counts the attempts of a task that are no copies: its clones, and at least one if the task has any attempt.
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

// copies returns how many attempts run, or wait in an engine's queue, beyond the first attempts of their tasks.
func (b *book) copies() int { return b.running - b.first }

// history returns the history of a task, for changes. It adds a history if the task has none.
func (b *book) history(s *taskState) *history {
	if s.history == none {
		s.history = int32(len(b.histories))
		b.histories = append(b.histories, history{lastCopy: noTime, killed: estimate.NoSample, killedOn: none})
	}
	return &b.histories[s.history]
}

// save records how much of a task's work a checkpoint holds.
func (b *book) save(s *taskState, work float64) {
	if work > 0 && s.work > 0 {
		b.history(s).saved = partOf(work, s.work)
	}
}

// saved returns the part of a task's work that a new attempt finds done.
func (b *book) saved(s *taskState) part {
	if s.history == none {
		return 0
	}
	return b.histories[s.history].saved
}

// A phase may have a million tasks. So a taskState (one per task) and an attemptState (one per attempt that runs or
// waits in an engine's queue) are packed. Facts that few tasks have stand in a history.

const (
	none        = -1
	maxMachines = 4 // machines of earlier attempts that are remembered for a task
)

// noTime stands for a time that is not known.
const noTime time.Duration = num.MinDuration

// taskState is the state of one task.
type taskState struct {
	work      float64
	newest    int32              // index of its newest attempt, the head of its list; none if it has no attempt
	launched  int32              // number of attempts so far
	original  int32              // number of the attempt that was last launched while no other attempt ran
	candidate int32              // index among the candidates, or none
	history   int32              // index into histories; none if the task has no history
	machines  [maxMachines]int32 // machines of its attempts, latest first; none in unused places
	flags     taskFlags
}

// history holds the copies, restarts, lost outputs, checkpoints and trials of a task. Most tasks have no history.
type history struct {
	lastCopy time.Duration // time of the last copy, or of the last kill among several attempts; noTime if none
	restarts int32
	copies   int32
	killed   int32 // sample of the attempt that was killed last, or estimate.NoSample
	killedOn int32 // index of the machine of that attempt, or none
	lost     int32 // number of attempts that the task had when its output was last lost; 0 if it was never lost
	saved    part  // part of the task's work that a checkpoint holds
	trial    restart.Trial
}

// taskFlags are facts of a task that are true or false.
type taskFlags uint16

const (
	finished taskFlags = 1 << iota
	waits
	queued // in the heap of waiting tasks; it stays there for a while after it no longer waits
	noCopy
	noRestart
	givenUp   // the host will not run it again
	firstWave // its original attempt began in the phase's first wave
	hasRun    // an attempt of the task has ever begun
	knownWork // the host gave its work
	cloning   // in the list of tasks that may lack clones
)

// attemptState is one attempt that runs or waits in an engine's queue.
type attemptState struct {
	progress   estimate.Progress
	start      time.Duration // of its begin; before that, of its submit, or noTime if no slot was free then
	doneAt     time.Duration // age at which all work was first known to be done; noTime before
	remaining  time.Duration // when it ends by the host's own t_rem, as an instant; or estimate.Unknown
	score      float64
	trail      survival.Trail
	atStage    float32 // total seconds predicted when it passed the last part of its progress; 0 if not predicted
	task       int32   // none if this entry is free
	next       int32   // index of the task's next older attempt, or of the next free entry
	machine    int32
	attempt    int32
	sample     int32   // its sample in the unit times, or estimate.NoSample
	recordedAt float32 // age in seconds at the last observation that the Record received
	implied    float32 // total seconds that its sample implies
	begun      bool    // it runs; otherwise it waits in an engine's queue
	badUnits   bool    // its last report claimed more work than the task has
	resumed    part    // part of the task's work that a checkpoint held when it began
}

// part is the share of a task's work that a checkpoint holds, in steps of 2^-16. The steps are small beside the work
// that a checkpoint saves.
type part uint16

const (
	parts    = 1 << 16
	mostPart = parts - parts/1024 // a resumed attempt always has something left: to load the checkpoint, and to end
)

// partOf returns some work as a part of all work.
func partOf(work, all float64) part { return part(min(work/all*parts, mostPart)) }

// of returns the part of an amount of work.
func (p part) of(work float64) float64 { return float64(work * (float64(p) / parts)) }

// stint is the work of one attempt: the task's work that a checkpoint does not hold. An attempt counts as an attempt
// of a task with only this work: its progress, rate, samples and score refer to the stint. So little other code has to
// know of checkpoints.
type stint float64

// stint returns the work of the task without the part that was saved.
func (s *taskState) stint(saved part) stint {
	if saved == 0 {
		return stint(s.work)
	}
	return stint(s.work - saved.of(s.work))
}

// units returns the work by which progress is measured. An attempt without work is done when it first reports; its
// progress is a share of 1.
func (w stint) units() float64 {
	if w == 0 {
		return 1
	}
	return float64(w)
}

// addMachine puts a machine first among the machines that the task was tried on.
func (s *taskState) addMachine(machine int32) {
	if machine == none {
		return
	}
	at := len(s.machines) - 1
	for i, m := range s.machines {
		if m == machine {
			at = i
			break
		}
	}
	copy(s.machines[1:at+1], s.machines[:at])
	s.machines[0] = machine
}

// ranOn reports whether a machine is among the machines that the task was tried on.
func (s *taskState) ranOn(machine int32) bool {
	if machine == none {
		return false
	}
	for _, m := range s.machines {
		if m == machine {
			return true
		}
	}
	return false
}

// attemptPool holds the attempts that have not ended, in entries that are used again.
type attemptPool struct {
	all  []attemptState
	free int32 // index of the first free entry, or none
}

// take returns a free entry. When the first entries are full, it makes room at once for as many attempts as may run,
// or for twice as many as there are if the slots come one by one.
func (pool *attemptPool) take(most int) int32 {
	if i := pool.free; i != none {
		pool.free = pool.all[i].next
		return i
	}
	if n := len(pool.all); n == cap(pool.all) && n < most {
		pool.all = append(make([]attemptState, 0, max(most, 2*n)), pool.all...)
	}
	pool.all = append(pool.all, attemptState{})
	return int32(len(pool.all) - 1)
}

// give frees an entry.
func (pool *attemptPool) give(i int32) {
	pool.all[i].task, pool.all[i].next = none, pool.free
	pool.free = i
}

// How attempts begin and end in the book.

// role says why an attempt was made.
type role uint8

const (
	asOriginal role = iota // no other attempt of the task ran
	asClone                // a further clone
	asCopy                 // a copy, because the task is slow
)

// submit adds a new attempt of a task on a machine, which may be none. The attempt has not begun.
func (b *book) submit(task, machine int32) (*attemptState, role) {
	s, as := &b.tasks[task], asOriginal
	switch {
	case s.newest == none:
		b.active++
		b.waiting.leave(s)
		s.original = s.launched
		b.mayLackClones(task)
	case s.launched < b.clones:
		as = asClone
	default:
		as = asCopy
		h := b.history(s)
		h.lastCopy = b.now
		h.copies++
		b.candidates.drop(task)
	}
	b.first -= b.firsts(s)
	submitted := b.now
	if b.running >= b.slots {
		submitted = noTime // it waits for a slot; this is no dispatch delay
	}
	i := b.attempts.take(min(len(b.tasks), b.slots))
	a := &b.attempts.all[i]
	*a = attemptState{
		start: submitted, doneAt: noTime, remaining: estimate.Unknown, sample: estimate.NoSample,
		task: task, next: s.newest, machine: machine, attempt: s.launched,
	}
	s.newest = i
	s.launched++
	b.first += b.firsts(s)
	b.running++
	s.addMachine(machine)
	return a, as
}

// begin starts the age of an attempt now. The first wave is counted by tasks that have run, because all tasks may
// stand in an engine's queue.
func (b *book) begin(a *attemptState) {
	s := &b.tasks[a.task]
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

// end removes an attempt from its task. If it was the last attempt, the caller must put the task into the queue or
// call finish.
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
		b.candidates.drop(a.task)
	}
	if s.newest == none {
		b.active--
	}
	b.attempts.give(i)
	b.running--
	b.lastChange = b.now
}

// finish records that a task without attempts has ended with success.
func (b *book) finish(task int32) {
	s := &b.tasks[task]
	b.waiting.leave(s)
	s.flags = s.flags&^givenUp | finished
	b.finished++
	b.successes++
}

// unfinish makes a finished task wait again.
func (b *book) unfinish(task int32) {
	b.tasks[task].flags &^= finished
	b.finished--
	b.waiting.enter(task)
}

// mayLackClones adds a task to the list of tasks that may lack clones.
func (b *book) mayLackClones(task int32) {
	if s := &b.tasks[task]; b.clones > 1 && s.flags&cloning == 0 && s.launched < b.clones {
		s.flags |= cloning
		b.cloning = append(b.cloning, task)
	}
}

// lacksClone reports whether the task shall have a further clone. Each attempt that the task ever had counts as a
// clone.
func (b *book) lacksClone(s *taskState) bool {
	return s.newest != none && s.flags&(finished|noCopy) == 0 && s.launched < b.clones
}

// nextClone returns a running task that lacks a clone and was not tried on the machine; none if there is no such task.
// It skips tasks that were tried on the machine, and takes tasks that lack no clone any more off the list, once each.
func (b *book) nextClone(machine int32) int32 {
	kept, list := 0, b.cloning
	for i, task := range list {
		if s := &b.tasks[task]; !b.lacksClone(s) {
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

// setEligible sets which actions are forbidden for a task.
func (b *book) setEligible(task int32, forbidden taskFlags) {
	s := &b.tasks[task]
	s.flags = s.flags&^(noCopy|noRestart) | forbidden
	if forbidden&noCopy == 0 && s.newest != none {
		b.mayLackClones(task) // nextClone may have taken it off the list
	}
}

// queue holds the tasks that wait for a slot as a binary heap: most work first, then lowest index. If a task starts
// while it is not at the top of the heap, it stays in the heap until it comes to the top. So a task stands in the heap
// at most once, and its flag says whether it still waits.
type queue struct {
	heap  []int32
	tasks []taskState // the book's
	waits int         // number of tasks that wait
}

// maxPassedOver bounds the number of waiting tasks that first looks at, to find a task that was not tried on the
// machine.
const maxPassedOver = 8

// newQueue returns a queue in which all tasks wait. O(n).
func newQueue(tasks []taskState) queue {
	q := queue{heap: make([]int32, len(tasks)), tasks: tasks, waits: len(tasks)}
	for i := range q.heap {
		q.heap[i] = int32(i)
		tasks[i].flags |= waits | queued
	}
	heap.Init(q.heap, q.before)
	return q
}

// enter makes a task wait.
func (q *queue) enter(task int32) {
	s := &q.tasks[task]
	s.flags |= waits
	q.waits++
	if s.flags&queued == 0 {
		s.flags |= queued
		q.push(task)
	}
}

// leave makes a task wait no longer.
func (q *queue) leave(s *taskState) {
	if s.flags&waits != 0 {
		s.flags &^= waits
		q.waits--
	}
}

// first returns the task to start on the machine; none if no task waits. The task waits until it is started.
func (q *queue) first(machine int32) int32 {
	for len(q.heap) > 0 && q.tasks[q.heap[0]].flags&waits == 0 {
		q.pop()
	}
	switch {
	case len(q.heap) == 0:
		return none
	case !q.tasks[q.heap[0]].ranOn(machine):
		return q.heap[0]
	}
	return q.passOver(machine)
}

// passOver looks for a task that was not tried on the machine, behind a first waiting task that was tried there.
func (q *queue) passOver(machine int32) int32 {
	var passed [maxPassedOver]int32
	n, found := 0, int32(none)
	for n < len(passed) {
		task := q.pop()
		if task == none {
			break
		}
		if q.tasks[task].flags&waits == 0 {
			continue
		}
		passed[n] = task
		n++
		if !q.tasks[task].ranOn(machine) {
			found = task
			break
		}
	}
	for _, task := range passed[:n] {
		q.tasks[task].flags |= queued
		q.push(task)
	}
	if found == none && n > 0 {
		return passed[0] // all tasks near the front were tried here; trying again is better than an idle slot
	}
	return found
}

// before orders the heap.
func (q *queue) before(a, b int32) bool {
	if q.tasks[a].work != q.tasks[b].work {
		return q.tasks[a].work > q.tasks[b].work
	}
	return a < b
}

func (q *queue) push(task int32) { q.heap = heap.Push(q.heap, task, q.before) }

// pop takes the first task off the heap, even if it no longer waits; none if the heap is empty.
func (q *queue) pop() (task int32) {
	if len(q.heap) == 0 {
		return none
	}
	task, q.heap = heap.Pop(q.heap, q.before)
	q.tasks[task].flags &^= queued
	return task
}

// candidates are the tasks that are worth a copy: the last decision about the task was Copy, or refused a copy only
// because of the slot. The order has no meaning.
type candidates struct {
	list  []int32
	tasks []taskState // the book's
}

func (cands *candidates) add(task int32) {
	if s := &cands.tasks[task]; s.candidate == none {
		s.candidate = int32(len(cands.list))
		cands.list = append(cands.list, task)
	}
}

// drop removes a task, and fills the gap with the last candidate.
func (cands *candidates) drop(task int32) {
	at := cands.tasks[task].candidate
	if at == none {
		return
	}
	last := cands.list[len(cands.list)-1]
	cands.list[at] = last
	cands.tasks[last].candidate = at
	cands.list = cands.list[:len(cands.list)-1]
	cands.tasks[task].candidate = none
}
