package array

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// attempt is one attempt of a task: an element of the array that the user asked for, or a copy.
type attempt struct {
	id    string // what package engine calls it
	files string // what its files in the run directory are called
	task  *task
	avoid []string       // a copy: nodes where it shall not run
	why   restart.Action // a copy: it was submitted for a duplicate, a restart, or else for what was lost
	job   string         // what Slurm calls it, "71_9"; empty until sbatch has taken a copy
	last  Job            // as squeue showed it last; without an ID it never did

	state    engine.State
	begun    time.Time // zero before
	share    float64   // of its work that it has done
	asOf     time.Time // when it was first seen to have done that; zero if it has not said
	puzzling time.Time // since when its end is not explained; zero if it is

	unwanted  bool // it is to be cancelled as soon as another attempt of its task runs
	doomed    bool // it is to be cancelled now
	cancelled bool // scancel was told
}

// task is an element of the array.
type task struct {
	number   int // engine's, from 0
	index    int // Slurm's
	attempts []*attempt
	over     bool // it has its result
	ending   bool // it has failed, or somebody has cancelled it: no attempt of it is wanted
	code     int  // the exit code of the attempt that failed last
}

func (t *task) original() *attempt { return t.attempts[0] }

// explained is how long the file in which an attempt says that it has ended may take to be seen, after Slurm has said so:
// network file systems answer from memory for up to a minute.
const explained = 90 * time.Second

// look says what has become of an attempt. Squeue shows j of it, or nothing; its exit file holds the code, or is not
// there. A result counts once the script has ended by itself with 0, whatever becomes of its node.
func (a *attempt) look(now time.Time, j Job, shown bool, code int, ended bool) engine.State {
	switch {
	case ended && code == 0:
		return engine.Succeeded
	case shown && a.cancelled && !j.waits() && j.State != "RUNNING": // COMPLETING for minutes, if its node is dead
		return engine.Cancelled
	case shown && j.waits() && a.begun.IsZero():
		return engine.Waiting
	case shown && j.live():
		return engine.Running
	case !shown && a.cancelled:
		return engine.Cancelled
	case !shown && ended:
		return engine.Failed
	case !shown, j.State == "COMPLETED":
		return a.wonder(now)
	}
	switch j.State {
	case "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED":
		return engine.Lost
	case "CANCELLED": // by somebody else: it is not to run again
		a.task.ending = a.task.ending || a == a.task.original()
	}
	return engine.Failed
}

// wonder gives an attempt that is gone without a word some time, and then up.
func (a *attempt) wonder(now time.Time) engine.State {
	if a.puzzling.IsZero() {
		a.puzzling = now
	}
	if now.Sub(a.puzzling) > explained {
		return engine.Lost
	}
	if a.begun.IsZero() {
		return engine.Waiting
	}
	return engine.Running
}

// observe brings an attempt up to date. Before is when the poll before this one was: squeue's times are whole seconds,
// and an attempt that did not run then has begun since.
func (a *attempt) observe(now, before time.Time, j Job, shown bool, code int, ended bool) {
	if shown {
		a.last = j
	}
	a.state = a.look(now, j, shown, code, ended)
	if a.begun.IsZero() && a.state != engine.Waiting && !a.last.Start.IsZero() {
		a.begun = a.last.Start
		if a.begun.Before(before) {
			a.begun = before
		}
		if a.begun.After(now) {
			a.begun = now
		}
	}
	if a.state == engine.Failed {
		a.task.code = a.last.exitCode()
		if !shown {
			a.task.code = code
		}
	}
}

// report is what package engine is told. A failure ends the task, unless another attempt runs that may do better: then
// this one is as good as cancelled.
func (a *attempt) report(work float64) engine.Attempt {
	seen := engine.Attempt{
		ID: a.id, Task: a.task.number, State: a.state, Host: a.last.Node, Begun: a.begun,
		Progress: restart.Progress{Done: a.share * work}, AsOf: a.asOf,
	}
	if a.state == engine.Failed {
		if !a.task.ending && a.task.anotherRuns(a) {
			seen.State = engine.Cancelled
		} else {
			a.task.ending = true
		}
	}
	return seen
}

// anotherRuns reports whether there is an attempt beside a that may yet have the result.
func (t *task) anotherRuns(a *attempt) bool {
	return slices.ContainsFunc(t.attempts, func(b *attempt) bool {
		return b != a && b.state == engine.Running && !b.unwanted && !b.cancelled
	})
}

func (a *attempt) ended() bool { return a.state >= engine.Succeeded }
