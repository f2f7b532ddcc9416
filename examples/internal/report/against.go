package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Against compares the phases of this run with the phases of the same names in another run.
type Against struct {
	Name   string    `json:"name"` // name of the other run
	Phases []Changed `json:"phases"`
	// OnlyHere is the number of names that only this run has, and OnlyThere the number that only the other run has.
	OnlyHere  int `json:"only_here"`
	OnlyThere int `json:"only_there"`
	LeftOut   int `json:"left_out"` // number of names in both runs that are not listed
}

// Changed has the figures of all phases with one name, as recorded. The name includes that of the job if both runs have this job. In each pair, the other run is first, and this
// run second.
type Changed struct {
	Phase      string     `json:"phase"`
	Tasks      [2]int     `json:"tasks"`
	Seconds    [2]float64 `json:"seconds"`
	Stragglers [2]int     `json:"stragglers"`
	Slowest    [2]float64 `json:"slowest_seconds"`
}

// mostChanged is the largest number of listed names.
const mostChanged = 100

// Compare adds the comparison with another run. The largest change of time is first.
func (r *Report) Compare(name string, here, there []*sim.Phase) {
	runs := [2][]*sim.Phase{there, here}
	jobs := map[string][2]bool{}
	for side, phases := range runs {
		for _, p := range phases {
			both := jobs[p.Job]
			both[side] = true
			jobs[p.Job] = both
		}
	}
	type key struct{ job, phase string } // without a job if only one run has it
	rows := map[key]*Changed{}
	for side, phases := range runs {
		for _, p := range phases {
			of, name := key{phase: p.Name}, p.Name
			if jobs[p.Job] == [2]bool{true, true} {
				of.job, name = p.Job, strings.TrimSpace(p.Job+" "+p.Name)
			}
			row := rows[of]
			if row == nil {
				row = &Changed{Phase: name}
				rows[of] = row
			}
			row.Tasks[side] += len(p.Tasks)
			row.Seconds[side] += p.Recorded.Seconds()
			row.Stragglers[side] += compare.Survey([]*sim.Phase{p}).Stragglers
			row.Slowest[side] = max(row.Slowest[side], compare.Last(p, compare.Slowest(p)).Seconds())
		}
	}
	a := &Against{Name: name, Phases: []Changed{}}
	for _, row := range rows {
		switch {
		case row.Tasks[0] > 0 && row.Tasks[1] > 0:
			a.Phases = append(a.Phases, *row)
		case row.Tasks[1] > 0:
			a.OnlyHere++
		default:
			a.OnlyThere++
		}
	}
	slices.SortFunc(a.Phases, func(x, y Changed) int {
		change := func(c Changed) float64 { return math.Abs(c.Seconds[1] - c.Seconds[0]) }
		return cmp.Or(cmp.Compare(change(y), change(x)), cmp.Compare(x.Phase, y.Phase))
	})
	a.LeftOut = max(0, len(a.Phases)-mostChanged)
	a.Phases = a.Phases[:len(a.Phases)-a.LeftOut]
	r.Against = a
}

// mostPrinted is the largest number of names in the text.
const mostPrinted = 20

// table writes the names of both runs.
func (a *Against) table(out *printer) error {
	out.f("\nAgainst %s: the phases of both runs, as recorded, there and here. The largest change of time comes first.\n", a.Name)
	table := tabwriter.NewWriter(out.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "phase\ttime there\there\tslowest task there\there\tstragglers there\there\ttasks there\there\t")
	printed := a.Phases[:min(len(a.Phases), mostPrinted)]
	for _, c := range printed {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t\n", short(c.Phase), Span(c.Seconds[0]), Span(c.Seconds[1]),
			Span(c.Slowest[0]), Span(c.Slowest[1]), c.Stragglers[0], c.Stragglers[1], c.Tasks[0], c.Tasks[1])
	}
	err := table.Flush()
	if more := len(a.Phases) - len(printed) + a.LeftOut; more+a.OnlyThere+a.OnlyHere > 0 {
		out.f("Phases that are not in the table: %d of both runs, %d only there, %d only here.\n", more, a.OnlyThere, a.OnlyHere)
	}
	return err
}
