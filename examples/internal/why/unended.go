package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
)

// Unended counts the tasks of logs that have no successful attempt with known times. No policy is replayed on them, and
// no straggler is among them.
type Unended struct {
	// Ended is the number of all other tasks, which ended or did not need to run.
	Ended int `json:"ended"`
	// Running is the number of tasks that had not ended when the log ended. Stopped is the number of tasks whose attempts
	// all failed or were killed. Waiting is the number of tasks that had not begun. Untimed is the number of tasks that
	// succeeded, but the log lacks their times. Unseen is the number of tasks without an attempt in the log, in phases that
	// the engine declared complete, or whose job has ended.
	Running int `json:"running"`
	Stopped int `json:"stopped"`
	Waiting int `json:"not_begun"`
	Untimed int `json:"without_times"`
	Unseen  int `json:"without_attempt"`
	// Slow is the number of running and stopped tasks of which an attempt ran for more than 1.5 times the median of their
	// phase. Unmeasured is the number of running tasks for which no median is known.
	Slow       int `json:"slow"`
	Unmeasured int `json:"running_without_median"`
	// Worst are the running and stopped tasks with the longest attempts, measured by the median if it is known. LeftOut is
	// the number of further such tasks.
	Worst   []UnendedTask `json:"worst"`
	LeftOut int           `json:"left_out"`
	// RunningFor and StoppedAfter say how long the running tasks and the stopped tasks ran.
	RunningFor   Ran `json:"-"`
	StoppedAfter Ran `json:"-"`
}

// Ran says how long several tasks ran, as of [UnendedAttempt.Times] and [UnendedAttempt.Seconds].
type Ran struct {
	// Measured is the number of tasks in a phase with a median. The longest of them ran Times times this median.
	Measured int
	Times    float64
	// Unmeasured is the number of tasks in a phase without a median. The longest of them ran for Seconds.
	Unmeasured int
	Seconds    float64
	// Untimed is the number of tasks for which the log has no time.
	Untimed int
}

// UnendedTask is a task that began and has no successful attempt.
type UnendedTask struct {
	Job   string `json:"job"`
	Phase string `json:"name"`
	Task  string `json:"task"`
	// Running is true if the task had not ended when the log ended.
	Running bool `json:"running"`
	// UnendedAttempt is the longest attempt of the task; of a running task, the longest attempt that had not ended.
	UnendedAttempt
	// Earlier is the longest failed or killed attempt of a running task; null if no such attempt ran longer than the attempt
	// that had not ended.
	Earlier *UnendedAttempt `json:"earlier,omitempty"`
}

// UnendedAttempt is an attempt that did not succeed.
type UnendedAttempt struct {
	Host string `json:"host,omitempty"`
	// Seconds is the time of the attempt, up to the end of the log. Times is Seconds divided by the median of the tasks of
	// its phase that ended; 0 if no median is known, or if the tasks are not known to be alike.
	Seconds float64 `json:"seconds"`
	Times   float64 `json:"times_the_median,omitempty"`
}

// Longest returns the longest attempt of the task.
func (t UnendedTask) Longest() UnendedAttempt {
	if t.Earlier != nil {
		return *t.Earlier
	}
	return t.UnendedAttempt
}

// mostUnended is the largest number of listed tasks.
const mostUnended = 20

// longestRun is the longest time of an attempt. A longer time is a mistake of a clock.
const longestRun = 365 * 24 * time.Hour

// Tasks returns the number of all these tasks.
func (u *Unended) Tasks() int { return u.Missing() + u.Untimed + u.Unseen }

// Missing returns the number of the tasks that have not succeeded, as far as the log shows.
func (u *Unended) Missing() int { return u.Running + u.Stopped + u.Waiting }

// Add adds the tasks of a log. replayed has, by number of the phase in the log, the phases with tasks that are alike. A
// task that consists of the tasks of another phase is left out if one of these has no success.
func (u *Unended) Add(log *trace.Log, replayed map[int]*sim.Phase) {
	end, retried := endOf(log), log.Retried()
	wholes := map[[2]string]bool{} // by job and name
	for i := range log.Phases {
		p := &log.Phases[i]
		var own Unended
		if len(p.Whole) > 0 {
			own.phase(log, i, end, 0, nil, false)
		}
		for _, task := range p.Whole {
			wholes[[2]string{p.Job, task}] = wholes[[2]string{p.Job, task}] || own.Running+own.Stopped > 0
		}
	}
	for i := range log.Phases {
		median := time.Duration(0)
		if p := replayed[i]; p != nil {
			median = medianOf(p.Tasks, causes.LeastTasks-1) // with the task to compare, the phase has that many
		}
		u.phase(log, i, end, median, wholes, retried[i])
	}
}

// endOf returns the latest time in a log, in milliseconds.
func endOf(log *trace.Log) (end int64) {
	for i := range log.Phases {
		p := &log.Phases[i]
		end = max(end, p.Submitted.Or(0), p.Completed.Or(0))
		for k := range p.Attempts {
			if a := &p.Attempts[k]; a.State != trace.Cached {
				end = max(end, a.Ready.Or(0), a.Start.Or(0), a.Finish.Or(0))
			}
		}
	}
	return end
}

