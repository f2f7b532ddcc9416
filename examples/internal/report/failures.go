package report

import (
	"fmt"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// Failures counts the recorded attempts of tasks that succeeded later: attempts that failed or were killed, or whose output was lost.
type Failures struct {
	Attempts int `json:"attempts"`
	// Share is their part of the slot time without action.
	Share float64 `json:"slot_time_share"`
	// Worst is the task whose failed attempts took most time.
	Worst Failed `json:"worst"`
}

// Failed is a task with failed attempts.
type Failed struct {
	Job      string  `json:"job"`
	Phase    string  `json:"phase"`
	Task     string  `json:"task"`
	Attempts int     `json:"attempts"`
	Seconds  float64 `json:"seconds"` // of the failed attempts
}

// manyFailed is the share of the slot time from which failed attempts are spoken of. It is chosen.
const manyFailed = 0.05

// failures returns the failures of phases; nil if their attempts took hardly any of the slot time.
func (n *NoAction) failures(phases []*sim.Phase) *Failures {
	f := &Failures{}
	if n.Used > 0 {
		f.Share = n.Wasted / n.Used
	}
	for _, p := range phases {
		for i, t := range p.Tasks {
			failed := Failed{Job: p.Job, Phase: p.Name, Attempts: len(t.Attempts) - 1}
			for _, a := range t.Attempts[:failed.Attempts] {
				failed.Seconds += a.Duration.Seconds()
			}
			if f.Attempts += failed.Attempts; failed.Seconds > f.Worst.Seconds {
				failed.Task = p.TaskName(i)
				f.Worst = failed
			}
		}
	}
	if f.Share < manyFailed {
		return nil
	}
	return f
}

// fact says how much the failed attempts took.
func (f *Failures) fact(n NoAction) string {
	return fmt.Sprintf(" %s failed, %s killed, or lost %s output, after %s: %s of the slot time.", words.Counted(f.Attempts, "attempt"),
		words.Plural(f.Attempts, "was", "were"), words.Plural(f.Attempts, "its", "their"), Span(n.Wasted), Percent(f.Share))
}

// advice says where to look.
func (f *Failures) advice(n NoAction) string {
	if w := f.Worst; w.Seconds >= mostOfCost*n.Wasted {
		return fmt.Sprintf("See why task %s of %s did not succeed at once: %s before took %s.", short(w.Task), named(w.Job, w.Phase),
			words.Counted(w.Attempts, "attempt"), Span(w.Seconds))
	}
	return "See why attempts failed, were killed or lost their output."
}
