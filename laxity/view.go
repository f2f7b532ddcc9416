package laxity

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Task is the present state of a task that waits or runs on a worker.
type Task struct {
	// Worker is the host's index of the worker, from 0.
	Worker int
	// UntilDeadline is the time from now until the deadline of the task's job, or [NoDeadline].
	UntilDeadline time.Duration
	// Remaining is the time from now until the task ends on this worker, including the time in the queue, or
	// [estimate.Unknown].
	Remaining time.Duration
	// After is the time that the job needs after this stage, or [estimate.Unknown]. For a map task it is the time
	// of the longest reduce task. For a reduce task it is 0.
	After time.Duration
}

// Laxity returns the laxity that the job would have if this task were the slowest of its stage: UntilDeadline -
// (Remaining + After). The result is [estimate.Unknown] if Remaining or After is unknown.
func (t Task) Laxity() time.Duration {
	projected := estimate.Unknown
	if t.Remaining != estimate.Unknown && t.After != estimate.Unknown {
		projected = num.Add(max(t.Remaining, 0), max(t.After, 0))
	}
	return Job{UntilDeadline: t.UntilDeadline, Projected: projected}.Laxity()
}

// Summary contains numbers about the tasks on one worker.
type Summary struct {
	// Tasks is the number of tasks. Late is the number of tasks with negative laxity, which will miss their
	// deadlines. Unestimated is the number of tasks with unknown laxity.
	Tasks, Late, Unestimated int
	// Least is the smallest laxity of a task, as [Task.Laxity] returns it, or [NoDeadline] if no laxity is known.
	// First is the index of the task with this laxity, or -1 if no laxity is known.
	Least time.Duration
	First int
}

// add includes the task with index i and the given laxity in the summary.
func (s *Summary) add(i int, laxity time.Duration) {
	s.Tasks++
	switch {
	case laxity == estimate.Unknown:
		s.Unestimated++
		return
	case laxity < 0:
		s.Late++
	}
	if s.First < 0 || laxity < s.Least {
		s.Least, s.First = laxity, i
	}
}

// PerWorker returns a summary of the tasks on each worker. The workers have the indices 0 to workers-1. Pass the
// tasks of one job, and then the field Least of each Summary to package laxity/outlier. The smallest laxity over
// all workers is the laxity of the job (equation 3). PerWorker returns an error if a task has a worker outside 0
// to workers-1. Cost: O(n) for n tasks, one allocation.
func PerWorker(tasks []Task, workers int) ([]Summary, error) {
	if workers < 0 {
		return nil, check.Bad("laxity", "the number of Workers", workers, "0 or more")
	}
	sums := make([]Summary, workers)
	for i := range sums {
		sums[i] = Summary{Least: NoDeadline, First: -1}
	}
	for i, t := range tasks {
		if t.Worker < 0 || t.Worker >= workers {
			return nil, check.Badf("laxity", check.At("tasks", i, "Worker"), t.Worker, "0 to %d", workers-1)
		}
		sums[t.Worker].add(i, t.Laxity())
	}
	return sums, nil
}
