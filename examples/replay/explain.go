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

// explain writes what a policy decided about one task, report by report.
func explain(w io.Writer, l *loaded, name string, e compare.Entry, seed uint64) error {
	if e.Clones {
		return usage("-explain takes a policy that decides task by task; %s clones whole phases", e.Name)
	}
	phases := l.phases
	var phase, task int
	var rest string
	if n, _ := fmt.Sscanf(name, "%d/%d%s", &phase, &task, &rest); n != 2 {
		return usage("-explain is %q, want PHASE/TASK, two numbers that -list shows", name)
	}
	if phase >= len(phases) && phase < len(phases)+len(l.unlike) {
		return usage("-explain names phase %d, whose tasks are not known to be alike: no policy is replayed there", phase)
	}
	if phase < 0 || phase >= len(phases) {
		return usage("-explain names phase %d, there are 0 to %d", phase, len(phases)-1)
	}
	p := phases[phase]
	if task < 0 || task >= len(p.Tasks) {
		return usage("-explain names task %d, phase %d has 0 to %d", task, phase, len(p.Tasks)-1)
	}
	t := p.Tasks[task]
	fmt.Fprintf(w, "%s %s, task %d of %d, %s in the log, on %d slots: %s in its last attempt, of %d", p.Job, p.Name, task, len(p.Tasks),
		p.TaskName(task), len(p.Slots),
		report.Span(compare.Last(p, task).Seconds()), len(t.Attempts))
	if t.Work > 0 {
		fmt.Fprintf(w, ", %.6g units of work", t.Work)
	}
	fmt.Fprintf(w, ". Policy %s, reports every %v.\n\n", e.Name, p.Interval.Round(time.Millisecond))
	fmt.Fprintf(w, "%10s  attempt  what\n", "time")
	watch := func(at time.Duration, attempt int, what string) {
		fmt.Fprintf(w, "%9.1fs  %7d  %s\n", at.Seconds(), attempt, what)
	}
	all, _, err := compare.Replay(phases, e, seed, func() {}) // it may know what other phases have shown
	if err != nil {
		return err
	}
	options := e.Options(seed, phase)
	options.Shape = all[phase].Known
	options.Watch, options.WatchTask = watch, task
	with, err := sim.Run(p, options)
	if err != nil {
		return err
	}
	without, err := sim.Run(p, sim.Options{Policy: restart.Never{}, Seed: seed + uint64(phase)})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nThe phase takes %s; without action %s.\n",
		report.Span(with.Time.Seconds()), report.Span(without.Time.Seconds()))
	return err
}
