package array

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Result is what [Run] returns about a job array: the outcome of the tasks and the cost of copies and restarts.
type Result struct {
	Array     string        // the array's job ID
	Tasks     int           // the number of tasks
	Failed    []string      // job IDs of the tasks that did not succeed, such as "71_9"
	Code      int           // highest exit code of a failed task, at least 1; 0 if no task has failed
	Elapsed   time.Duration // time from the call of Run to its end
	Copies    int           // number of attempts submitted while another attempt of the task ran
	Restarts  int           // number of attempts submitted to replace a running attempt
	Reruns    int           // number of attempts submitted because an attempt was lost
	Won       int           // number of tasks whose result came from a copy, a restart or a rerun
	Cancelled int           // number of cancelled attempts, elements of the user's array included
	// BadProgress is how often a progress file contained no valid progress. If a file is invalid at several polls,
	// each poll is counted.
	BadProgress int
	// Ledger contains the numbers of attempts and the slot time that they took, as package tracker counts them.
	Ledger tracker.Ledger
	// Bill says how much time the policy would have saved, if Options.Shadow is set. See package shadow.
	Bill shadow.Bill
	// Journal is a text with all events of the run, in the format of package journal. It is empty unless
	// Options.Journal was set.
	Journal []byte
}

// result returns the Result of the run, from the state that the run has now.
func (r *run) result() Result {
	res := Result{Tasks: len(r.tasks), Elapsed: time.Since(r.started), BadProgress: r.badProgress}
	if len(r.arrays) > 0 {
		res.Array = r.arrays[0]
	}
	if r.phase != nil {
		res.Ledger, res.Journal, res.Bill = r.phase.Ledger(), r.phase.Journal(), r.replay()
	}
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			res.count(a)
		}
		if t.settled {
			continue
		}
		res.Failed = append(res.Failed, t.original().job)
		res.Code = max(res.Code, t.code, 1)
	}
	return res
}

// count adds an attempt to the numbers of copies, restarts, reruns, won and cancelled attempts. An attempt that was
// never submitted is ignored.
func (r *Result) count(a *attempt) {
	if a.job == "" {
		return
	}
	if a.cancelled {
		r.Cancelled++
	}
	switch {
	case a == a.task.original():
		return
	case a.why == restart.Copy:
		r.Copies++
	case a.why == restart.Restart:
		r.Restarts++
	default:
		r.Reruns++
	}
	if a.state == engine.Succeeded {
		r.Won++
	}
}

// String returns the result in one line, such as "array 71: 64 of 64 tasks done in 12.9s; 16 copies, ...".
func (r Result) String() string {
	text := fmt.Sprintf("array %s: %d of %d tasks done in %.1fs; %d copies, %d restarts, %d reruns after a loss: "+
		"%d won; %d attempts cancelled", r.Array, r.Tasks-len(r.Failed), r.Tasks, r.Elapsed.Seconds(),
		r.Copies, r.Restarts, r.Reruns, r.Won, r.Cancelled)
	switch {
	case r.Bill.Tasks > 0:
		text += "; the policy " + r.Bill.String()
	case r.Bill.Why != "":
		text += "; " + r.Bill.String()
	}
	return text
}
