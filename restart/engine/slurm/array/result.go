package array

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Result is what has become of a run.
type Result struct {
	Array   string // the array's job ID
	Tasks   int
	Failed  []string // the tasks that did not succeed, as Slurm calls them
	Code    int      // the highest exit code of a task; at least 1 if one has failed
	Elapsed time.Duration
	// Copies, Restarts and Again count what was submitted beside the array: copies of running tasks, attempts to take the
	// place of one that runs, and those that make up for what was lost. Won is how many of them had their task's result.
	Copies, Restarts, Again, Won int
	Cancelled                    int // attempts, of the array and of those
	Rubbish                      int // progress files that could not be read, counted at each poll
	Ledger                       tracker.Ledger
	Journal                      []byte
}

func (r *run) result() Result {
	res := Result{Tasks: len(r.tasks), Elapsed: time.Since(r.started), Rubbish: r.rubbish}
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

// count counts an attempt, if it was ever submitted.
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
		r.Again++
	}
	if a.state == engine.Succeeded {
		r.Won++
	}
}

// String says in one line how a run went.
func (r Result) String() string {
	return fmt.Sprintf("array %s: %d of %d tasks done in %.1fs; %d copies, %d restarts, %d again after a loss, "+
		"of which %d won; %d attempts cancelled", r.Array, r.Tasks-len(r.Failed), r.Tasks, r.Elapsed.Seconds(),
		r.Copies, r.Restarts, r.Again, r.Won, r.Cancelled)
}
