package why

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Recurring is a task that is slow in most phases of its kind, on any machine. Its work is larger, or it waits for
// other tasks. A copy would take the same time.
type Recurring struct {
	Job  string `json:"job"`
	Task string `json:"task"`
	// Ratio is the time of the task divided by the median of its phase, at the median over the phases. Phases is the
	// number of phases with the task, and Slow the number of phases in which it is slow.
	Ratio  float64 `json:"ratio"`
	Phases int     `json:"phases"`
	Slow   int     `json:"slow_phases"`
}

// leastPhases is the least number of phases of a job with the same tasks from which recurring tasks are found. A
// recurring task is slow in at least half of them.
const leastPhases = 5

// wrongNames is the mean number of tasks that Recur may report although their slowness is chance.
const wrongNames = 0.01

// kind identifies phases with the same tasks: the same log, job and number of tasks.
type kind struct {
	log, job string
	tasks    int
}

type taskOf struct {
	kind
	name string
}

// Recur returns the recurring tasks, the worst first. For each phase it also returns the recurring tasks that are slow
// in the phase, as indexes. A task that always ran on one machine is left out, because the machine may be slow.
func Recur(phases []*sim.Phase) (found []Recurring, slowIn [][]int) {
	groups := map[kind][]int{}
	for i, p := range phases {
		if len(p.Tasks) > 2 && !p.Apart {
			k := kind{p.Log, p.Job, len(p.Tasks)}
			groups[k] = append(groups[k], i)
		}
	}
	ratios := map[taskOf][]float64{}
	places := map[taskOf]map[string]bool{} // the machines of a task
	var order []taskOf
	for _, p := range phases { // in their order, so that the result is always the same
		k := kind{p.Log, p.Job, len(p.Tasks)}
		if len(groups[k]) < leastPhases || p.Apart {
			continue
		}
		for t, ratio := range compare.AppendRatios(nil, p) {
			key := taskOf{k, p.TaskName(t)}
			if ratios[key] == nil {
				order = append(order, key)
				places[key] = map[string]bool{}
			}
			ratios[key] = append(ratios[key], ratio)
			places[key][p.Tasks[t].Host] = true
		}
	}
	recurs := map[taskOf]bool{}
	var likely []taskOf
	slow, runs := 0, 0
	for _, key := range order {
		all := ratios[key]
		r := Recurring{Job: key.job, Task: key.name, Ratio: causes.Median(all), Phases: len(all)}
		for _, ratio := range all {
			if ratio > compare.Slow {
				r.Slow++
			}
		}
		slow, runs = slow+r.Slow, runs+r.Phases
		oneMachine := len(places[key]) == 1 && !places[key][""]
		if len(all) >= leastPhases && 2*r.Slow >= len(all) && !oneMachine {
			likely = append(likely, key)
			found = append(found, r)
		}
	}
	for i := len(found) - 1; i >= 0; i-- { // keep the tasks that are slow more often than chance explains
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
	slowIn = make([][]int, len(phases))
	for i, p := range phases {
		k := kind{p.Log, p.Job, len(p.Tasks)}
		for t, ratio := range compare.AppendRatios(nil, p) {
			if ratio > compare.Slow && recurs[taskOf{k, p.TaskName(t)}] {
				slowIn[i] = append(slowIn[i], t)
			}
		}
	}
	return found, slowIn
}
