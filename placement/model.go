package placement

import "math"

// model is a Problem, converted from bytes to times and stored in flat slices. Its tasks and racks are sorted, so
// that their order does not depend on the order of the caller. So the search chooses among equally good placements
// in the same way for every order of the caller.
type model struct {
	n, r int // the number of tasks, and the number of racks
	// If task k runs in rack j, the uplink of rack j is busy for save[k*r+j] less time, and its downlink for
	// add[k*r+j] more time. add is +Inf if the task would need a link of bandwidth 0 in this rack.
	save, add []float64
	full      []float64 // the time that each uplink is busy if no task runs in its rack
	slots     []int     // by rack: the number of slots, at most n
	// bandwidth has three entries for each rack: the bandwidth of the uplink, the bandwidth of the downlink, and
	// 0. An infinite bandwidth is stored as 0.
	bandwidth []float64
	exponent  int // the unit of all times is 2^exponent seconds, so that the longest time is about 1
	// noise is larger than the rounding error in the time of an uplink, where large numbers may cancel. This
	// matters if the best placement leaves nearly all data in its rack. The longest transfer is then a small
	// difference of large numbers.
	noise float64
	tasks []int // the caller's index of each task
	racks []int // the caller's index of each rack
}

// newModel returns the model of a problem. Its tasks and racks are in an order that does not depend on the
// caller's order.
func newModel(p *Problem) *model {
	tasks, racks := canonicalOrder(p)
	return newModelIn(p, tasks, racks)
}

// newModelIn returns the model of a problem, with the tasks and the racks in the given order.
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

// normalise divides all times by a power of two, so that no product of times overflows. The division is exact,
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

// floor returns a lower bound for the longest transfer of every placement. It looks at each task alone: its bytes
// from other racks must leave their racks by the uplinks, and must enter the rack of the task by the downlink.
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

// setTask computes the times of one task. It adds up the bytes that the task must read from other racks, and does
// not subtract the bytes in its own rack from the total. A difference would lose a small remote part next to a
// large local part.
func (m *model) setTask(k int, input []float64, p *Problem, prefix []float64) {
	blocked := 0 // number of racks that store data of the task and have an uplink of bandwidth 0
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

// finite returns the bandwidth, or 0 if the bandwidth is infinite.
func finite(bandwidth float64) float64 {
	if math.IsInf(bandwidth, 1) {
		return 0
	}
	return bandwidth
}

// seconds returns bytes/bandwidth. Zero bytes take zero seconds, even over a link of bandwidth 0 or -0.
func seconds(bytes, bandwidth float64) float64 {
	if bytes == 0 {
		return 0
	}
	return bytes / math.Abs(bandwidth)
}
