package why

import (
	"cmp"
	"slices"
	"time"

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
	// succeeded, but the log lacks their times.
	Running int `json:"running"`
	Stopped int `json:"stopped"`
	Waiting int `json:"not_begun"`
	Untimed int `json:"without_times"`
	// Slow is the number of running and stopped tasks that ran for more than 1.5 times the median of their phase.
	// Unmeasured is the number of running tasks for which no median is known.
	Slow       int `json:"slow"`
	Unmeasured int `json:"running_without_median"`
	// Worst are the running and stopped tasks that ran longest, measured by the median if it is known. LeftOut is the
	// number of further such tasks.
	Worst   []UnendedTask `json:"worst"`
	LeftOut int           `json:"left_out"`
	// LongestRunning and LongestStopped are the running task and the stopped task that ran longest, in the same sense.
	LongestRunning UnendedTask `json:"-"`
	LongestStopped UnendedTask `json:"-"`
}

// UnendedTask is a task that began and has no successful attempt.
type UnendedTask struct {
	Job   string `json:"job"`
	Phase string `json:"name"`
	Task  string `json:"task"`
	Host  string `json:"host,omitempty"`
	// Running is true if the task had not ended when the log ended.
	Running bool `json:"running"`
	// Seconds is the time of its longest attempt, up to the end of the log. Times is Seconds divided by the median of the
	// tasks of its phase that ended; 0 if no median is known, or if the tasks are not known to be alike.
	Seconds float64 `json:"seconds"`
	Times   float64 `json:"times_the_median,omitempty"`
}

// mostUnended is the largest number of listed tasks.
const mostUnended = 20

// longestRun is the longest time of an attempt. A longer time is a mistake of a clock.
const longestRun = 365 * 24 * time.Hour

// Tasks returns the number of the tasks without a success.
func (u *Unended) Tasks() int { return u.Running + u.Stopped + u.Waiting + u.Untimed }

// Add adds the tasks of a log. replayed has, by number of the phase in the log, the phases with tasks that are alike. A
// task that consists of the tasks of another phase is left out if one of these has no success.
func (u *Unended) Add(log *trace.Log, replayed map[int]*sim.Phase) {
	end := endOf(log)
	wholes := map[[2]string]bool{} // by job and name
	for i := range log.Phases {
		p := &log.Phases[i]
		var own Unended
		if len(p.Whole) > 0 {
			own.phase(log, i, end, 0, nil)
		}
		for _, task := range p.Whole {
			wholes[[2]string{p.Job, task}] = wholes[[2]string{p.Job, task}] || own.Running+own.Stopped > 0
		}
	}
	for i := range log.Phases {
		u.phase(log, i, end, medianOf(replayed[i]), wholes)
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

// medianOf returns the median by which stragglers of a phase are counted; 0 if it is not known.
func medianOf(p *sim.Phase) time.Duration {
	if p == nil {
		return 0
	}
	return compare.Median(p)
}

// phase adds the tasks of a phase. A phase without an attempt is left out: it may never have been asked for. end is the
// end of the log. wholes are true for the tasks to leave out.
func (u *Unended) phase(log *trace.Log, phase int, end int64, median time.Duration, wholes map[[2]string]bool) {
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
			continue
		case wholes[[2]string{p.Job, p.TaskName(int32(task))}]:
			continue
		case t.succeeded:
			u.Untimed++
			continue
		case !t.running && !t.stopped:
			u.Waiting++
			continue
		case t.running:
			u.Running++
		default:
			u.Stopped++
		}
		row := UnendedTask{
			Job: p.Job, Phase: p.Name, Task: p.TaskName(int32(task)), Host: log.Hosts[t.host].Name,
			Running: t.running, Seconds: t.ran.Seconds(),
		}
		switch {
		case median > 0:
			row.Times = float64(t.ran) / float64(median)
		case t.running:
			u.Unmeasured++
		}
		if row.Times > compare.Slow {
			u.Slow++
		}
		u.list(row)
	}
}

// list puts a task into the list of the worst. The tasks that ran most times the median come first.
func (u *Unended) list(t UnendedTask) {
	longest := &u.LongestStopped
	if t.Running {
		longest = &u.LongestRunning
	}
	if byLength(t, *longest) < 0 {
		*longest = t
	}
	at, _ := slices.BinarySearchFunc(u.Worst, t, func(a, b UnendedTask) int {
		return cmp.Or(byLength(a, b), -1) // after its equals
	})
	u.Worst = slices.Insert(u.Worst, at, t)
	if len(u.Worst) > mostUnended {
		u.Worst = u.Worst[:mostUnended]
		u.LeftOut++
	}
}

// byLength orders tasks so that the task that ran most times the median is first, or longest if no median is known.
func byLength(a, b UnendedTask) int {
	return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(b.Seconds, a.Seconds))
}

// soFar is what the attempts of a task show: done says that one of them succeeded with known times, or was not needed.
type soFar struct {
	done, succeeded, running, stopped bool
	ran                               time.Duration // the time of the longest attempt
	host                              int32         // of this attempt
}

// add adds an attempt. end is the end of the log.
func (s *soFar) add(a *trace.Attempt, end int64) {
	start, began := a.Start.Get()
	ran, known := a.Duration()
	switch a.State {
	case trace.Cached:
		s.done = true
	case trace.Succeeded, trace.Lost:
		s.done, s.succeeded = s.done || known, true
	case trace.Failed, trace.Killed:
		s.stopped = true
	default:
		s.running = s.running || began
		if began && !known {
			ran = time.Duration(max(end-start, 0)) * time.Millisecond
		}
	}
	if ran > s.ran && ran <= longestRun || s.host == 0 {
		s.host = a.Host
	}
	if ran <= longestRun {
		s.ran = max(s.ran, ran)
	}
}
