package tracker

import (
	"iter"
	"time"
)

// TaskInfo is what the tracker knows about a task. The zero value is a task that does not exist.
type TaskInfo struct {
	// Launched is the number of attempts that were started or submitted so far.
	Launched int
	// Waits says that the task waits for a slot: it has not finished, has no attempt and was not given up.
	Waits bool
	// Finished says that an attempt has ended the task with success.
	Finished bool
	// GivenUp says that the host has given up the task; see [Tracker.GiveUp].
	GivenUp bool
	// Work is the size of the task's input, in the unit of Config.Work. If the size of this task is not known, it is the mean of
	// the known sizes. 0 means that no sizes are known.
	Work float64
	// NoCopy and NoRestart say that the task must not be copied or restarted; see [Tracker.SetEligible].
	NoCopy, NoRestart bool
}

// AttemptInfo is what the tracker knows about an attempt that runs, or waits in an engine's queue.
type AttemptInfo struct {
	Task, Attempt int
	// Machine is the number of the attempt's machine; -1 if it is not known.
	Machine int
	// Begun says that the attempt runs. Then Age is how long it has run at the time of the latest event.
	Begun bool
	Age   time.Duration
}

// Task returns what is known about a task. O(1), no allocation.
func (t *Tracker) Task(task int) TaskInfo {
	s := t.phase.book.task(t.phase.book.row(task))
	if s == nil {
		return TaskInfo{}
	}
	work := s.work
	if !t.phase.forecast.sized {
		work = 0
	}
	return TaskInfo{
		Work: work, Launched: int(s.launched), Waits: s.flags&waits != 0, Finished: s.flags&finished != 0, GivenUp: s.flags&givenUp != 0,
		NoCopy: s.flags&noCopy != 0, NoRestart: s.flags&noRestart != 0,
	}
}

// Running returns the number of attempts that run or wait in an engine's queue. O(1), no allocation.
func (t *Tracker) Running() int { return t.phase.book.running }

// Attempts ranges over the attempts of a task that run or wait in an engine's queue, the latest first. Do not call
// another method of the tracker within the loop. O(attempts of the task), no allocation.
func (t *Tracker) Attempts(task int) iter.Seq[AttemptInfo] {
	return func(yield func(AttemptInfo) bool) {
		b := &t.phase.book
		s := b.task(b.row(task))
		if s == nil {
			return
		}
		for i := s.newest; i != none; i = b.attempts.all[i].next {
			a := &b.attempts.all[i]
			info := AttemptInfo{
				Task: task, Attempt: int(a.attempt), Machine: t.phase.fleet.number(a.machine), Begun: a.begun, Age: b.age(a),
			}
			if !yield(info) {
				return
			}
		}
	}
}

// Waiting ranges over the tasks that wait for a slot: the task with the most work first; of tasks with the same work, the
// task with the lowest index. Within the loop the host may start or submit the task that the loop has reached. It must
// call no other method that changes the tracker, and not range over Waiting again: the tasks before are not seen there.
// O(log n) for each task that the loop reaches.
func (t *Tracker) Waiting() iter.Seq[int] {
	b := &t.phase.book
	return func(yield func(int) bool) { b.allWaiting(yield) }
}
