package placement

import "math"

// improveBound keeps the present prices if they prove a better lower bound than those before. At prices u, v >= 0 of up-
// and downlinks that sum to 1 and p >= 0 of slots, every placement has
//
//	T >= sum_j u_j up_j + v_j down_j + p_j (tasks_j - slots_j),
//
// and the least value of the right-hand side is a constant and one independent choice per task.
func (s *relaxation) improveBound() {
	links := 0.0
	for row, p := range s.price {
		if row%width < 2 {
			links += max(0, p)
		}
	}
	for row, p := range s.price {
		if p /= links; row%width < 2 {
			s.trial[row] = max(0, p)
		} else {
			s.trial[row] = min(0, p)
		}
	}
	if b := s.m.bound(s.trial) - s.m.noise; b > s.best {
		s.best = b
		copy(s.bestPrice, s.trial)
	}
}

// bound is the lower bound that prices prove; NaN if they are no prices.
func (m *model) bound(price []float64) float64 {
	b := 0.0
	for row, p := range price {
		b += float64(p * m.rightSide(row/width, row%width))
	}
	for k := range m.n {
		b += m.cheapest(k, price)
	}
	return b
}

// reduced is what column i, a whole task placed, costs at these prices.
func (m *model) reduced(i int, price []float64) float64 {
	g, ok := m.column(i)
	if !ok {
		return math.Inf(1)
	}
	p := price[i%m.r*width:]
	return -float64(g[0]*p[0]) - float64(g[1]*p[1]) - float64(g[2]*p[2])
}

func (m *model) cheapest(k int, price []float64) float64 {
	least := math.Inf(1)
	for i := k * m.r; i < (k+1)*m.r; i++ {
		least = min(least, m.reduced(i, price))
	}
	return least
}
