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

// book is the account of the tasks and their copies: who waits, who runs, where a copy was tried, and what was done. It
// knows nothing of machines but the places that [fleet] gives them, and nothing of how long anything takes.
type book struct {
	clock      clock.Clock
	now        time.Duration // since the first event; never falls
	moved      time.Duration // when a copy last began or ended
	told       int           // events so far
	tasks      []taskState
	copies     pool
	histories  []history
	tries      bool  // trials are part of the histories
	clones     int32 // how many first copies each task may have
	waiting    queue
	candidates candidates
	cloning    []int32 // tasks that may lack some of their first copies, in the order of their starts
	slots      int
	running    int // copies, also those that wait in an engine's queue
	active     int // tasks with such a copy
	first      int // copies that are their task's first, at least one of each of those
	working    int // tasks with a copy that has begun
	started    int // tasks that have ever begun, for the first wave
	finished   int // tasks that have ended with success
	ends       int // how often one has
}

// newBook opens the account of tasks that all wait, of which the first copies are counted up to clones.
func newBook(work []float64, known func(task int) bool, slots, clones int) book {
	b := book{
		tasks: make([]taskState, len(work)), slots: slots, clones: int32(clones),
		copies: pool{make([]attemptState, 0, min(len(work), slots, 8)), none},
	}
	for i := range b.tasks {
		b.tasks[i] = taskState{
			work: work[i], copies: none, candidate: none, history: none, tried: [maxTried]int32{none, none, none, none},
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

// find returns the place of a copy that has not ended, or none.
func (b *book) find(task, attempt int) int32 {
	if s := b.task(task); s != nil {
		for i := s.copies; i != none; i = b.copies.all[i].next {
			if int(b.copies.all[i].attempt) == attempt {
				return i
			}
		}
	}
	return none
}

// over returns the task if the attempt is one that was taken as ended while the task goes on. An attempt that had ended
// before the task's output was lost can't end it any more.
func (b *book) over(task, attempt int) *taskState {
	s := b.task(task)
	if s == nil || attempt < 0 || attempt >= int(s.attempts) || s.flags&finished != 0 || b.find(task, attempt) != none {
		return nil
	}
	if s.history != none && attempt < int(b.histories[s.history].lost) {
		return nil
	}
	return s
}

// attemptOf turns the index of a copy among those of its task into the number of the attempt.
func (b *book) attemptOf(s *taskState, index int) int {
	i := s.copies
	for range index {
		if b.copies.all[i].next == none {
			break
		}
		i = b.copies.all[i].next
	}
	return int(b.copies.all[i].attempt)
}

// several reports whether a task has more than one copy.
func (b *book) several(s *taskState) bool {
	return s.copies != none && b.copies.all[s.copies].next != none
}

// runs reports whether a copy of the task has begun; others may wait in the engine's queue.
func (b *book) runs(s *taskState) bool {
	for i := s.copies; i != none; i = b.copies.all[i].next {
		if b.copies.all[i].begun {
			return true
		}
	}
	return false
}

// age is how long a copy has run; 0 before it has begun.
func (b *book) age(c *attemptState) time.Duration {
	if !c.begun {
		return 0
	}
	return b.now - c.start
}

// isClone reports whether a copy is one of its task's first ones.
func (b *book) isClone(c *attemptState) bool { return c.attempt < b.clones }

// oldest returns the copy of a task that has run longest; of two that began at once, the first.
func (b *book) oldest(s *taskState) (oldest int32) {
	oldest = s.copies
	for i := s.copies; i != none; i = b.copies.all[i].next {
		if b.age(&b.copies.all[i]) >= b.age(&b.copies.all[oldest]) {
			oldest = i
		}
	}
	return oldest
}

// isExtra reports whether a copy was made because its task is slow.
func (b *book) isExtra(s *taskState, c *attemptState) bool {
	return c.attempt != s.original && !b.isClone(c)
}

// firsts counts the copies of a task that are its first ones, not the ones made because it is slow: its clones, and at
// least one as long as it has any.
func (b *book) firsts(s *taskState) int {
	n := 0
	for i := s.copies; i != none; i = b.copies.all[i].next {
		if b.isClone(&b.copies.all[i]) {
			n++
		}
	}
	if s.copies != none {
		n = max(n, 1)
	}
	return n
}

// speculative is how many copies run, or are queued, beyond the first ones of their tasks.
func (b *book) speculative() int { return b.running - b.first }

// history returns what was done about a task so far, to add to it.
func (b *book) history(s *taskState) *history {
	if s.history == none {
		s.history = int32(len(b.histories))
		b.histories = append(b.histories, history{lastCopy: noTime, killed: estimate.NoSample, killedOn: none})
	}
	return &b.histories[s.history]
}

// save takes note that a checkpoint holds so much of a task's work.
func (b *book) save(s *taskState, work float64) {
	if work > 0 && s.work > 0 {
		b.history(s).saved = partOf(work, s.work)
	}
}

// saved returns how much of a task's work a copy that begins now finds done.
func (b *book) saved(s *taskState) part {
	if s.history == none {
		return 0
	}
	return b.histories[s.history].saved
}

// There is one taskState for each task and one copyState for each copy that runs or is queued: a phase may have a
// million of them, and so they are packed. What few tasks have stands in a history.

const (
	none     = -1
	maxTried = 4 // machines of earlier attempts that are remembered for a task
)

const noTime time.Duration = num.MinDuration

type taskState struct {
	work      float64
	copies    int32           // the first of its copies, the newest; none if there is none
	attempts  int32           // launched so far
	original  int32           // the attempt that was last launched while no other ran
	candidate int32           // its place among the candidates, or none
	history   int32           // index into histories, or none if nothing was ever done about it
	tried     [maxTried]int32 // latest first, none where empty
	flags     taskFlags
}

// history is what was done about a task. Most tasks have none.
type history struct {
	lastCopy   time.Duration // when a copy beside another was last launched, or killed; noTime if never
	restarts   int32
	duplicates int32
	killed     int32 // the sample of the copy that was killed last, or estimate.NoSample
	killedOn   int32 // the place of its machine, or none
	lost       int32 // how many attempts the task had when its output was lost last; 0 if it never was
	saved      part  // of its work, that a checkpoint holds
	trial      restart.Trial
}

type taskFlags uint16

const (
	finished taskFlags = 1 << iota
	waits
	queued // in the waiting heap, whether it waits or not
	noCopy
	noRestart
	givenUp   // it will not be run again
	firstWave // its original began in the phase's first wave
	hasRun    // some attempt of it has ever begun
	knownWork // its work was given
	cloning   // in the list of tasks that may lack some of their first copies
)

type attemptState struct {
	progress  estimate.Progress
	start     time.Duration // when it began to run; before, when it was submitted with a slot free for it, or noTime
	readAll   time.Duration // age at which all work was first known to be done; noTime before
	remaining time.Duration // the instant at which it ends by the host's own t_rem, or Unknown
	score     float64
	trail     survival.Trail
	atStage   float32 // the total that was predicted when it passed the last part of its progress; 0 if none was
	task      int32   // none if this place is free
	next      int32   // next copy of the task, or next free place
	machine   int32
	attempt   int32
	sample    int32   // in the unit times, or estimate.NoSample
	told      float32 // age in seconds at which the record of the machines was last told of it
	implied   float32 // seconds that its sample stands for
	begun     bool    // it runs, and does not wait in an engine's queue
	badUnits  bool    // its last report was of more work than there is
	resumed   part    // of the task that a checkpoint held when it began
}

// part is a share of a task's work that a checkpoint holds, in steps that are small beside what one saves.
type part uint16

const (
	parts    = 1 << 16
	mostPart = parts - parts/1024 // however much is saved, something is left: to load it, and to end
)

// partOf returns the part that some work is of all.
func partOf(work, all float64) part { return part(min(work/all*parts, mostPart)) }

// of returns the part of an amount of work.
func (p part) of(work float64) float64 { return float64(work * (float64(p) / parts)) }

// stint is the work of a copy: what its task has left behind a checkpoint. A copy counts as one of a task that has only
// that to do: its progress, its rate, its samples and its score are of it. So little else has to know of checkpoints.
type stint float64

// stint returns what is left of a task when so much of it was saved.
func (s *taskState) stint(saved part) stint {
	if saved == 0 {
		return stint(s.work)
	}
	return stint(s.work - saved.of(s.work))
}

// units is the work by which progress is measured. A copy without any work is done as soon as it reports; its progress
// is a share.
func (w stint) units() float64 {
	if w == 0 {
		return 1
	}
	return float64(w)
}

// tryMachine remembers a machine at the front of those that the task was tried on.
func (s *taskState) tryMachine(machine int32) {
	if machine == none {
		return
	}
	at := len(s.tried) - 1
	for i, m := range s.tried {
		if m == machine {
			at = i
			break
		}
	}
	copy(s.tried[1:at+1], s.tried[:at])
	s.tried[0] = machine
}

func (s *taskState) wasTried(machine int32) bool {
	if machine == none {
		return false
	}
	for _, m := range s.tried {
		if m == machine {
			return true
		}
	}
	return false
}

// pool holds the copies that have not ended, in places that are used again.
type pool struct {
	all  []attemptState
	free int32 // the first free place, or none
}

// take returns a place. Once the first places are taken, the pool makes room at once for as many copies as are to run at
// most, and for twice as many as there are if slots are added one by one.
func (p *pool) take(most int) int32 {
	if i := p.free; i != none {
		p.free = p.all[i].next
		return i
	}
	if n := len(p.all); n == cap(p.all) && n < most {
		p.all = append(make([]attemptState, 0, max(most, 2*n)), p.all...)
	}
	p.all = append(p.all, attemptState{})
	return int32(len(p.all) - 1)
}

// give gives a place back.
func (p *pool) give(i int32) {
	p.all[i].task, p.all[i].next = none, p.free
	p.free = i
}

// How copies come and go in the book.

// role is what a new copy is to its task.
type role uint8

const (
	original role = iota // the only one
	clone                // one more of the first ones
	extra                // one that is made because the task is slow
)

// submit takes a new copy of a task to the book, for a place or none. It begins at once, or later.
func (b *book) submit(task, machine int32) (*attemptState, role) {
	s, as := &b.tasks[task], original
	switch {
	case s.copies == none:
		b.active++
		b.waiting.leave(s)
		s.original = s.attempts
		b.mayLackClones(task)
	case s.attempts < b.clones:
		as = clone
	default:
		as = extra
		h := b.history(s)
		h.lastCopy = b.now
		h.duplicates++
		b.candidates.drop(task)
	}
	b.first -= b.firsts(s)
	submitted := b.now
	if b.running >= b.slots {
		submitted = noTime // it waits for a slot, which is no delay of the dispatch
	}
	i := b.copies.take(min(len(b.tasks), b.slots))
	c := &b.copies.all[i]
	*c = attemptState{
		start: submitted, readAll: noTime, remaining: estimate.Unknown, sample: estimate.NoSample,
		task: task, next: s.copies, machine: machine, attempt: s.attempts,
	}
	s.copies = i
	s.attempts++
	b.first += b.firsts(s)
	b.running++
	s.tryMachine(machine)
	return c, as
}

// begin lets a copy run from now on. Whether it belongs to the first wave is seen by the tasks that have run, not by
// those that are queued, which may be all that there are.
func (b *book) begin(c *attemptState) {
	s := &b.tasks[c.task]
	if !b.runs(s) {
		b.working++
	}
	if c.attempt == s.original {
		s.flags &^= firstWave
		if b.started < b.slots {
			s.flags |= firstWave
		}
	}
	if s.flags&hasRun == 0 {
		s.flags |= hasRun
		b.started++
	}
	c.start, c.begun, c.resumed = b.now, true, b.saved(s)
	b.moved = b.now
	s.tryMachine(c.machine)
}

// end takes a copy off its task. A task that loses its last one neither waits nor has ended until the queue or
// [book.finish] has it.
func (b *book) end(i int32) {
	c := &b.copies.all[i]
	s := &b.tasks[c.task]
	ran := b.runs(s)
	b.first -= b.firsts(s)
	for link := &s.copies; *link != none; link = &b.copies.all[*link].next {
		if *link == i {
			*link = c.next
			break
		}
	}
	b.first += b.firsts(s)
	if !b.runs(s) {
		if ran {
			b.working--
		}
		b.candidates.drop(c.task)
	}
	if s.copies == none {
		b.active--
	}
	b.copies.give(i)
	b.running--
	b.moved = b.now
}

// finish takes note that a task without copies has ended with success.
func (b *book) finish(task int32) {
	s := &b.tasks[task]
	b.waiting.leave(s)
	s.flags = s.flags&^givenUp | finished
	b.finished++
	b.ends++
}

// unfinish lets a task that has finished wait again.
func (b *book) unfinish(task int32) {
	b.tasks[task].flags &^= finished
	b.finished--
	b.waiting.enter(task)
}

// mayLackClones puts a task into the list of those that may lack some of their first copies.
func (b *book) mayLackClones(task int32) {
	if s := &b.tasks[task]; b.clones > 1 && s.flags&cloning == 0 && s.attempts < b.clones {
		s.flags |= cloning
		b.cloning = append(b.cloning, task)
	}
}

// lacksClone reports whether a task is to have one more of its first copies: each attempt that it has had counts as one.
func (b *book) lacksClone(s *taskState) bool {
	return s.copies != none && s.flags&(finished|noCopy) == 0 && s.attempts < b.clones
}

// nextClone returns a task that lacks one of its first copies, was not tried on the machine, and still runs; none if
// there is none. It passes over the tasks that were tried on the machine, and once over each that lacks none any more.
func (b *book) nextClone(place int32) int32 {
	kept, list := 0, b.cloning
	for i, task := range list {
		if s := &b.tasks[task]; !b.lacksClone(s) {
			s.flags &^= cloning
			continue
		} else if !s.wasTried(place) {
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

// setEligible says what must not be done to a task.
func (b *book) setEligible(task int32, dont taskFlags) {
	s := &b.tasks[task]
	if s.flags = s.flags&^(noCopy|noRestart) | dont; dont&noCopy == 0 && s.copies != none {
		b.mayLackClones(task) // it may have been passed over
	}
}

// queue holds the tasks that wait for a slot as a binary heap: most work first, lowest index first among equals. A task
// that is started while it is not at the top leaves its place in the heap for later: a task is queued at most once, and
// waits or not.
type queue struct {
	heap  []int32
	tasks []taskState // the book's
	waits int         // tasks that wait
}

// maxPassedOver bounds how many waiting tasks are looked at for one that was not tried on the machine.
const maxPassedOver = 8

// newQueue returns the queue in which all tasks wait. O(n).
func newQueue(tasks []taskState) queue {
	q := queue{heap: make([]int32, len(tasks)), tasks: tasks, waits: len(tasks)}
	for i := range q.heap {
		q.heap[i] = int32(i)
		tasks[i].flags |= waits | queued
	}
	heap.Init(q.heap, q.before)
	return q
}

// enter lets a task wait.
func (q *queue) enter(task int32) {
	s := &q.tasks[task]
	s.flags |= waits
	q.waits++
	if s.flags&queued == 0 {
		s.flags |= queued
		q.push(task)
	}
}

// leave lets a task wait no longer.
func (q *queue) leave(s *taskState) {
	if s.flags&waits != 0 {
		s.flags &^= waits
		q.waits--
	}
}

// first returns the task to start on the machine, which waits until it is started; none if no task waits.
func (q *queue) first(machine int32) int32 {
	for len(q.heap) > 0 && q.tasks[q.heap[0]].flags&waits == 0 {
		q.pop()
	}
	switch {
	case len(q.heap) == 0:
		return none
	case !q.tasks[q.heap[0]].wasTried(machine):
		return q.heap[0]
	}
	return q.passOver(machine)
}

// passOver looks behind the first waiting task, which was tried on the machine, for one that was not.
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
		if !q.tasks[task].wasTried(machine) {
			found = task
			break
		}
	}
	for _, task := range passed[:n] {
		q.tasks[task].flags |= queued
		q.push(task)
	}
	if found == none && n > 0 {
		return passed[0] // tried here before, like all near the front; better than an idle slot
	}
	return found
}

func (q *queue) before(a, b int32) bool {
	if q.tasks[a].work != q.tasks[b].work {
		return q.tasks[a].work > q.tasks[b].work
	}
	return a < b
}

func (q *queue) push(task int32) { q.heap = heap.Push(q.heap, task, q.before) }

// pop takes the first task off the heap, whether it still waits or not; none if the heap is empty.
func (q *queue) pop() (task int32) {
	if len(q.heap) == 0 {
		return none
	}
	task, q.heap = heap.Pop(q.heap, q.before)
	q.tasks[task].flags &^= queued
	return task
}

// candidates are the tasks whose last decision was Duplicate, or would have been but for the slot, in no order of
// meaning.
type candidates struct {
	list  []int32
	tasks []taskState // the book's
}

func (c *candidates) add(task int32) {
	if s := &c.tasks[task]; s.candidate == none {
		s.candidate = int32(len(c.list))
		c.list = append(c.list, task)
	}
}

// drop fills the gap with the last one.
func (c *candidates) drop(task int32) {
	at := c.tasks[task].candidate
	if at == none {
		return
	}
	last := c.list[len(c.list)-1]
	c.list[at] = last
	c.tasks[last].candidate = at
	c.list = c.list[:len(c.list)-1]
	c.tasks[task].candidate = none
}
