package placement

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// The lower bound of the relaxation is that of the linear program, as gonum's simplex method solves it, or at most 3 %
// lower. The mean of the choices is a split of each task.
func TestRelaxationNearsTheLinearProgram(t *testing.T) {
	for _, family := range families {
		for seed := range uint64(part(4, 2)) {
			p := instance(family, 20, 5, 100+seed)
			m := newModel(&p)
			s := relaxed(t, m)
			best := linearProgram(t, m)
			assert.LessOrEqual(t, s.best, best*(1+1e-9), "%s %d", family, seed)
			assert.Greater(t, s.best, .97*best, "%s %d", family, seed)
			for k := range m.n {
				assert.InDelta(t, 1, sum(s.x[k*m.r:(k+1)*m.r]), 1e-9)
			}
		}
	}
}

// relaxed solves the relaxation from a first placement, without a limit of work.
func relaxed(t *testing.T, m *model) *relaxation {
	l := newLayout(m)
	require.True(t, l.greedy(largestFirst(m, sequence(m.n))))
	_, longest := l.worst()
	return relax(m, longest, &work{math.MaxInt64})
}

// linearProgram returns the smallest T of the linear program: a row for each uplink, downlink, rack and task; a column for
// each x, a slack for each row of a rack, and T.
func linearProgram(t *testing.T, m *model) float64 {
	pairs, rows := m.n*m.r, width*m.r
	c, a, b := make([]float64, pairs+rows+1), mat.NewDense(rows+m.n, pairs+rows+1, nil), make([]float64, rows+m.n)
	c[pairs+rows] = 1
	for row := range rows {
		b[row] = m.rightSide(row/width, row%width)
		a.Set(row, pairs+row, []float64{-1, -1, 1}[row%width])
		a.Set(row, pairs+rows, []float64{1, 1, 0}[row%width])
	}
	for i := range pairs {
		require.False(t, math.IsInf(m.add[i], 1))
		for q, v := range []float64{m.save[i], -m.add[i], 1} {
			a.Set(i%m.r*width+q, i, v)
		}
		a.Set(rows+i/m.r, i, 1)
	}
	for k := range m.n {
		b[rows+k] = 1
	}
	best, _, err := lp.Simplex(c, a, b, 1e-9, nil)
	require.NoError(t, err)
	return best
}

// With little work there is no round, and the lower bound comes from the number of bytes: all bytes except the largest
// input of each task in a rack, divided by the sum of the bandwidths of all downlinks, or of all uplinks.
func TestVolumeBoundsWithoutARound(t *testing.T) {
	p := instance("shuffle", 50, 20, 1)
	m := newModel(&p)
	s := relax(m, 1, &work{1})
	assert.Nil(t, s.x)
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

// A bound is proven only if rounding errors have not raised it. If all slots are needed, the prices of slots may
// grow without limit, and the bound is then a small difference of large numbers. The exact bound is computed with
// 400 bits.
func TestBoundIsBelowItsExactValue(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(13, 13))
	large := 0
	for i := range part(1500, 3) {
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
		s := relaxed(t, m)
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
			i := k*m.r + j
			if math.IsInf(m.add[i], 1) {
				continue
			}
			cost := number(0)
			for q, factor := range []float64{-m.save[i], m.add[i], -1} {
				add(cost, factor, price[j*width+q])
			}
			if cost.Cmp(least) < 0 {
				least = cost
			}
		}
		bound.Add(bound, least)
	}
	v, _ := bound.Quo(bound, links).Float64()
	return v
}
