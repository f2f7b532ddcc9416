package placement

import "math"

// improveBound keeps the present prices if they prove a better lower bound than those before. At prices u, v >= 0 of
// up- and downlinks that sum to 1 and p >= 0 of slots, every placement has
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
	if b := s.m.bound(s.trial); b > s.best {
		s.best = b
		copy(s.bestPrice, s.trial)
	}
}

// byVolume prices links by their bandwidth, the uplinks, the downlinks, or both, whichever proves most: what must be
// moved takes at least its bytes over the sum of the bandwidths. O(n r).
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

// bound is the lower bound that prices prove; NaN if they are no prices. It is less by what rounding may have added to
// its terms, here and where the choices of single tasks are compared and their differences added up (see prune and
// branch).
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

// rounding is the relative error of a sum for each of its terms: a few times 2^-53, for each term has a few errors.
const rounding = 0x1p-49

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
