package laxity

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Task is one task that waits or runs on a worker, as of now.
type Task struct {
	// Job and Worker are the host's indices, from 0.
	Job, Worker int
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

// Summary sums up the laxities of the tasks of one job, or of those on one worker.
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

// PerJob sums up tasks by job; the Least of a job is the laxity of the job itself, as equation 3 has it. Jobs are
// numbered from 0 up to jobs-1; a task of another one is an error that names the task. O(n), one allocation.
func PerJob(tasks []Task, jobs int) ([]Summary, error) {
	return summarise("Job", tasks, jobs, func(t Task) int { return t.Job })
}

// PerWorker sums up tasks by worker. Pass the tasks of one job to get the laxities that package laxity/outlier
// compares, the Least of each worker. Workers are numbered from 0 up to workers-1; a task on another one is an error
// that names the task. O(n), one allocation.
func PerWorker(tasks []Task, workers int) ([]Summary, error) {
	return summarise("Worker", tasks, workers, func(t Task) int { return t.Worker })
}

func summarise(field string, tasks []Task, n int, index func(Task) int) ([]Summary, error) {
	if n < 0 {
		return nil, check.Bad("laxity", fmt.Sprintf("the number of %ss", field), n, "0 or more")
	}
	sums := make([]Summary, n)
	for i := range sums {
		sums[i] = Summary{Least: NoDeadline, First: -1}
	}
	for i, t := range tasks {
		k := index(t)
		if k < 0 || k >= n {
			return nil, check.Badf("laxity", fmt.Sprintf("tasks[%d].%s", i, field), k, "0 to %d", n-1)
		}
		sums[k].add(i, t.Laxity())
	}
	return sums, nil
}
