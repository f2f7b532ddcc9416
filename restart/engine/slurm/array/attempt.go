package array

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// attempt is one attempt of a task. The first attempt of a task, its original, is an element of the user's array.
// Each later attempt is a job array of its own, with one element.
type attempt struct {
	id    string // ID of the attempt in the engine.Phase
	files string // beginning of the names of the attempt's files in the run directory
	tries int    // how often sbatch was called to submit the attempt
	task  *task
	avoid []string       // for a later attempt: nodes where it shall not run
	why   restart.Action // for a later attempt: Copy, Restart, or Keep if it replaces a lost attempt
	job   string         // the job ID in Slurm, such as "71_9"; "": sbatch has not accepted the attempt
	last  Job            // what squeue showed last about the attempt; the zero Job if it never showed it

	state engine.State
	begun time.Time // when the attempt began; zero: not yet
	end   time.Time // when the script ended, by the exit file; zero: not yet
	share float64   // the share of its work that is done, from 0 to 1
	asOf  time.Time // when the script reported the share; zero: never
	// missingSince is when a poll first saw that the attempt's job has ended and that there is no exit file. Zero: no
	// poll saw this.
	missingSince time.Time
	exited       bool // the last poll found that the script had ended, by the exit file

	replaced    bool // the attempt is being restarted: it shall end when a new attempt has begun
	toCancel    bool // the attempt shall be cancelled at this poll
	cancelled   bool // the attempt was cancelled by scancel, or before it was submitted
	endReported bool // the end of the attempt was reported to the engine.Phase
}

// task is an element of the user's job array, with all attempts to run it.
type task struct {
	number   int // index of the task in the engine.Phase, counted from 0
	index    int // index of the task in the user's job array
	attempts []*attempt
	winner   *attempt // the attempt that gave the task its result; nil: no attempt yet
	settled  bool     // the result was moved to the place where the user expects it
	ending   bool     // the task has failed, or somebody else has cancelled it: all its attempts shall end
	failed   *attempt // the attempt of the task that failed last; nil: no attempt has failed
	code     int      // the exit code of the attempt in the field failed
}

// original returns the first attempt of the task: the element of the user's array.
func (t *task) original() *attempt { return t.attempts[0] }

const (
	// explainWithin is how long this process waits for an attempt's exit file after Slurm has shown the end of the
	// attempt. After that the attempt is lost. The file may come late, because a network file system may use its
	// cache for up to a minute.
	explainWithin = 90 * time.Second
	// startup is how long a job may take from the start time that Slurm shows to the first line of its script. During
	// this time the attempt is taken to wait. Afterwards it is taken to run, although its script has not begun. Then
	// the policy may find it slow. A prolog script of the site, or a busy node, makes a start slow.
	startup = time.Minute
)

// nextState returns the state of an attempt. It decides by the entry j of squeue, and by the state f of the attempt's
// files. shown is false if squeue lists no entry for the attempt. nextState also sets the fields exited and
// missingSince, and task.ending if somebody else has cancelled the task.
func (a *attempt) nextState(now time.Time, j Job, shown bool, f fileState) engine.State {
	ended := !f.end.IsZero()
	whole := f.whole() && a.counts(j, shown)
	a.exited = ended
	switch {
	case whole:
		return engine.Succeeded
	// if the node is dead, the job's state is COMPLETING for minutes
	case shown && a.cancelled && !j.waits() && j.State != "RUNNING":
		return engine.Cancelled
	case shown && a.begun.IsZero() && (j.waits() || j.live() && f.begun.IsZero() && now.Sub(j.Start) < startup):
		return engine.Queued
	case shown && j.live():
		return engine.Running
	case !shown && a.cancelled:
		return engine.Cancelled
	case ended && f.code == 0 && !shown || f.stopped && (j.State == "COMPLETED" || j.State == "FAILED"):
		return engine.Lost // somebody else has told the script to stop by a signal
	case !shown && ended:
		return engine.Failed
	case !shown, j.State == "COMPLETED":
		return a.missing(now)
	}
	switch j.State {
	case "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED":
		return engine.Lost
	case "CANCELLED": // somebody else has cancelled the job, so the task shall not run again
		a.task.ending = a.task.ending || a == a.task.original()
	}
	return engine.Failed
}

// counts reports whether the result of a script with the exit code 0 may be used: Slurm does not show that the script
// was ended from outside.
//
// If Slurm cancels or preempts a job, or its time is over, the script gets a SIGTERM. It may catch the signal, clean
// up, and exit with 0 before the wrapper notices the signal. Slurm changes the state of such a job before it sends
// the signal. So if the exit file was there before this process asked Slurm, and Slurm still shows the job as
// running, then the script has ended by itself. Slurm may show an ended job as running for minutes if its node is
// dead.
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

// missing returns the state of an attempt whose job has ended while there is no exit file. The state is Lost if the
// file has been missing for longer than explainWithin. Before that, the attempt is taken to wait or run as before.
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

// observe brings the state of an attempt up to date from the entry j of squeue and from the state f of the attempt's
// files. shown is false if squeue lists no entry for the attempt. The attempt's begin is the time of its begun file.
// Without this file it is the start time that Slurm shows.
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

// report returns the report about the attempt for the engine.Phase. work is the size of the task. A failed attempt
// ends its task, unless another attempt of the task runs. If another attempt runs, the failed attempt is reported as
// cancelled.
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

// anotherRuns reports whether an attempt of the task other than attempt a runs and may still give a result.
func (t *task) anotherRuns(a *attempt) bool {
	return slices.ContainsFunc(t.attempts, func(b *attempt) bool {
		return b != a && b.state == engine.Running && !b.replaced && !b.cancelled
	})
}

// ended reports whether the attempt has ended, with or without a result.
func (a *attempt) ended() bool { return a.state >= engine.Succeeded }
