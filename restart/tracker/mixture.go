package tracker

import "github.com/straggler-go/straggler/estimate"

// mixture is the time of a unit of work that is x with the probability q, and otherwise as another distribution has it.
type mixture struct {
	of        estimate.Distribution
	q, x      float64
	below, at float64 // P(X < x) and P(X <= x), once a quantile was asked for; q is above 0
}

// Mean returns the expected time.
func (m *mixture) Mean() float64 { return float64((1-m.q)*m.of.Mean()) + float64(m.q*m.x) }

// CDF returns P(X <= t).
func (m *mixture) CDF(t float64) float64 { return m.with(m.of.CDF(t), t >= m.x) }

// Below returns P(X < t).
func (m *mixture) Below(t float64) float64 { return m.with(estimate.Below(m.of, t), t > m.x) }

func (m *mixture) with(p float64, x bool) float64 {
	if p = float64((1 - m.q) * p); x {
		p += m.q
	}
	return min(p, 1)
}

// Quantile returns the smallest t with CDF(t) >= p.
func (m *mixture) Quantile(p float64) float64 {
	if m.at == 0 {
		m.below, m.at = m.Below(m.x), m.CDF(m.x)
	}
	switch {
	case p <= m.below:
		return min(m.of.Quantile(p/(1-m.q)), m.x)
	case p <= m.at:
		return m.x
	}
	return max(m.of.Quantile(min(1, (p-m.q)/(1-m.q))), m.x)
}
