package placement

import "math"

// improveBound keeps the current prices if they prove a better lower bound than all prices before. The prices are u >= 0
// of the uplinks and v >= 0 of the downlinks, which sum to 1, and p >= 0 of the slots. Every placement satisfies
//
//	T >= sum_j u_j up_j + v_j down_j + p_j (tasks_j - slots_j).
//
// The right-hand side is a constant plus one term for each task. Each task can minimise its own term independently.
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

// byVolume proves a first bound from prices in proportion to the links' bandwidths: of the uplinks, of the downlinks, or
// of both, whichever bound is largest. The bound says that moving bytes takes at least the bytes divided by the sum of
// the bandwidths. O(n r).
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

// bound returns the lower bound that the prices prove, or NaN if the prices are not numbers. The result is lowered by
// the largest possible rounding error. This error includes the comparisons of single tasks' terms in prune and branch,
// and the sums of their differences.
func (m *model) bound(price []float64) float64 {
	b, size := 0.0, 0.0 // size is the sum of the terms' absolute values
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

// rounding is the relative error of a sum for each term: a few times 2^-53, because each term has a few errors.
const rounding = 0x1p-49

// reduced returns the cost of column i at these prices: a whole task k in rack j, for i = k*r+j. +Inf if not possible.
func (m *model) reduced(i int, price []float64) float64 {
	g, ok := m.column(i)
	if !ok {
		return math.Inf(1)
	}
	p := price[i%m.r*width:]
	return -float64(g[0]*p[0]) - float64(g[1]*p[1]) - float64(g[2]*p[2])
}

// cheapest returns the smallest cost of task k over all racks at these prices.
func (m *model) cheapest(k int, price []float64) float64 {
	least := math.Inf(1)
	for i := k * m.r; i < (k+1)*m.r; i++ {
		least = min(least, m.reduced(i, price))
	}
	return least
}
