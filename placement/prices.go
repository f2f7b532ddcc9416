package placement

import "math"

// improveBound computes the lower bound that the current prices prove, and stores it with the prices if it is the
// best so far. There is a price for each row of the linear program: u_j >= 0 for the uplink of rack j, v_j >= 0
// for its downlink, and p_j >= 0 for its slots, which is stored as -p_j. The prices u and v are scaled so that
// they add up to 1. In every placement, the longest transfer T is at least a weighted sum of the times up_j and
// down_j of the links:
//
//	T >= sum_j u_j up_j + v_j down_j + p_j (tasks_j - slots_j).
//
// The right-hand side is a constant plus one term for each task. Each task can minimise its own term without
// regard to the other tasks.
func (s *relaxation) improveBound() {
	links := 0.0
	for row, p := range s.price {
		if row%width < 2 {
			links += max(0, p)
		}
	}
	for row, p := range s.price {
		p /= links
		if row%width < 2 {
			s.trial[row] = max(0, p)
		} else {
			s.trial[row] = min(0, p)
		}
	}
	if b := s.m.bound(s.trial); b > s.best {
		s.best = b
		copy(s.bestPrice, s.trial)
	}
}

// byVolume computes a first lower bound from simple prices: the price of a link is proportional to its bandwidth.
// It tries prices of the uplinks only, of the downlinks only, and of both, and uses the largest bound. The bound
// means that a number of bytes takes at least as long as if all links carried them together. Cost: O(n r) for n
// tasks and r racks.
func byVolume(m *model) *relaxation {
	rows := width * m.r
	s := &relaxation{m: m, price: make([]float64, rows), trial: make([]float64, rows), bestPrice: make([]float64, rows)}
	for _, share := range [...][width]float64{{1, 0, 0}, {0, 1, 0}, {1, 1, 0}} {
		for row, b := range m.bandwidth {
			s.price[row] = b * share[row%width]
		}
		s.improveBound()
	}
	return s
}

// bound returns the lower bound that the prices prove, or NaN if a price is not a number. The result is lowered by
// the largest possible rounding error. This includes the errors when prune and branch compare and add up the terms
// of single tasks.
func (m *model) bound(price []float64) float64 {
	b, size := 0.0, 0.0 // size is the sum of the absolute values of the terms
	add := func(v float64) {
		b += v
		size += math.Abs(v)
	}
	for row, p := range price {
		add(float64(p * m.rightSide(row/width, row%width)))
	}
	for k := range m.n {
		add(m.cheapest(k, price))
	}
	return b - float64(float64(m.n+width*m.r)*rounding*size)
}

// rounding bounds the rounding error of a sum. A sum of n terms is off by at most n times rounding, relative to its
// size. Each term has a few rounding errors of 2^-53, and rounding is sixteen times 2^-53.
const rounding = 0x1p-49

// reduced returns the cost, at the given prices, of a task that runs wholly in rack j: it saves and adds this time there.
// The result is +Inf if the task cannot run in this rack.
func reduced(save, add float64, j int, price []float64) float64 {
	if add > math.MaxFloat64 {
		return add
	}
	p := price[width*j : width*j+width]
	return float64(add*p[1]) - float64(save*p[0]) - p[2]
}

// cheapest returns the smallest cost of task k over all racks at the given prices.
func (m *model) cheapest(k int, price []float64) float64 {
	save, add, least := m.save[k*m.r:(k+1)*m.r], m.add[k*m.r:(k+1)*m.r], math.Inf(1)
	for j := range add {
		least = min(least, reduced(save[j], add[j], j, price))
	}
	return least
}
