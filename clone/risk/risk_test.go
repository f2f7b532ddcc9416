package risk

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The stable formulas equal the plain formulas in 200-bit arithmetic, also if the risk is far below the precision of 1.
func TestRiskKeepsItsDigits(t *testing.T) {
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	mul := func(x, y *big.Float) *big.Float { return num(0).Mul(x, y) }
	sub := func(x, y *big.Float) *big.Float { return num(0).Sub(x, y) }
	pow := func(x *big.Float, n int) *big.Float {
		r := num(1)
		for range n {
			r.Mul(r, x)
		}
		return r
	}
	psi := func(n, c, d int, p *big.Float) *big.Float {
		if d > c {
			return num(0)
		}
		sum := num(0)
		for i := 0; i <= c-d; i++ {
			ways := num(0).SetInt(new(big.Int).Binomial(int64(c), int64(i)))
			sum.Add(sum, mul(ways, mul(pow(p, i), pow(sub(num(1), p), c-i))))
		}
		return pow(sum, n)
	}
	for _, n := range []int{1, 2, 10, 60} {
		for _, c := range []int{1, 2, 3, 6, 12} {
			for _, p := range []float64{1e-9, .001, .08, .5, .9, 1 - 1e-9} {
				bp := num(p)
				bar := func(k int) *big.Float { return pow(sub(num(1), pow(bp, k)), n) }
				cac := num(1)
				for d := 1; d <= c; d++ {
					cac.Sub(cac, mul(sub(psi(n, c, d, bp), psi(n, c, d+1, bp)), bar(d)))
				}
				for s, want := range map[Scheme]*big.Float{
					TaskLevel:  sub(num(1), bar(c)),
					JobLevel:   pow(sub(num(1), bar(1)), c),
					Contention: sub(num(1), mul(bar(c), bar(c))),
					Avoidance:  cac,
				} {
					exact, _ := want.Float64()
					assert.InEpsilon(t, exact, of(t, s, n, c, p), 1e-12, "%v n=%d c=%d p=%v", s, n, c, p)
				}
			}
		}
	}
}

// A tail computed as 1 minus the rest loses its digits: P(Bin(12, 0.001) > 5) is then 3 % too small.
func TestTailKeepsItsDigits(t *testing.T) {
	tail, rest := 0.0, 0.0
	for i := 0; i <= 12; i++ {
		if i > 5 {
			tail += binomial(12, i, .001)
		} else {
			rest += binomial(12, i, .001)
		}
	}
	assert.InEpsilon(t, 9.193e-16, tail, 1e-3) // 924 p^6 q^6 + 792 p^7 q^5 + ...
	assert.Greater(t, math.Abs((1-rest)/tail-1), .01)
}

// The schemes are ordered by their risk. More clones never raise the risk, and more tasks or a larger p never lower it.
func TestRiskIsOrdered(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 3))
	const slack = 1 + 1e-12
	for range 3000 {
		n, c, p := 1+source.IntN(200), 1+source.IntN(12), source.Float64()
		r := func(s Scheme) float64 { return of(t, s, n, c, p) }
		require.LessOrEqual(t, r(TaskLevel), r(JobLevel)*slack)
		require.LessOrEqual(t, r(TaskLevel), r(Contention)*slack)
		require.LessOrEqual(t, r(Contention), r(Avoidance)*slack)
		require.LessOrEqual(t, r(Avoidance), r(RandomAvoidance)*slack)
		for s := TaskLevel; s <= RandomAvoidance; s++ {
			require.LessOrEqual(t, of(t, s, n, c+1, p), r(s)*slack, "%v n=%d c=%d p=%v", s, n, c, p)
			require.GreaterOrEqual(t, of(t, s, n+1, c, p)*slack, r(s), "%v n=%d c=%d p=%v", s, n, c, p)
			require.GreaterOrEqual(t, of(t, s, n, c, p+(1-p)/2)*slack, r(s), "%v n=%d c=%d p=%v", s, n, c, p)
			require.True(t, r(s) >= 0 && r(s) <= 1)
		}
	}
	for s := TaskLevel; s <= RandomAvoidance; s++ {
		assert.Zero(t, of(t, s, 10, 3, 0), s)
		for _, p := range []float64{math.Nextafter(1, 0), 1 - 1e-12} {
			for _, c := range []int{1, 2, 5, 1000} {
				assert.InDelta(t, 1, of(t, s, 10, c, p), 1e-6, "%v c=%d", s, c)
			}
		}
	}
	assert.False(t, math.IsNaN(of(t, Avoidance, 1e9, maxClones, .5)))
}
