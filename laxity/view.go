package laxity

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Task is one task that waits or runs on a worker, as of now.
type Task struct {
	// Worker is the host's index, from 0.
	Worker int
	// TimeLeft is the time until the deadline of the task's job, or [NoDeadline].
	TimeLeft time.Duration
	// Remaining is what the task still needs on this worker, queueing included, or [estimate.Unknown].
	Remaining time.Duration
	// After is what the job needs once this stage is over: the longest reduce task for a map task, 0 for a reduce task.
	After time.Duration
}

// Laxity returns the laxity that the job would have if this were its slowest task: TimeLeft - (Remaining + After). It
// is [estimate.Unknown] if Remaining or After is.
func (t Task) Laxity() time.Duration {
	projected := estimate.Unknown
	if t.Remaining != estimate.Unknown && t.After != estimate.Unknown {
		projected = num.Add(max(t.Remaining, 0), max(t.After, 0))
	}
	return Job{TimeLeft: t.TimeLeft, Projected: projected}.Laxity()
}

// Summary sums up the laxities of the tasks on one worker.
type Summary struct {
	// Tasks is their number, Late that of those with negative laxity, and Unestimated that of those with none known.
	Tasks, Late, Unestimated int
	// Least is the least known laxity, [NoDeadline] if there is none, and First is the index of its task; -1.
	Least time.Duration
	First int
}

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

// PerWorker sums up tasks by worker. Pass the tasks of one job to get the laxities that package laxity/outlier
// compares, the Least of each worker; the least of these is the job's, as equation 3 has it. Workers are numbered from
// 0 up to workers-1; a task on another one is an error that names the task. O(n), one allocation.
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
