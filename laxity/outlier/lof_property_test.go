package outlier

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exactLOF follows the definition of Breunig et al. word by word, in rational arithmetic. A nil density is infinite.
func exactLOF(values []float64, l int, floor float64) []float64 {
	n := len(values)
	distance := func(a, b int) *big.Rat {
		d := new(big.Rat).Sub(new(big.Rat).SetFloat64(values[a]), new(big.Rat).SetFloat64(values[b]))
		return d.Abs(d)
	}
	neighbours, radius, density := make([][]int, n), make([]*big.Rat, n), make([]*big.Rat, n)
	for a := range n {
		var all []*big.Rat
		for b := range n {
			if b != a {
				all = append(all, distance(a, b))
			}
		}
		slices.SortFunc(all, (*big.Rat).Cmp)
		radius[a] = all[l-1]
		for b := range n {
			if b != a && distance(a, b).Cmp(radius[a]) <= 0 {
				neighbours[a] = append(neighbours[a], b)
			}
		}
	}
	least := new(big.Rat).SetFloat64(floor)
	for a := range n {
		sum := new(big.Rat)
		for _, b := range neighbours[a] {
			reach := distance(a, b)
			for _, other := range []*big.Rat{radius[b], least} {
				if other.Cmp(reach) > 0 {
					reach = other
				}
			}
			sum.Add(sum, reach)
		}
		if sum.Sign() > 0 {
			density[a] = new(big.Rat).Quo(new(big.Rat).SetInt64(int64(len(neighbours[a]))), sum)
		}
	}
	factors := make([]float64, n)
	for a := range n {
		sum, infinite := new(big.Rat), false
		for _, b := range neighbours[a] {
			if density[b] == nil {
				infinite = true
				continue
			}
			sum.Add(sum, density[b])
		}
		switch {
		case density[a] == nil:
			factors[a] = 1
		case infinite:
			factors[a] = math.Inf(1)
		default:
			sum.Quo(sum, new(big.Rat).Mul(density[a], new(big.Rat).SetInt64(int64(len(neighbours[a])))))
			factors[a], _ = sum.Float64()
		}
	}
	return factors
}

// randomValues returns values on a coarse grid, with many ties and duplicates, and some values without.
func randomValues(r *rand.Rand, n int) []float64 {
	values := make([]float64, n)
	grid := []float64{3, 10, 1000}[r.IntN(3)]
	for i := range values {
		values[i] = math.Round(r.NormFloat64() * grid)
		if grid == 1000 && r.IntN(2) == 0 {
			values[i] = math.Ldexp(r.Float64(), r.IntN(12))
		}
	}
	return values
}

func requireClose(t *testing.T, want, got []float64, tolerance float64, about ...any) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if math.IsInf(want[i], 1) {
			require.True(t, math.IsInf(got[i], 1), about...)
			continue
		}
		require.InEpsilon(t, want[i], got[i], tolerance, about...)
	}
}

func TestLOFAgainstTheDefinitionInExactArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var s Scorer
	lists := 150 // or 400 with STRAGGLER_LIVES
	if os.Getenv("STRAGGLER_LIVES") != "" {
		lists = 400
	}
	for range lists {
		n := 2 + r.IntN(30)
		l := 1 + r.IntN(n-1)
		values := randomValues(r, n)
		floor := []float64{0, 0, 1, 2.5}[r.IntN(4)]
		got, err := s.Score(nil, values, l, floor)
		require.NoError(t, err)
		requireClose(t, exactLOF(values, l, floor), got, 1e-12, "values %v, l %d, floor %v", values, l, floor)
	}
}

func TestFactorsIgnoreUnitsAndOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		n := 2 + r.IntN(60)
		l := 1 + r.IntN(n-1)
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(r.IntN(200)) // whole numbers, so the changes below are exact and keep ties
		}
		want, err := LOF(values, l)
		require.NoError(t, err)
		mapped := func(f func(float64) float64) []float64 {
			other := make([]float64, n)
			for i, v := range values {
				other[i] = f(v)
			}
			factors, err := LOF(other, l)
			require.NoError(t, err)
			return factors
		}
		require.Equal(t, want, mapped(func(v float64) float64 { return v + 1e9 }), "a translation must not change the factors")
		require.Equal(t, want, mapped(func(v float64) float64 { return v * 1024 }), "a change of the unit must not change the factors")
		requireClose(t, want, mapped(func(v float64) float64 { return v * 3e6 }), 1e-12, "a change of the unit must not change the factors")
		requireClose(t, want, mapped(func(v float64) float64 { return -v }), 1e-12, "reflection")

		order := r.Perm(n)
		permuted := make([]float64, n)
		for i, k := range order {
			permuted[i] = values[k]
		}
		factors, err := LOF(permuted, l)
		require.NoError(t, err)
		for i, k := range order {
			require.Equal(t, want[k], factors[i], "the order of the values must not change the factors")
		}
	}
}

// The largest and the smallest allowed numbers do not lead to NaN.
func TestExtremeValuesHaveFactors(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	for _, values := range [][]float64{
		{-maxValue, maxValue, 0, 1}, {0, tiny, 2 * tiny, 1}, {0, tiny, 5 * tiny, maxValue},
		{0, math.Copysign(0, -1), 0, tiny},
	} {
		for l := 1; l < len(values); l++ {
			factors, err := LOF(values, l)
			require.NoError(t, err)
			for _, f := range factors {
				assert.True(t, f >= 0, "%v with l=%d has the factors %v", values, l, factors)
			}
		}
	}
}
