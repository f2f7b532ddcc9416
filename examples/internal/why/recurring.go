package why

import (
	"cmp"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Recurring is a task that is slow in most phases of its kind, wherever it runs: what it is given to do is more, or it
// waits for the others. A copy would do the same.
type Recurring struct {
	Job, Task string
	// Ratio is how many times the median of its phase it takes, at the median over Phases; it is slow in Slow of them.
	Ratio        float64
	Phases, Slow int
}

// What makes a task recur: phases of a job that have the same tasks, that many of them, in half of which it is slow.
const leastPhases = 5

// wrongNames is how many tasks may be named by coincidence, on average.
const wrongNames = 0.01

// kind is what phases with the same tasks have in common.
type kind struct {
	log, job string
	tasks    int
}

type taskOf struct {
	kind
	name string
}

// Recur finds the tasks that recur, the worst first, and says of each phase what they took beyond its median.
func Recur(phases []*sim.Phase) (found []Recurring, beyond []time.Duration) {
	groups := map[kind][]int{}
	for i, p := range phases {
		if len(p.Tasks) > 2 && !p.Apart {
			k := kind{p.Log, p.Job, len(p.Tasks)}
			groups[k] = append(groups[k], i)
		}
	}
	ratios := map[taskOf][]float64{}
	var order []taskOf
	for i, p := range phases { // in their order
		k := kind{p.Log, p.Job, len(p.Tasks)}
		if len(groups[k]) < leastPhases || p.Apart {
			continue
		}
		own := compare.AppendRatios(nil, phases[i])
		for t, ratio := range own {
			key := taskOf{k, p.TaskName(t)}
			if ratios[key] == nil {
				order = append(order, key)
			}
			ratios[key] = append(ratios[key], ratio)
		}
	}
	recurs := map[taskOf]bool{}
	var likely []taskOf
	slow, runs := 0, 0
	for _, key := range order {
		all := ratios[key]
		slices.Sort(all)
		r := Recurring{Job: key.job, Task: key.name, Ratio: all[len(all)/2], Phases: len(all)}
		for _, ratio := range all {
			if ratio > compare.Slow {
				r.Slow++
			}
		}
		slow, runs = slow+r.Slow, runs+r.Phases
		if len(all) >= leastPhases && 2*r.Slow >= len(all) {
			likely = append(likely, key)
			found = append(found, r)
		}
	}
	for i := len(found) - 1; i >= 0; i-- { // slow more often than chance would have it
		often := distuv.Binomial{N: float64(found[i].Phases), P: float64(slow) / float64(runs)}
		if often.Survival(float64(found[i].Slow-1))*float64(len(order)) > wrongNames {
			found, likely = slices.Delete(found, i, i+1), slices.Delete(likely, i, i+1)
		}
	}
	for _, key := range likely {
		recurs[key] = true
	}
	slices.SortStableFunc(found, func(a, b Recurring) int {
		return cmp.Or(cmp.Compare(b.Slow, a.Slow), cmp.Compare(b.Ratio, a.Ratio))
	})
	beyond = make([]time.Duration, len(phases))
	for i, p := range phases {
		k := kind{p.Log, p.Job, len(p.Tasks)}
		for t, ratio := range compare.AppendRatios(nil, p) {
			if took := compare.Last(p, t); ratio > compare.Slow && recurs[taskOf{k, p.TaskName(t)}] {
				beyond[i] += took - time.Duration(float64(took)/ratio)
			}
		}
	}
	return found, beyond
}
