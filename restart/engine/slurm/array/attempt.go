package array

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// attempt is one attempt of a task: an element of the array that the user asked for, or a copy.
type attempt struct {
	id    string // what package engine calls it
	files string // what its files in the run directory are called
	tries int    // how often it was handed to sbatch
	task  *task
	avoid []string       // a copy: nodes where it shall not run
	why   restart.Action // a copy: it was submitted for a duplicate, a restart, or else for what was lost
	job   string         // what Slurm calls it, "71_9"; empty until sbatch has taken a copy
	last  Job            // as squeue showed it last; without an ID it never did

	state    engine.State
	begun    time.Time // zero before
	end      time.Time // when its script had run to its end; zero if it has not
	share    float64   // of its work that it has done
	asOf     time.Time // when it had done that; zero if it has not said
	puzzling time.Time // since when its end is not explained; zero if it is
	exited   bool      // the poll before this one saw that its script had ended

	unwanted  bool // its task is to be restarted, but the new attempt has not begun
	doomed    bool // it is to be cancelled now
	cancelled bool // scancel was told
	closed    bool // package engine was told of its end
}

// task is an element of the array.
type task struct {
	number   int // engine's, from 0
	index    int // Slurm's
	attempts []*attempt
	winner   *attempt // the attempt that has its result; nil before
	settled  bool     // the result is in its place
	ending   bool     // it has failed, or somebody has cancelled it: no attempt of it is wanted
	code     int      // the exit code of the attempt that failed last
	failed   *attempt // that attempt; nil if none has failed
}

func (t *task) original() *attempt { return t.attempts[0] }

const (
	// explained is how long the file in which an attempt says that it has ended may take to be seen, after Slurm has said
	// so: network file systems answer from memory for up to a minute.
	explained = 90 * time.Second
	// startup is how long the start of a job may take, from Slurm's decision to the script's first line, with a prolog or
	// on a busy node, and still count as waiting. Then it counts as slow.
	startup = time.Minute
)

// look says what has become of an attempt. Squeue shows j of it, or nothing, and its files tell l.
func (a *attempt) look(now time.Time, j Job, shown bool, l life) engine.State {
	ended := !l.end.IsZero()
	whole := l.whole() && a.counts(j, shown)
	a.exited = ended
	switch {
	case whole:
		return engine.Succeeded
	case shown && a.cancelled && !j.waits() && j.State != "RUNNING": // COMPLETING for minutes, if its node is dead
		return engine.Cancelled
	case shown && a.begun.IsZero() && (j.waits() || j.live() && l.begun.IsZero() && now.Sub(j.Start) < startup):
		return engine.Queued
	case shown && j.live():
		return engine.Running
	case !shown && a.cancelled:
		return engine.Cancelled
	case ended && l.code == 0 && !shown || l.stopped && (j.State == "COMPLETED" || j.State == "FAILED"):
		return engine.Lost // told to stop, but neither by us nor by Slurm
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

// counts reports whether Slurm agrees that a script which has ended with 0 has ended by itself. A script that is cancelled,
// preempted or out of time may take SIGTERM for what it is, clean up, and end with 0 as well, before anybody notes the
// signal. Slurm notes such an end before it sends one. So a job that it shows as running counts if its script had ended
// before Slurm was asked: the node may be dead, and the job stays like that for minutes.
func (a *attempt) counts(j Job, shown bool) bool {
	switch {
	case !shown:
		return !a.cancelled
	case j.State == "COMPLETED":
		return true
	case j.State == "RUNNING":
		return a.exited && !a.cancelled
	}
	return false
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
		return engine.Queued
	}
	return engine.Running
}

// observe brings an attempt up to date.
func (a *attempt) observe(now time.Time, j Job, shown bool, l life) {
	if shown {
		a.last = j
	}
	a.state, a.end = a.look(now, j, shown, l), l.end
	if a.begun.IsZero() && a.state != engine.Queued {
		if a.begun = l.begun; a.begun.IsZero() {
			a.begun = a.last.Start
		}
	}
	if a.state == engine.Failed {
		a.task.failed, a.task.code = a, a.last.exitCode()
		if !shown {
			a.task.code = l.code
		}
	}
}

// report is what package engine is told. A failure ends the task, unless another attempt runs that may do better: then
// this one is as good as cancelled.
func (a *attempt) report(work float64) engine.Attempt {
	seen := engine.Attempt{
		ID: a.id, Task: a.task.number, State: a.state, Machine: a.last.Node, Begun: a.begun, Ended: a.end,
		Progress: tracker.Report{Done: a.share * work}, AsOf: a.asOf,
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
