package main

import (
	"fmt"
	"io"
	"time"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/report"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// explain writes the decisions of a policy about one task, one line for each progress report.
func explain(w io.Writer, l *loaded, name string, e compare.Entry, seed uint64) error {
	if e.Clones {
		return usage("-explain needs a policy that decides about single tasks; %s clones whole phases", e.Name)
	}
	phases := l.phases
	var phase, task int
	var rest string
	if n, _ := fmt.Sscanf(name, "%d/%d%s", &phase, &task, &rest); n != 2 {
		return usage("-explain is %q, want PHASE/TASK, two numbers that -list prints", name)
	}
	if phase >= len(phases) && phase < len(phases)+len(l.unlike) {
		return usage("-explain is for phase %d, but its tasks are not known to be alike, so no policy is replayed there", phase)
	}
	if phase < 0 || phase >= len(phases) {
		return usage("-explain is for phase %d, want 0 to %d", phase, len(phases)-1)
	}
	p := phases[phase]
	if task < 0 || task >= len(p.Tasks) {
		return usage("-explain is for task %d of phase %d, want 0 to %d", task, phase, len(p.Tasks)-1)
	}
	t := p.Tasks[task]
	fmt.Fprintf(w, "Phase %s %s has %d tasks on %d slots. Task %d is called %s in the log. Its last attempt there, of "+
		"%d, took %s", p.Job, p.Name, len(p.Tasks), len(p.Slots), task, p.TaskName(task), len(t.Attempts),
		report.Span(compare.Last(p, task).Seconds()))
	if t.Work > 0 {
		fmt.Fprintf(w, ", for %.6g units of work", t.Work)
	}
	fmt.Fprintf(w, ".\nPolicy %s. Attempts report every %v.\n\n", e.Name, p.Interval.Round(time.Millisecond))
	fmt.Fprintf(w, "%10s  attempt  progress and decision, or event\n", "time")
	watch := func(at time.Duration, attempt int, what string) {
		fmt.Fprintf(w, "%9.1fs  %7d  %s\n", at.Seconds(), attempt, what)
	}
	all, _, err := compare.Replay(phases, e, seed, func() {}) // the policy may use what earlier phases have shown
	if err != nil {
		return err
	}
	options, err := e.Again(p, seed, phase, all[phase])
	if err != nil {
		return err
	}
	options.Watch, options.WatchTask = watch, task
	with, err := sim.Run(p, options)
	if err != nil {
		return err
	}
	without, err := sim.Run(p, sim.Options{Policy: restart.Never{}, Seed: seed + uint64(phase)})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nThe phase takes %s with the policy, and %s without action.\n",
		report.Span(with.Time.Seconds()), report.Span(without.Time.Seconds()))
	return err
}
