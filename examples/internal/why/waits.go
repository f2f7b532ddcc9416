package why

import (
	"cmp"
	"slices"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Waits divides the time that stragglers cost a phase among its tasks. cost is this time in seconds. The phase waits
// for the slots with stragglers that still work when the phase would end without stragglers. The stragglers of a slot
// share the wait for it by their times beyond the median. If no such slot is late, all stragglers share the cost in
// this way.
func Waits(p *sim.Phase, cost float64) ([]float64, error) {
	beyond := make([]float64, len(p.Tasks))
	for i, ratio := range compare.AppendRatios(nil, p) {
		if ratio > compare.Slow {
			beyond[i] = compare.Last(p, i).Seconds() * (1 - 1/ratio)
		}
	}
	if cost == 0 || p.Apart { // runs of the same task have no slot in common
		return scaled(beyond, cost), nil
	}
	var all []sim.Span
	o := sim.Options{Policy: restart.Never{}, Spans: func(s sim.Span) { all = append(all, s) }}
	if _, err := sim.Run(p, o); err != nil {
		return nil, err
	}
	slot, late, sums, end := make([]int32, len(p.Tasks)), make([]float64, len(p.Slots)), make([]float64, len(p.Slots)), 0.0
	for _, s := range all {
		slot[s.Task], late[s.Slot] = s.Slot, max(late[s.Slot], s.End.Seconds())
		end = max(end, s.End.Seconds())
	}
	for i, s := range slot {
		sums[s] += beyond[i]
	}
	for s := range late {
		if late[s] -= end - cost; sums[s] == 0 {
			late[s] = 0
		}
	}
	wait, shares := runway(late), make([]float64, len(p.Tasks))
	for i, s := range slot {
		if beyond[i] > 0 {
			shares[i] = wait[s] * beyond[i] / sums[s]
		}
	}
	if slices.Max(shares) == 0 {
		shares = beyond
	}
	return scaled(shares, cost), nil
}

// runway divides the largest of several times among the times: at each moment, all longer times have an equal share. A
// share is a Shapley value, like the share of a plane in the cost of a runway [Littlechild & Owen 1973]. A negative
// time is used as 0.
func runway(times []float64) []float64 {
	order := make([]int, len(times))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
	shares, share, from := make([]float64, len(times)), 0.0, 0.0
	for k, i := range order {
		if times[i] > from {
			share, from = share+(times[i]-from)/float64(len(times)-k), times[i]
		}
		shares[i] = share
	}
	return shares
}

// scaled returns the numbers, multiplied so that their sum is the given sum; zeros stay zeros.
func scaled(x []float64, sum float64) []float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	for i := range x {
		x[i] *= sum / max(total, 1e-9)
	}
	return x
}

// Place is a machine with the cost of its stragglers.
type Place struct {
	Machine string  `json:"machine"`
	Cost    float64 `json:"cost_seconds"`
	// Tasks and Stragglers are the numbers of tasks and stragglers on the machine. Phases is the number of phases in
	// which the machine ran a straggler.
	Tasks      int     `json:"tasks"`
	Stragglers int     `json:"stragglers"`
	Phases     int     `json:"phases"`
	most       float64 // the largest cost of a straggler
}

// Places has the places by machine.
type Places map[string]*Place

// Add adds the tasks of a phase with their costs. Tasks on unknown machines are left out.
func (m Places) Add(p *sim.Phase, costs []float64) {
	slow := map[*Place]bool{} // the machines that ran a straggler
	for i, ratio := range compare.AppendRatios(nil, p) {
		host := p.Tasks[i].Host
		if host == "" {
			continue
		}
		w := m[host]
		if w == nil {
			w = &Place{Machine: host}
			m[host] = w
		}
		w.Tasks++
		if ratio > compare.Slow {
			w.Cost += costs[i]
			w.most = max(w.most, costs[i])
			w.Stragglers++
			slow[w] = true
		}
	}
	for w := range slow {
		w.Phases++
	}
}

// leastStragglers is the least number of stragglers by which a machine is named.
const leastStragglers = 3

// Worst returns the machine with more than half of the cost of all tasks, over several phases; nil if there is none.
// One task is no evidence against a machine, however long it took: the machine must have more than half of the cost
// without its costliest straggler, too. A machine that runs more than half as large a share of the tasks is left out:
// it may stand out by its number of tasks.
func (m Places) Worst(cost float64, tasks int) *Place {
	for _, w := range m {
		several := w.Phases > 1 && w.Stragglers >= leastStragglers && 2*(w.Cost-w.most) > cost-w.most
		if several && 2*w.Cost > cost && 2*float64(w.Tasks)*cost <= w.Cost*float64(tasks) {
			return w // no other machine has more than half
		}
	}
	return nil
}
