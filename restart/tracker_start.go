package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// Start records that a copy of the task has begun to run on a machine (negative if not known): the first copy of a task
// that waited, or one more of a task that runs. It returns the attempt's number, or -1 if the task is not to be run
// because it has ended, was given up, or does not exist, which is counted as ignored. It is [Tracker.Submit] and
// [Tracker.Begin] at once.
func (t *Tracker) Start(now time.Time, task, machine int) int {
	attempt := t.Submit(now, task, machine)
	if attempt != none {
		s := &t.tasks[task]
		t.begin(s, &t.copies[s.copies]) // the newest copy is the first of the list
	}
	return attempt
}

// Submit records that a copy of the task was handed to an engine that queues what it is to run, for a machine or, if
// that is negative, for any. It returns what [Tracker.Start] does. The copy counts as one from now on: it holds a slot,
// the task no longer waits, and no policy of this package asks for the same copy again. But it has no age: until
// [Tracker.Begin] its Elapsed is 0 and its Remaining unknown, and it is no sample of anything. A task of whose copies none
// has begun is kept with the reason [NotRunning].
//
// Mantri waits for such a copy as it does after any launch, for CopyPause intervals beyond its begin; that needs a
// Config.Interval above 0. O(log n), no allocation in steady state.
func (t *Tracker) Submit(now time.Time, task, machine int) int {
	t.tick(now)
	s := t.task(task)
	if s == nil || s.flags&(finished|givenUp) != 0 {
		if s != nil {
			t.ledger.Ignored++
		}
		return none
	}
	if s.copies != none {
		t.history(s).lastCopy = t.now
		t.ledger.Copies++
		t.dropCandidate(task)
	} else {
		t.submitOriginal(s)
	}
	i := t.newCopy()
	t.copies[i] = copyState{
		start: noTime, readAll: noTime, remaining: estimate.Unknown, sample: estimate.None,
		task: int32(task), next: s.copies, machine: int32(machineIndex(machine)), attempt: s.attempts,
	}
	s.copies = i
	s.attempts++
	t.running++
	t.ledger.Started++
	t.count()
	t.tryMachine(s, t.copies[i].machine)
	return int(s.attempts - 1)
}

// submitOriginal takes a task from those that wait to those that run or are about to.
func (t *Tracker) submitOriginal(s *taskState) {
	t.active++
	t.leaveQueue(s)
	s.original = s.attempts
	if s.attempts == 0 {
		t.config.Budget.TaskStarted()
	}
}

// Begin records that a submitted attempt has left the engine's queue and begun to run, on a machine or, if that is
// negative, on the one that it was submitted for. Its age counts from now. The begin of an attempt that has begun
// already, or that does not run, changes nothing and is counted as ignored. A [Tracker.Report] of an attempt that has not
// begun begins it too. O(1), no allocation.
func (t *Tracker) Begin(now time.Time, task, attempt, machine int) {
	t.tick(now)
	i := t.find(task, attempt)
	if i == none {
		return
	}
	c := &t.copies[i]
	if c.begun() {
		t.ledger.Ignored++
		return
	}
	if machine >= 0 {
		c.machine = int32(machineIndex(machine))
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
	c.start = t.now
	t.tryMachine(s, c.machine)
}

// runs reports whether a copy of the task has begun; others may wait in the engine's queue.
func (t *Tracker) runs(s *taskState) bool {
	for i := s.copies; i != none; i = t.copies[i].next {
		if t.copies[i].begun() {
			return true
		}
	}
	return false
}

// age is how long a copy has run; 0 before it has begun.
func (t *Tracker) age(c *copyState) time.Duration {
	if !c.begun() {
		return 0
	}
	return t.now - c.start
}
