package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// submit takes a new copy to the books, which begins at once or later. It returns the attempt's number, or none.
func (t *Tracker) submit(task, machine int, begins bool) int {
	s := t.task(task)
	if s == nil {
		return none
	}
	if s.flags&(finished|givenUp) != 0 {
		t.ledger.Ignored++
		return none
	}
	switch {
	case s.copies == none:
		t.submitOriginal(s, int32(task))
	case int(s.attempts) < t.config.Clones:
		t.ledger.Clones++
	default:
		t.history(s).lastCopy = t.now
		t.history(s).duplicates++
		t.ledger.Copies++
		t.candidates.drop(int32(task))
	}
	t.first -= t.firsts(s)
	submitted := t.now
	if t.running >= t.phase.Slots {
		submitted = noTime // it waits for a slot, which is no delay of the dispatch
	}
	i := t.copies.take()
	c := &t.copies.all[i]
	*c = copyState{
		start: submitted, readAll: noTime, remaining: estimate.Unknown, sample: estimate.NoSample,
		task: int32(task), next: s.copies, machine: t.heardOf(machine), attempt: s.attempts,
	}
	s.copies = i
	s.attempts++
	t.first += t.firsts(s)
	t.running++
	t.places.refuse(c.machine, false)
	t.ledger.Started++
	t.count()
	s.tryMachine(c.machine)
	if begins {
		t.begin(s, c)
	}
	return int(c.attempt)
}

// submitOriginal takes a task from those that wait to those that run or are about to.
func (t *Tracker) submitOriginal(s *taskState, task int32) {
	t.active++
	if t.config.Clones > 1 {
		t.mayLackClones(task)
	}
	t.waiting.leave(s)
	s.original = s.attempts
	if s.attempts == 0 && t.config.Budget != nil {
		t.config.Budget.TaskStarted()
	}
}

// beginNow lets a submitted copy run.
func (t *Tracker) beginNow(task, attempt, machine int) {
	i := t.find(task, attempt)
	if i == none {
		return
	}
	c := &t.copies.all[i]
	if c.begun {
		t.ledger.Ignored++
		return
	}
	if machine >= 0 {
		c.machine = t.heardOf(machine)
	}
	if c.start != noTime {
		t.lag.observe(t.now - c.start)
	}
	t.begin(&t.tasks[task], c)
}

// begin lets a copy run from now on. Whether it belongs to the first wave is seen by the tasks that have run, not by
// those that are queued, which may be all that there are.
func (t *Tracker) begin(s *taskState, c *copyState) {
	if !t.runs(s) {
		t.working++
	}
	if c.attempt == s.original {
		s.flags &^= firstWave
		if t.started < t.phase.Slots {
			s.flags |= firstWave
		}
	}
	if s.flags&hasRun == 0 {
		s.flags |= hasRun
		t.started++
	}
	c.start, c.begun, c.resumed = t.now, true, t.saved(s)
	s.tryMachine(c.machine)
}

// runs reports whether a copy of the task has begun; others may wait in the engine's queue.
func (t *Tracker) runs(s *taskState) bool {
	for i := s.copies; i != none; i = t.copies.all[i].next {
		if t.copies.all[i].begun {
			return true
		}
	}
	return false
}

// age is how long a copy has run; 0 before it has begun.
func (t *Tracker) age(c *copyState) time.Duration {
	if !c.begun {
		return 0
	}
	return t.now - c.start
}

// heardOf returns the place of a machine; one that was not heard of before has made no progress.
func (t *Tracker) heardOf(machine int) int32 {
	place := t.places.of(machine)
	t.peers.grow(len(t.places.numbers))
	if t.phase.Machines > 0 {
		t.phase.Machines = max(t.phase.Machines, len(t.places.numbers))
	}
	return place
}

// isClone reports whether a copy is one of its task's first ones.
func (t *Tracker) isClone(c *copyState) bool { return int(c.attempt) < t.config.Clones }

// firsts counts the copies of a task that are its first ones, not the ones made because it is slow: its clones, and at
// least one as long as it has any.
func (t *Tracker) firsts(s *taskState) int {
	n := 0
	for i := s.copies; i != none; i = t.copies.all[i].next {
		if t.isClone(&t.copies.all[i]) {
			n++
		}
	}
	if s.copies != none {
		n = max(n, 1)
	}
	return n
}
