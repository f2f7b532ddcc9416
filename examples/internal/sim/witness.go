package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Witness is told what the tracker answers, and with it what the tracker cannot know.
type Witness interface {
	// Begins says that the replay of a phase begins.
	Begins(p *Phase)
	// Reported tells the answer to a report of the i-th of a task's copies, before it is carried out.
	Reported(a tracker.Answer, copies []Running, i int)
	// Acts tells an answer that is being carried out: a copy of the task is killed, or one more is launched.
	Acts(a tracker.Answer, copies []Running)
	// Launched tells that a copy of the task starts which no log has, and how long it takes unless it is killed.
	Launched(task int, takes time.Duration)
}

// Running is a copy that runs, as only the simulation knows it. They come in the order of [restart.Task], the newest
// first.
type Running struct {
	// Age is how long it has run, and Left how long it runs on unless it is killed.
	Age, Left time.Duration
	// Succeeds says that it ends its task.
	Succeeds bool

	attempt int32
}

func (r *run) runningOf(c *simCopy) Running {
	return Running{Age: r.now - c.start, Left: c.end - r.now, Succeeds: c.succeeds, attempt: c.attempt}
}

// witnessReport tells the witness of the answer to a report.
func (r *run) witnessReport(a tracker.Answer, c *simCopy) {
	if r.options.Witness == nil {
		return
	}
	if r.tasks[c.task].copies == 1 {
		r.options.Witness.Reported(a, []Running{r.runningOf(c)}, 0)
		return
	}
	copies := r.runningCopies(int(c.task))
	i := slices.IndexFunc(copies, func(of Running) bool { return of.attempt == c.attempt })
	r.options.Witness.Reported(a, copies, i)
}

// witnessAction tells the witness of an answer that is being carried out.
func (r *run) witnessAction(a tracker.Answer) {
	if r.options.Witness != nil {
		r.options.Witness.Acts(a, r.runningCopies(a.Task))
	}
}

func (r *run) runningCopies(task int) (copies []Running) {
	for i := range r.copies {
		if c := &r.copies[i]; c.attempt >= 0 && int(c.task) == task {
			copies = append(copies, r.runningOf(c))
		}
	}
	slices.SortFunc(copies, func(a, b Running) int { return cmp.Compare(b.attempt, a.attempt) })
	return copies
}
