package placement

import "math"

// model is a problem in seconds, flat, and in an order of tasks and racks that does not depend on the caller's, so that
// ties between equally good placements are broken alike however the caller lists them.
type model struct {
	n, r int
	// With task k on rack j, save[k*r+j] seconds leave the uplink of j and add[k*r+j] seconds enter its downlink.
	// add is +Inf where the placement would need a link without bandwidth.
	save, add []float64
	full      []float64 // seconds on each uplink while no task runs in its rack
	slots     []int     // at most n
	// bandwidth is that of each row of a rack, up, down and none, 0 where a link is endless.
	bandwidth []float64
	exponent  int // the figures are in units of 2^exponent seconds, so that the largest is about 1
	// noise is more than what rounding may add to a sum in which the terms of an uplink cancel. It matters when nearly all
	// data is local in the best placement: then the longest transfer is a small difference of large numbers.
	noise float64
	tasks []int // the caller's index of each task
	racks []int // the caller's index of each rack
}

func newModel(p *Problem) *model {
	tasks, racks := canonicalOrder(p)
	return newModelIn(p, tasks, racks)
}

// newModelIn lists tasks and racks in the order given.
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

// normalise scales all seconds by a power of two, so that no product of them overflows. That changes no digit, except
// that times of less than 2^-1022 of the longest, which no clock tells from none, may become none.
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

// floor is a lower bound on every placement: in whichever rack a task runs, it enters there and leaves the others.
func (m *model) floor() float64 {
	bound := 0.0
	for k := range m.n {
		add, save := m.add[k*m.r:(k+1)*m.r], m.save[k*m.r:(k+1)*m.r]
		first, second := nowhere, 0.0 // the rack with the most to send, and the most of any other
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

// setTask fills in the seconds of one task. The bytes that it must fetch are summed, not found as a difference, which
// would lose a small remote part next to a large local one.
func (m *model) setTask(k int, input []float64, p *Problem, prefix []float64) {
	blocked := 0 // racks whose data cannot leave them
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

func finite(bandwidth float64) float64 {
	if math.IsInf(bandwidth, 1) {
		return 0
	}
	return bandwidth
}

// seconds is bytes/bandwidth, where nothing takes no time even on a link without bandwidth, be that 0 or -0.
func seconds(bytes, bandwidth float64) float64 {
	if bytes == 0 {
		return 0
	}
	return bytes / math.Abs(bandwidth)
}
