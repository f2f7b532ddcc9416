package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/clock"
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
		copies: pool{make([]copyState, 0, min(len(work), slots, 8)), none},
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
func (b *book) age(c *copyState) time.Duration {
	if !c.begun {
		return 0
	}
	return b.now - c.start
}

// isClone reports whether a copy is one of its task's first ones.
func (b *book) isClone(c *copyState) bool { return c.attempt < b.clones }

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
func (b *book) isExtra(s *taskState, c *copyState) bool {
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

// extras counts the copies of a task that were made because it is slow.
func (b *book) extras(s *taskState) (n int) {
	for i := s.copies; i != none; i = b.copies.all[i].next {
		if b.isExtra(s, &b.copies.all[i]) {
			n++
		}
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
