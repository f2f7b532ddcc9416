package placement

import "math"

// model is a problem converted to seconds, in flat slices. The order of its tasks and racks does not depend on the
// caller's order. So the search breaks ties between equally good placements alike for every order of the caller.
type model struct {
	n, r int
	// A task k in rack j relieves the uplink of rack j by save[k*r+j] seconds, and adds add[k*r+j] seconds to its downlink.
	// add is +Inf if the task in this rack would need a link of bandwidth 0.
	save, add []float64
	full      []float64 // seconds on each uplink while no task runs in the uplink's rack
	slots     []int     // at most n for each rack
	// bandwidth has width entries for each rack: the uplink's, the downlink's, and 0. An infinite link has the entry
	// 0.
	bandwidth []float64
	exponent  int // the unit of all times is 2^exponent seconds, so that the longest time is about 1
	// noise exceeds the rounding error of an uplink's load, in which large terms cancel. The noise matters if the best
	// placement leaves nearly all data in its rack: the longest transfer is then a small difference of large numbers.
	noise float64
	tasks []int // the caller's index of each task
	racks []int // the caller's index of each rack
}

// newModel returns the model of a problem, with tasks and racks in the canonical order.
func newModel(p *Problem) *model {
	tasks, racks := canonicalOrder(p)
	return newModelIn(p, tasks, racks)
}

// newModelIn returns the model of a problem, with tasks and racks in the given order.
func newModelIn(p *Problem, tasks, racks []int) *model {
	n, r := len(tasks), len(racks)
	m := &model{
		n: n, r: r, tasks: tasks, racks: racks,
		save: make([]float64, n*r), add: make([]float64, n*r), full: make([]float64, r), slots: make([]int, r),
		bandwidth: make([]float64, width*r),
	}
	for j, rack := range m.racks {
		m.bandwidth[width*j], m.bandwidth[width*j+1] = finite(p.Up[rack]), finite(p.Down[rack])
		m.slots[j] = n
		if p.Slots != nil {
			m.slots[j] = min(n, p.Slots[rack])
		}
	}
	prefix := make([]float64, r+1)
	for k, task := range m.tasks {
		m.setTask(k, p.Input[task], p, prefix)
	}
	m.normalise()
	return m
}

// normalise divides all seconds by a power of two, so that no product overflows. The division keeps every digit,
// with one exception: a time below 2^-1022 of the longest time may become 0. No clock can tell such a time from 0.
func (m *model) normalise() {
	largest := 0.0
	for i, v := range m.add {
		largest = max(largest, m.save[i])
		if !math.IsInf(v, 1) {
			largest = max(largest, v)
		}
	}
	_, m.exponent = math.Frexp(largest)
	for _, figures := range [][]float64{m.save, m.add, m.full} {
		for i, v := range figures {
			figures[i] = math.Ldexp(v, -m.exponent)
		}
	}
	for _, v := range m.full {
		m.noise = max(m.noise, max(1e-12, float64(m.n)*rounding)*v)
	}
}

// floor returns a lower bound for every placement. A task's bytes from other racks enter the task's rack by its downlink,
// and leave each other rack by its uplink.
func (m *model) floor() float64 {
	bound := 0.0
	for k := range m.n {
		add, save := m.add[k*m.r:(k+1)*m.r], m.save[k*m.r:(k+1)*m.r]
		first, second := nowhere, 0.0 // the rack with the longest upload, and the longest upload of the other racks
		for j, v := range save {
			switch {
			case first == nowhere || v > save[first]:
				if first != nowhere {
					second = save[first]
				}
				first = j
			default:
				second = max(second, v)
			}
		}
		least := math.Inf(1)
		for j, v := range add {
			if j == first {
				least = min(least, max(v, second))
			} else {
				least = min(least, max(v, save[first]))
			}
		}
		bound = max(bound, least)
	}
	return bound
}

// setTask computes the seconds of one task. setTask sums the bytes that the task must fetch, and does not subtract
// the local bytes from the total. The difference would lose a small remote part next to a large local part.
func (m *model) setTask(k int, input []float64, p *Problem, prefix []float64) {
	blocked := 0 // number of racks that have data of the task and an uplink of bandwidth 0
	for j, rack := range m.racks {
		prefix[j+1] = prefix[j] + input[rack]
		if input[rack] > 0 && p.Up[rack] == 0 {
			blocked++
		}
	}
	suffix := 0.0
	for j := m.r - 1; j >= 0; j-- {
		rack := m.racks[j]
		here := input[rack]
		i := k*m.r + j
		fetch := prefix[j] + suffix
		suffix += here
		m.add[i] = seconds(fetch, p.Down[rack])
		if blocked > 1 || blocked == 1 && !(here > 0 && p.Up[rack] == 0) {
			m.add[i] = math.Inf(1)
		}
		if p.Up[rack] > 0 {
			m.save[i] = here / p.Up[rack]
			m.full[j] += m.save[i]
		}
	}
}

// finite returns the bandwidth, or 0 for an infinite one.
func finite(bandwidth float64) float64 {
	if math.IsInf(bandwidth, 1) {
		return 0
	}
	return bandwidth
}

// seconds returns bytes/bandwidth. Zero bytes take zero seconds, also over a link of bandwidth 0 or -0.
func seconds(bytes, bandwidth float64) float64 {
	if bytes == 0 {
		return 0
	}
	return bytes / math.Abs(bandwidth)
}
