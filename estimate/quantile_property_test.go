package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/stat"
)

// Quantile follows its definition at all exact boundaries p = k/n, near them and between them. p is a decimal or a
// quotient.
func TestQuantileOnExactBoundaries(t *testing.T) {
	e, o := new(Empirical), new(oracle)
	for n := 1; n <= 400; n++ {
		e.Insert(float64(n))
		o.insert(float64(n))
		for k := 1; k <= n; k++ {
			if got := e.Quantile(float64(k) / float64(n)); got != float64(k) {
				t.Fatalf("Quantile(%d/%d) = %v, want %d", k, n, got, k)
			}
			if got := e.Quantile((float64(k) + 1e-6) / float64(n)); k < n && got != float64(k+1) {
				t.Fatalf("just beyond %d/%d: %v, want %d", k, n, got, k+1)
			}
			if got := e.Quantile((float64(k) - 1e-6) / float64(n)); got != float64(k) {
				t.Fatalf("just before %d/%d: %v, want %d", k, n, got, k)
			}
		}
		for percent := range 1000 {
			if got, want := e.Quantile(float64(percent)/1000), o.quantile(percent, 1000); got != want {
				t.Fatalf("Quantile(%v) of %d = %v, want %v", float64(percent)/1000, n, got, want)
			}
		}
	}
}

func TestQuantileBoundariesOfLargeSets(t *testing.T) {
	e, _ := filled(0)
	for n := 1; n <= 200_000; n++ {
		e.Insert(float64(n))
	}
	for k := 1; k <= 200_000; k++ {
		if got := e.Quantile(float64(k) / 200_000); got != float64(k) {
			t.Fatalf("Quantile(%d/200000) = %v", k, got)
		}
	}
	assert.Equal(t, 1.0, e.Quantile(math.NaN()))
	assert.Equal(t, 1.0, e.Quantile(-3))
	assert.Equal(t, 1.0, e.Quantile(5e-324))
	assert.Equal(t, 200_000.0, e.Quantile(1-0x1p-53))
	assert.Equal(t, 200_000.0, e.Quantile(math.Inf(1)))
}

// Quantile has the same definition as gonum's stat.Empirical. The results differ only at the boundaries, where
// gonum compares sums of floats.
func TestQuantileIsGonumsEmpirical(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for n := 1; n < 300; n += 7 {
		e, values := filled(n)
		slices.Sort(values)
		for range 100 {
			p := r.Float64()
			assert.Equal(t, stat.Quantile(p, stat.Empirical, values, nil), e.Quantile(p), "n %d p %v", n, p)
			x := r.Float64()
			assert.Equal(t, stat.CDF(x, stat.Empirical, values, nil), e.CDF(x), "n %d x %v", n, x)
		}
	}
}
