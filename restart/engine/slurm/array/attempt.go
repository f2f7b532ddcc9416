package array

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// attempt is one attempt of a task: the original, which is an element of the user's array, or a later attempt, which is
// an array of one element.
type attempt struct {
	id    string // the name in package engine
	files string // the beginning of the names of its files in the run directory
	tries int    // how often it was handed to sbatch
	task  *task
	avoid []string       // nodes where a later attempt shall not run
	why   restart.Action // of a later attempt: Copy, Restart, or Keep if an attempt was lost
	job   string         // Slurm's name, "71_9"; empty until sbatch has accepted the attempt
	last  Job            // as squeue showed it last; without an ID if squeue never showed it

	state        engine.State
	begun        time.Time // zero: not yet
	end          time.Time // when the script had run to its end; zero: not yet
	share        float64   // the share of the work that is done
	asOf         time.Time // when the share was reported; zero: never
	missingSince time.Time // since when the attempt is gone without an exit file; zero: it is not
	exited       bool      // the poll before saw that the script had ended

	replaced    bool // the attempt shall end when the attempt that replaces it has begun
	toCancel    bool // the attempt shall be cancelled now
	cancelled   bool // scancel was run
	endReported bool // package engine knows the end
}

// task is an element of the user's array.
type task struct {
	number   int // the index in package engine, from 0
	index    int // Slurm's index in the array
	attempts []*attempt
	winner   *attempt // the attempt with the task's result; nil before
	settled  bool     // the result is in its place
	ending   bool     // the task has failed or was cancelled by somebody else: no attempt is wanted
	failed   *attempt // the attempt that failed last; nil if none has failed
	code     int      // the exit code of failed
}

// original returns the task's element of the user's array.
func (t *task) original() *attempt { return t.attempts[0] }

const (
	// explainWithin is how long the exit file of an attempt may take to become visible after Slurm has shown the end of the
	// attempt. Network file systems answer from memory for up to a minute.
	explainWithin = 90 * time.Second
	// startup is how long a job may take to start, from Slurm's decision to the script's first line, and still count as
	// waiting. A prolog or a busy node makes a start long. After startup the attempt counts as running, and slow.
	startup = time.Minute
)

// nextState returns the state of an attempt, from squeue's entry j, if squeue shows one, and from the attempt's files.
func (a *attempt) nextState(now time.Time, j Job, shown bool, f fileState) engine.State {
	ended := !f.end.IsZero()
	whole := f.whole() && a.counts(j, shown)
	a.exited = ended
	switch {
	case whole:
		return engine.Succeeded
	case shown && a.cancelled && !j.waits() && j.State != "RUNNING": // COMPLETING for minutes if the node is dead
		return engine.Cancelled
	case shown && a.begun.IsZero() && (j.waits() || j.live() && f.begun.IsZero() && now.Sub(j.Start) < startup):
		return engine.Queued
	case shown && j.live():
		return engine.Running
	case !shown && a.cancelled:
		return engine.Cancelled
	case ended && f.code == 0 && !shown || f.stopped && (j.State == "COMPLETED" || j.State == "FAILED"):
		return engine.Lost // somebody else has told the script to stop
	case !shown && ended:
		return engine.Failed
	case !shown, j.State == "COMPLETED":
		return a.missing(now)
	}
	switch j.State {
	case "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED":
		return engine.Lost
	case "CANCELLED": // by somebody else: the task shall not run again
		a.task.ending = a.task.ending || a == a.task.original()
	}
	return engine.Failed
}

// counts reports whether Slurm agrees that a script with the exit code 0 has ended by itself.
//
// A script that is cancelled, preempted or out of time may catch SIGTERM, clean up, and exit with 0, before the wrapper
// notices the signal. Slurm records such an end before it sends the signal. So a job that Slurm shows as running counts
// if the exit file was there before Slurm was asked. Its node may be dead, and Slurm shows the job as running for
// minutes.
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

// missing returns the state of an attempt that is gone without an exit file: unchanged at first, and Lost after
// explainWithin.
func (a *attempt) missing(now time.Time) engine.State {
	if a.missingSince.IsZero() {
		a.missingSince = now
	}
	if now.Sub(a.missingSince) > explainWithin {
		return engine.Lost
	}
	if a.begun.IsZero() {
		return engine.Queued
	}
	return engine.Running
}

// observe brings an attempt up to date with squeue's entry and the attempt's files. The begin is the time of the begun
// file, or, without such a file, Slurm's start time.
func (a *attempt) observe(now time.Time, j Job, shown bool, f fileState) {
	if shown {
		a.last = j
	}
	a.state, a.end = a.nextState(now, j, shown, f), f.end
	if a.begun.IsZero() && a.state != engine.Queued {
		if a.begun = f.begun; a.begun.IsZero() {
			a.begun = a.last.Start
		}
	}
	if a.state == engine.Failed {
		a.task.failed, a.task.code = a, a.last.exitCode()
		if !shown {
			a.task.code = f.code
		}
	}
}

// report returns the attempt as package engine takes it. A failed attempt ends its task, unless another attempt of the
// task runs. Then the failed attempt is reported as cancelled.
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

// anotherRuns reports whether another attempt than a runs and may still bring the result.
func (t *task) anotherRuns(a *attempt) bool {
	return slices.ContainsFunc(t.attempts, func(b *attempt) bool {
		return b != a && b.state == engine.Running && !b.replaced && !b.cancelled
	})
}

// ended reports whether the attempt has ended, in any way.
func (a *attempt) ended() bool { return a.state >= engine.Succeeded }
