package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// All results are the same as with the unlimited integers of math/big.
func TestResultsAgreeWithBigIntegers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 128))
	amount := func() int64 { return rng.Int64() >> rng.IntN(63) }
	clamp := func(x *big.Int) int64 {
		switch {
		case x.IsInt64():
			return x.Int64()
		case x.Sign() < 0:
			return math.MinInt64
		}
		return math.MaxInt64
	}
	for range 20_000 {
		a, b, c, d := amount(), amount(), amount(), amount()
		x, y := new(big.Int).Mul(big.NewInt(a), big.NewInt(b)), new(big.Int).Mul(big.NewInt(c), big.NewInt(d))
		require.Equal(t, x.Cmp(y), CompareProducts(a, b, c, d))
		require.Equal(t, clamp(x), Mul(a, b))
		require.Equal(t, clamp(new(big.Int).Add(big.NewInt(a), big.NewInt(b))), Add(a, b))
		require.Equal(t, clamp(new(big.Int).Sub(big.NewInt(-a), big.NewInt(b))), Sub(-a, b))
		if b, c := min(b, c), max(b, c); c > 0 {
			q, r := new(big.Int).QuoRem(x.Mul(big.NewInt(a), big.NewInt(b)), big.NewInt(c), new(big.Int))
			quotient, rest := MulDiv(a, b, c)
			require.Equal(t, []int64{q.Int64(), r.Int64()}, []int64{quotient, rest})
		}
	}
}

func TestSumsAndProductsSaturate(t *testing.T) {
	assert.Equal(t, int64(math.MaxInt64), Add[int64](math.MaxInt64, 1))
	assert.Equal(t, int64(math.MinInt64), Sub(math.MinInt64, 1))
	assert.Equal(t, int64(math.MaxInt64), Mul[int64](math.MaxInt64, 2))
	assert.Equal(t, int64(math.MaxInt64), Mul[int64](1<<62, 2))
	assert.Zero(t, Mul[int64](math.MaxInt64, 0))
	assert.Equal(t, math.MaxInt, Add(math.MaxInt, 1))
	assert.Equal(t, math.MaxInt, Mul(math.MaxInt, math.MaxInt))
}
