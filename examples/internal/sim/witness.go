package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Witness sees the answers of a tracker, together with facts that only the simulation knows.
type Witness interface {
	// Begins is called at the beginning of a replay.
	Begins(p *Phase)
	// Reported is called with the answer to a report of attempt i of a task, before the answer is carried out.
	Reported(a tracker.Answer, attempts []Running, i int)
	// Acts is called with an answer that is carried out: an attempt of the task is killed, or a copy is started.
	Acts(a tracker.Answer, attempts []Running)
	// Launched is called when an attempt with a drawn time starts. takes is its time unless it is killed.
	Launched(task int, takes time.Duration)
}

// Running is an attempt that runs, with facts that only the simulation knows. A list of them is in the order of
// [restart.Task], the newest first.
type Running struct {
	// Age is the time since the start of the attempt. Left is its true remaining time, unless it is killed.
	Age, Left time.Duration
	// Succeeds is true if the attempt ends its task, and false if it fails.
	Succeeds bool

	attempt int32
}

func (r *run) runningOf(c *simAttempt) Running {
	return Running{Age: r.now - c.start, Left: c.end - r.now, Succeeds: c.succeeds, attempt: c.attempt}
}

// witnessReport tells the witness of the answer to a report.
func (r *run) witnessReport(a tracker.Answer, c *simAttempt) {
	if r.options.Witness == nil {
		return
	}
	if r.tasks[c.task].running == 1 {
		r.options.Witness.Reported(a, []Running{r.runningOf(c)}, 0)
		return
	}
	attempts := r.runningAttempts(int(c.task))
	i := slices.IndexFunc(attempts, func(of Running) bool { return of.attempt == c.attempt })
	r.options.Witness.Reported(a, attempts, i)
}

// witnessAction tells the witness of an answer that is carried out.
func (r *run) witnessAction(a tracker.Answer) {
	if r.options.Witness != nil {
		r.options.Witness.Acts(a, r.runningAttempts(a.Task))
	}
}

func (r *run) runningAttempts(task int) (attempts []Running) {
	for i := range r.attempts {
		if c := &r.attempts[i]; c.attempt >= 0 && int(c.task) == task {
			attempts = append(attempts, r.runningOf(c))
		}
	}
	slices.SortFunc(attempts, func(a, b Running) int { return cmp.Compare(b.attempt, a.attempt) })
	return attempts
}
