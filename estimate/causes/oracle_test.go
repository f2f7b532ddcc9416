package causes

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSelectionAgreesWithSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := make([]float64, 1+r.IntN(200))
		kinds := 1 + r.IntN(len(x))
		for i := range x {
			x[i] = float64(r.IntN(kinds))
		}
		if r.IntN(3) == 0 {
			slices.Sort(x)
		}
		sorted := slices.Sorted(slices.Values(x))
		k := r.IntN(len(x))
		require.Equal(t, sorted[k], selectAt(x, k))
		for i, v := range x {
			require.True(t, i < k && v <= x[k] || i == k || i > k && v >= x[k])
		}
		require.Equal(t, sorted[(len(x)-1)/2], Median(x))
	}
	assert.Zero(t, Median[float64](nil))
}

// The median of the other tasks equals the median of the list without the task.
func TestOthersAgreeWithLists(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		n := 1 + r.IntN(9)
		ids, ratios := make([]int32, n), make([]float64, n)
		lists := [3][]float64{}
		for i := range ids {
			ids[i] = int32(r.IntN(4)) - 1
			ratios[i] = float64(r.IntN(6)) - 1 // -1 is no evidence
			if ids[i] >= 0 && ratios[i] >= 0 {
				lists[ids[i]] = append(lists[ids[i]], ratios[i])
			}
		}
		groups := summarise(ids, ratios, 3, 2)
		for id, list := range lists {
			slices.Sort(list)
			g := groups[id]
			require.Equal(t, len(list), g.n)
			require.Equal(t, Median(slices.Clone(list)), g.median)
			for i, v := range list {
				rest := slices.Delete(slices.Clone(list), i, i+1)
				others, middle := g.others(v)
				require.Equal(t, len(rest), others)
				require.Equal(t, Median(rest), middle, "%v without %v", list, v)
			}
			others, middle := g.others(-1)
			require.Equal(t, len(list), others)
			require.Equal(t, g.median, middle)
		}
	}
}

func TestCompressAgreesWithAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, most := range []int{3, 50, math.MaxInt} {
		given := make([]int, 100)
		for i := range given {
			given[i] = r.IntN(most) - 1
		}
		ids, keys := compress(len(given), func(i int) int { return given[i] })
		for i, k := range given {
			if k < 0 {
				assert.Equal(t, int32(-1), ids[i])
			} else {
				assert.Equal(t, k, keys[ids[i]])
			}
		}
		assert.Len(t, slices.Compact(slices.Sorted(slices.Values(keys))), len(keys))
	}
}

// The probability of a coincidence is compared with exact rational numbers.
func TestChanceAgreesWithRationalNumbers(t *testing.T) {
	for n := range 25 {
		for slow := range n + 1 {
			for _, elsewhere := range [][2]int{{0, 0}, {0, 9}, {3, 30}, {20, 20}} {
				p := big.NewRat(int64(elsewhere[0]+1), int64(elsewhere[1]+2))
				q := new(big.Rat).Sub(big.NewRat(1, 1), p)
				sum := new(big.Rat)
				for j := slow; j <= n; j++ {
					term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(j)))
					for k := range n {
						if k < j {
							term.Mul(term, p)
						} else {
							term.Mul(term, q)
						}
					}
					sum.Add(sum, term)
				}
				want, _ := sum.Float64()
				assert.InDelta(t, want, chance(slow, n, elsewhere[0], elsewhere[1]), 1e-12)
			}
		}
	}
	assert.Greater(t, chance(100, 1000, 10, 100), .3, "a hundred tasks count as sixty")
	assert.Less(t, chance(500, 1000, 10, 100), 1e-6)
}

// The fit has no negative coefficient and cannot be improved. For a coefficient above 0, the gradient of the error
// is 0. For a coefficient that is 0, only a negative coefficient would make the error smaller.
func TestSolveMeetsTheConditionsOfOptimality(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		var e equations
		truth := coefficients{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		n := 3 + r.IntN(20)
		for range n {
			x := coefficients{1, r.ExpFloat64(), r.ExpFloat64()}
			e.add(&x, truth.at(&x)+r.NormFloat64())
		}
		c, ok := e.solve()
		if !ok { // no column helps: no column has a positive sum with the values
			for i := range columns {
				require.LessOrEqual(t, e.b[i], 0.)
			}
			continue
		}
		for i := range columns {
			gradient := -e.b[i]
			for j := range columns {
				gradient += e.a[i][j] * c[j]
			}
			scale := 1e-6 * (math.Abs(e.b[i]) + e.a[i][i])
			require.GreaterOrEqual(t, c[i], 0.)
			require.GreaterOrEqual(t, gradient, -scale, "%v", c)
			if c[i] > 1e-9 {
				require.LessOrEqual(t, gradient, scale, "%v", c)
			}
		}
	}
}

func TestSolveOfDependentColumnsUsesFewer(t *testing.T) {
	var e equations
	for i := range 10 {
		e.add(&coefficients{1, float64(i), 2 * float64(i)}, 3+float64(i))
	}
	c, ok := e.solve()
	require.True(t, ok)
	for i := range 10 {
		assert.InDelta(t, 3+float64(i), c.at(&coefficients{1, float64(i), 2 * float64(i)}), 1e-6)
	}
}
