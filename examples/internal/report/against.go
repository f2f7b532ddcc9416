package report

import (
	"cmp"
	"math"
	"slices"

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

// Changed has the figures of all phases with one name, as recorded. In each pair, the other run is first, and this
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
	rows := map[string]*Changed{}
	seen := map[string][2]bool{}
	for side, phases := range [2][]*sim.Phase{there, here} {
		for _, p := range phases {
			row := rows[p.Name]
			if row == nil {
				row = &Changed{Phase: p.Name}
				rows[p.Name] = row
			}
			both := seen[p.Name]
			both[side] = true
			seen[p.Name] = both
			row.Tasks[side] += len(p.Tasks)
			row.Seconds[side] += p.Recorded.Seconds()
			row.Stragglers[side] += compare.Survey([]*sim.Phase{p}).Stragglers
			row.Slowest[side] = max(row.Slowest[side], compare.Last(p, compare.Slowest(p)).Seconds())
		}
	}
	a := &Against{Name: name, Phases: []Changed{}}
	for name, both := range seen {
		switch {
		case both[0] && both[1]:
			a.Phases = append(a.Phases, *rows[name])
		case both[1]:
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
