package placement

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The search starts from the fractions, so the relaxation must be solved and not only bounded.
func TestRelaxationClosesItsGap(t *testing.T) {
	for _, family := range families {
		for _, size := range [][2]int{{20, 5}, {60, 10}, {100, 20}} {
			p := instance(family, size[0], size[1], 1)
			m := newModel(&p)
			s := relax(m, &work{math.MaxInt64})
			assert.InEpsilon(t, s.best, s.t.x, 1e-6, "%s %v", family, size)
			assert.Less(t, s.residuals(), 1e-6, "%s %v", family, size)
		}
	}
}

// With more racks than mostRacks no linear program is solved, because its system of equations would be too large.
// Then the lower bound comes from the number of bytes: all bytes except the largest input of each task in a rack,
// divided by the sum of the bandwidths of all downlinks, or of all uplinks.
func TestVolumeBoundsBeyondMostRacks(t *testing.T) {
	for racks, want := range map[int]bool{20: true, mostRacks + 1: false} {
		p := instance("shuffle", 50, racks, 1)
		m := newModel(&p)
		s := relax(m, &work{math.MaxInt64})
		assert.Equal(t, want, s.x != nil)
		bytes := 0.0
		for _, row := range p.Input {
			bytes += sum(row) - slices.Max(row)
		}
		volume := max(bytes/sum(p.Up), bytes/sum(p.Down))
		assert.Greater(t, math.Ldexp(s.best, m.exponent), volume*(1-precise))
		hasty, err := Assign(p, 1)
		require.NoError(t, err)
		assert.Greater(t, hasty.Bound, volume*(1-3*precise))
	}
}

// A bound is proven only if rounding errors have not raised it. If all slots are needed, the prices of slots may
// grow without limit, and the bound is then a small difference of large numbers. The exact bound is computed with
// 400 bits.
func TestBoundIsBelowItsExactValue(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(13, 13))
	large := 0
	for i := range 1500 {
		n, r := 1+rng.IntN(12), 2+rng.IntN(6)
		p := Problem{Slots: make([]int, r)}
		for range r {
			p.Up = append(p.Up, math.Pow(10, float64(rng.IntN(7)))*(1+rng.Float64()))
			p.Down = append(p.Down, math.Pow(10, float64(rng.IntN(7)))*(1+rng.Float64()))
		}
		for k := range n {
			row := make([]float64, r)
			for j := range row {
				switch {
				case i%2 == 0:
					row[j] = math.Pow(10, float64(rng.IntN(15)))
				case rng.IntN(2) == 0:
					row[j] = math.Round(100 * rng.Float64())
				}
			}
			p.Input = append(p.Input, row)
			p.Slots[k%r]++
		}
		m := newModel(&p)
		s := relax(m, &work{math.MaxInt64})
		if s.best == 0 {
			continue
		}
		require.LessOrEqual(t, s.best, exactBound(m, s.bestPrice), "%+v", p)
		if slices.Min(s.bestPrice) < -1e6*s.best {
			large++
		}
	}
	assert.Positive(t, large, "no problem had prices of slots large enough to test the rounding")
}

// exactBound returns the bound that the prices prove, with all terms in 400 bits instead of rounded.
func exactBound(m *model, price []float64) float64 {
	number := func(v float64) *big.Float { return big.NewFloat(v).SetPrec(400) }
	add := func(sum *big.Float, a, b float64) { sum.Add(sum, number(0).Mul(number(a), number(b))) }
	bound, links := number(0), number(0)
	for j := range m.r {
		links.Add(links, number(price[j*width]))
		links.Add(links, number(price[j*width+1]))
		add(bound, price[j*width+2], float64(m.slots[j]))
		for k := range m.n {
			add(bound, price[j*width], m.save[k*m.r+j])
		}
	}
	for k := range m.n {
		least := new(big.Float).SetInf(false)
		for j := range m.r {
			g, ok := m.column(k*m.r + j)
			cost := number(0)
			for q := range width {
				if ok {
					add(cost, -g[q], price[j*width+q])
				}
			}
			if ok && cost.Cmp(least) < 0 {
				least = cost
			}
		}
		bound.Add(bound, least)
	}
	v, _ := bound.Quo(bound, links).Float64()
	return v
}