// medianOf returns the median time of tasks; 0 if fewer than a number of them have a positive time.
func medianOf(tasks []sim.Task, least int) time.Duration {
	var times []time.Duration
	for i := range tasks {
		if took := tasks[i].Attempts[len(tasks[i].Attempts)-1].Duration; took > 0 {
			times = append(times, took)
		}
	}
	if len(times) < least {
		return 0
	}
	return causes.Median(times)
}

// phase adds the tasks of a phase. A phase without an attempt is left out: it may never have been asked for. end is the
// end of the log. wholes are true for the tasks to leave out. If the phase was retried, its tasks without a success are those of
// another phase.
func (u *Unended) phase(
	log *trace.Log, phase int, end int64, median time.Duration, wholes map[[2]string]bool, retried bool,
) {
	p := &log.Phases[phase]
	if len(p.Attempts) == 0 {
		return
	}
	end = min(end, p.Completed.Or(end))
	tasks := make([]soFar, p.Tasks)
	for k := range p.Attempts {
		if a := &p.Attempts[k]; int(a.Task) < len(tasks) {
			tasks[a.Task].add(a, end)
		}
	}
	for task := range tasks {
		t := &tasks[task]
		switch {
		case t.done:
			u.Ended++
		case wholes[[2]string{p.Job, p.TaskName(int32(task))}]:
		case t.succeeded:
			u.Untimed++
		case retried:
		case t.running.seen || t.stopped.seen:
			u.began(log, UnendedTask{Job: p.Job, Phase: p.Name, Task: p.TaskName(int32(task)), Running: t.running.seen}, t, median)
		case (log.Ended[p.Job] || p.Completed.Known()) && !t.seen:
			u.Unseen++
		default:
			u.Waiting++
		}
	}
}

// began adds a task that began. row is its row in the list, without the attempts.
func (u *Unended) began(log *trace.Log, row UnendedTask, t *soFar, median time.Duration) {
	shown, longest, ran := &t.stopped, &t.stopped, &u.StoppedAfter
	if row.Running {
		u.Running++
		shown, ran = &t.running, &u.RunningFor
	} else {
		u.Stopped++
	}
	row.UnendedAttempt = shown.row(log, median)
	if longest.ran > shown.ran {
		earlier := longest.row(log, median)
		row.Earlier = &earlier
	} else {
		longest = shown
	}
	switch {
	case !shown.timed:
		ran.Untimed++
	case median > 0:
		ran.Measured++
		ran.Times = max(ran.Times, row.Times)
	default:
		ran.Unmeasured++
		ran.Seconds = max(ran.Seconds, row.Seconds)
	}
	if row.Running && median <= 0 {
		u.Unmeasured++
	}
	if median > 0 && float64(longest.ran) > compare.Slow*float64(median) {
		u.Slow++
	}
	u.list(row)
}

// list puts a task into the list of the worst. The tasks that ran most times the median come first.
func (u *Unended) list(t UnendedTask) {
	at, _ := slices.BinarySearchFunc(u.Worst, t, func(a, b UnendedTask) int {
		return cmp.Or(byLength(a.Longest(), b.Longest()), -1) // after its equals
	})
	u.Worst = slices.Insert(u.Worst, at, t)
	if len(u.Worst) > mostUnended {
		u.Worst = u.Worst[:mostUnended]
		u.LeftOut++
	}
}

// byLength orders attempts so that the one that ran most times the median is first, or longest if no median is known.
func byLength(a, b UnendedAttempt) int {
	return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(b.Seconds, a.Seconds))
}

// soFar is what the attempts of a task show: seen says that there is one, and done that one of them succeeded with known
// times, or was not needed.
type soFar struct {
	seen, done, succeeded bool
	running, stopped      longestOf
}

// longestOf is the longest of several attempts: seen says that there is one, and timed that its time is known.
type longestOf struct {
	seen, timed bool
	ran         time.Duration
	host        int32
}

// add adds an attempt. end is the end of the log.
func (s *soFar) add(a *trace.Attempt, end int64) {
	start, began := a.Start.Get()
	ran, known := a.Duration()
	s.seen = true
	switch a.State {
	case trace.Cached:
		s.done = true
	case trace.Succeeded, trace.Lost:
		s.done, s.succeeded = s.done || known, true
	case trace.Failed, trace.Killed:
		s.stopped.add(ran, known, a.Host)
	default:
		if began && !known {
			ran = time.Duration(max(end-start, 0)) * time.Millisecond
		}
		if began {
			s.running.add(ran, true, a.Host)
		}
	}
}

// add adds an attempt. A time that a clock mistook is not known.
func (l *longestOf) add(ran time.Duration, known bool, host int32) {
	if known = known && ran <= longestRun; !known {
		ran = 0
	}
	if !l.seen || known && (!l.timed || ran > l.ran) {
		l.ran, l.host = ran, host
	}
	l.seen, l.timed = true, l.timed || known
}

// row returns the attempt with the name of its host. median is the median of the phase; 0 if it is not known.
func (l *longestOf) row(log *trace.Log, median time.Duration) UnendedAttempt {
	a := UnendedAttempt{Host: log.Hosts[l.host].Name, Seconds: l.ran.Seconds()}
	if median > 0 {
		a.Times = float64(l.ran) / float64(median)
	}
	return a
}
