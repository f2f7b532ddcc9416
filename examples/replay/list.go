package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/report"
)

// listPhases writes the phases. The phases for which the policy saves most time come first.
func (o options) listPhases(w io.Writer, l *loaded, e compare.Entry) error {
	phases := l.phases
	if e.Clones {
		return usage("-list needs a policy that decides about single tasks; %s clones whole phases", e.Name)
	}
	none, _, err := compare.Replay(phases, compare.Entry{Policy: restart.Never{}}, o.seed, func() {})
	if err != nil {
		return err
	}
	with, _, err := compare.Replay(phases, e, o.seed, func() {})
	if err != nil {
		return err
	}
	order := make([]int, len(phases))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(none[b].Time-with[b].Time, none[a].Time-with[a].Time)
	})
	for i, p := range l.unlike {
		if !p.Compared() { // otherwise all its tasks are in phases of runs
			order = append(order, len(phases)+i)
		}
	}
	all := slices.Concat(phases, l.unlike)
	if o.phasesSet && !o.generate {
		order = order[:min(o.phases, len(order))]
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "phase\tjob\tname\ttasks\tslots\ttime\twith %s\tslowest task\tits name\tits time\t\n", e.Name)
	for _, i := range order {
		p := all[i]
		slowest := compare.Slowest(p)
		time, changed := p.Recorded, "not alike"
		if i < len(phases) {
			time, changed = none[i].Time, report.Span(with[i].Time.Seconds())
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%d\t%d\t%s\t%s\t%d/%d\t%s\t%s\t\n", i, p.Job, p.Name, len(p.Tasks), len(p.Slots),
			report.Span(time.Seconds()), changed, i, slowest, p.TaskName(slowest), report.Span(compare.Last(p, slowest).Seconds()))
	}
	return table.Flush()
}
