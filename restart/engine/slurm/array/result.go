package array

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Result is the result of [Run].
type Result struct {
	Array     string        // the array's job ID
	Tasks     int           // the number of tasks
	Failed    []string      // the tasks that did not succeed, by Slurm's names, such as "71_9"
	Code      int           // the highest exit code of a task; at least 1 if a task has failed
	Elapsed   time.Duration // from the call of Run to the end
	Copies    int           // attempts submitted while another attempt of the task ran
	Restarts  int           // attempts submitted to replace a running attempt
	Reruns    int           // attempts submitted because an attempt was lost
	Won       int           // results of these three kinds of attempts
	Cancelled int           // cancelled attempts, originals included
	// BadProgress counts progress files that could not be read. A file counts once at each poll.
	BadProgress int
	// Ledger counts the attempts and their time, as package tracker does.
	Ledger tracker.Ledger
	// Journal is the journal of the run, if Options.Journal is set; see package journal.
	Journal []byte
}

// result returns the result of the run so far.
func (r *run) result() Result {
	res := Result{Tasks: len(r.tasks), Elapsed: time.Since(r.started), BadProgress: r.badProgress}
	if len(r.arrays) > 0 {
		res.Array = r.arrays[0]
	}
	if r.phase != nil {
		res.Ledger, res.Journal = r.phase.Ledger(), r.phase.Journal()
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

// count adds an attempt to the counts, if it was submitted.
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
	return fmt.Sprintf("array %s: %d of %d tasks done in %.1fs; %d copies, %d restarts, %d reruns after a loss: "+
		"%d won; %d attempts cancelled", r.Array, r.Tasks-len(r.Failed), r.Tasks, r.Elapsed.Seconds(),
		r.Copies, r.Restarts, r.Reruns, r.Won, r.Cancelled)
}
