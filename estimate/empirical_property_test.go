package estimate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oracle computes the answers of Empirical by their definition, from a sorted slice.
type oracle struct{ values []float64 }

func (o *oracle) insert(x float64) {
	i, _ := slices.BinarySearch(o.values, x)
	o.values = slices.Insert(o.values, i, x)
}

func (o *oracle) remove(x float64) bool {
	i, found := slices.BinarySearch(o.values, x)
	if found {
		o.values = slices.Delete(o.values, i, i+1)
	}
	return found
}

func (o *oracle) count(keep func(v float64) bool) (n int) {
	for _, v := range o.values {
		if keep(v) {
			n++
		}
	}
	return n
}

// quantile returns the smallest value with CDF(value) >= p, for the fraction p = k/m.
func (o *oracle) quantile(k, m int) float64 {
	for i, v := range o.values {
		if (i+1)*m >= k*len(o.values) {
			return v
		}
	}
	return math.Inf(1)
}

func (o *oracle) mean() float64 {
	sum := new(big.Float).SetPrec(2200) // enough for the exact sum of any floats
	for _, v := range o.values {
		sum.Add(sum, big.NewFloat(v))
	}
	mean, _ := sum.Quo(sum, big.NewFloat(float64(len(o.values)))).Float64()
	return mean
}

// agree compares all answers of e near x with the oracle. If whole is true, it also compares all values in order.
func agree(t testing.TB, e *Empirical, o *oracle, x float64, whole bool) {
	t.Helper()
	n := len(o.values)
	if e.Len() != n {
		t.Fatalf("Len() = %d, want %d", e.Len(), n)
	}
	if n == 0 {
		return
	}
	below := o.count(func(v float64) bool { return v < x })
	upTo := o.count(func(v float64) bool { return v <= x })
	if e.Rank(x) != below || e.Below(x) != float64(below)/float64(n) || e.CDF(x) != float64(upTo)/float64(n) {
		t.Fatalf("at %v of %d values: Rank %d, Below %v, CDF %v; want %d below and %d up to it",
			x, n, e.Rank(x), e.Below(x), e.CDF(x), below, upTo)
	}
	for i := range n {
		if (whole || i == below || i == n/2) && e.At(i) != o.values[i] {
			t.Fatalf("At(%d) = %v, want %v", i, e.At(i), o.values[i])
		}
	}
}

// The workloads cause different splits and merges of nodes. The function next returns the next value to insert. The
// function doomed returns the index of the next value to delete among the n present values.
var workloads = []struct {
	name   string
	next   func(i int, r *rand.Rand) float64
	doomed func(n int, r *rand.Rand) int
}{
	{"random", func(_ int, r *rand.Rand) float64 { return r.Float64() }, anyOf},
	{"five values", func(_ int, r *rand.Rand) float64 { return float64(r.IntN(5)) }, anyOf},
	{"one value", func(int, *rand.Rand) float64 { return 7 }, anyOf},
	{"ascending, first out", func(i int, _ *rand.Rand) float64 { return float64(i) }, firstOf},
	{"ascending, last out", func(i int, _ *rand.Rand) float64 { return float64(i) }, lastOf},
	{"descending, first out", func(i int, _ *rand.Rand) float64 { return float64(math.MaxInt32 - i) }, firstOf},
	{"descending, last out", func(i int, _ *rand.Rand) float64 { return float64(math.MaxInt32 - i) }, lastOf},
	{"zigzag", zigzag, anyOf},
	{"zigzag, middle out", zigzag, func(n int, _ *rand.Rand) int { return n / 2 }},
	{"all magnitudes", func(_ int, r *rand.Rand) float64 { return math.Pow(10, r.Float64()*36-18) }, anyOf},
}

func anyOf(n int, r *rand.Rand) int  { return r.IntN(n) }
func firstOf(int, *rand.Rand) int    { return 0 }
func lastOf(n int, _ *rand.Rand) int { return n - 1 }
func zigzag(i int, _ *rand.Rand) float64 {
	if i%2 == 0 {
		return math.MaxInt32 + float64(i)
	}
	return math.MaxInt32 - float64(i)
}

// Each workload grows, changes, shrinks to nothing and grows again in the same memory. At each step the test
// validates the blocks and compares them with a sorted slice.
func TestEmpiricalAgreesWithASortedSlice(t *testing.T) {
	const size, churn = 4000, 2000
	for _, w := range workloads {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(11, 7))
			e, o := new(Empirical), new(oracle)
			step := 0
			insert := func() {
				x := w.next(step, r)
				if !e.Insert(x) {
					t.Fatalf("step %d: the value %v is refused", step, x)
				}
				o.insert(x)
			}
			remove := func() {
				x := o.values[w.doomed(len(o.values), r)]
				if !e.Delete(x) {
					t.Fatalf("step %d: the value %v is not found", step, x)
				}
				o.remove(x)
			}
			verify := func(every int) {
				if step++; step%every == 0 || len(o.values) < 200 && step%7 == 0 {
					require.NoError(t, e.values.check(), "step %d", step)
					agree(t, e, o, w.next(step, r), step%(8*every) == 0)
				}
			}
			for range 2 {
				for range size {
					insert()
					verify(61)
				}
				for range churn {
					remove()
					insert()
					verify(61)
				}
				assertMean(t, e, o)
				for len(o.values) > 0 {
					if e.Delete(o.values[0]/2 - 1) {
						t.Fatalf("step %d: a value below the smallest is found", step)
					}
					remove()
					verify(61)
				}
				require.NoError(t, e.values.check())
				assert.Zero(t, e.Len())
				assert.True(t, math.IsInf(e.Mean(), 1))
			}
		})
	}
}

func assertMean(t *testing.T, e *Empirical, o *oracle) {
	t.Helper()
	want := o.mean()
	assert.InDelta(t, want, e.Mean(), want*0x1p-50) // only the last bits of the sum and of the quotient may differ
}

// If a value to delete does not exist, the deletion still adds entries to nearly empty nodes on its way. This must
// not damage the tree, and the deletion must report false.
func TestDeleteOfAnAbsentValueChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	e, o := new(Empirical), new(oracle)
	for range 3000 {
		x := 2 * float64(r.IntN(2000))
		e.Insert(x)
		o.insert(x)
	}
	for step := range 6000 {
		assert.False(t, e.Delete(2*float64(r.IntN(2100))-1))
		if len(o.values) > 0 && step%2 == 0 {
			x := o.values[r.IntN(len(o.values))]
			require.True(t, e.Delete(x))
			o.remove(x)
		}
		if step%50 == 0 {
			require.NoError(t, e.values.check())
			agree(t, e, o, 2*float64(r.IntN(2100)), true)
		}
	}
	assert.Zero(t, e.Len())
}

// A huge value is inserted, then a million tiny values, and then the huge value is deleted. A plain sum would have
// lost the tiny values.
func TestEmpiricalMeanDoesNotDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	e, o := new(Empirical), new(oracle)
	for range 2000 {
		x := 1e-6 * r.Float64()
		e.Insert(x)
		o.insert(x)
	}
	for range 10000 {
		huge := 1e9 * r.ExpFloat64()
		e.Insert(huge)
		e.Delete(huge)
	}
	assert.InEpsilon(t, o.mean(), e.Mean(), 1e-12)
	for range 1000 {
		e.Insert(MaxSample)
	}
	for range 1000 {
		e.Delete(MaxSample)
	}
	assert.InDelta(t, o.mean(), e.Mean(), 2000*MaxSample*1000*0x1p-104/2000, "the mean is within the promised precision of the largest sum")
}

func TestEmpiricalRefusesValuesOutOfRange(t *testing.T) {
	e := new(Empirical)
	for _, x := range []float64{math.NaN(), -1, math.Inf(1), math.Inf(-1), math.Nextafter(MaxSample, math.Inf(1))} {
		assert.False(t, e.Insert(x), "%v", x)
		assert.False(t, e.Delete(x), "%v", x)
	}
	assert.Zero(t, e.Len())
	assert.Zero(t, e.CDF(5))
	assert.True(t, math.IsInf(e.Quantile(.5), 1))
	for _, x := range []float64{0, math.Copysign(0, -1), MaxSample} {
		assert.True(t, e.Insert(x), "%v", x)
	}
	assert.False(t, math.Signbit(e.At(0)) || math.Signbit(e.At(1)), "negative zero becomes zero")
	assert.Zero(t, e.Below(math.NaN()))
	assert.Zero(t, e.CDF(math.NaN()))
	assert.Zero(t, e.Below(0))
	assert.Equal(t, 2./3, e.CDF(0))
	assert.Equal(t, 1.0, e.Below(math.Inf(1)))
	assert.Equal(t, 0.0, e.At(-1))
	assert.Equal(t, MaxSample, e.At(9))
	e.values.size = maxSize
	assert.False(t, e.Insert(1), "the sums are full")
}

func TestResetRemovesAllValues(t *testing.T) {
	e, values := filled(5000)
	e.Reset()
	assert.Zero(t, e.Len())
	assert.False(t, e.Delete(values[0]))
	allocs := testing.AllocsPerRun(10, func() {
		e.Reset()
		for _, x := range values {
			e.Insert(x)
		}
	})
	assert.Zero(t, allocs, "Reset keeps the memory")
	require.NoError(t, e.values.check())
}

// If replace exchanges a value for a nearby value, the result is equal to the result of a deletion and an
// insertion, to the last bit of the sum.
func TestReplaceAgreesWithDeleteAndInsert(t *testing.T) {
	for _, n := range []int{1, 2, 40, 64, 65, 300, 5000} {
		r := rand.New(rand.NewPCG(uint64(n), 9))
		a, values := filled(n)
		b, _ := filled(n)
		for range 3000 {
			i := r.IntN(n)
			x := values[i] + .02*(r.Float64()-.5)
			if r.IntN(4) == 0 {
				x = values[r.IntN(n)]
			}
			if !(x >= 0) {
				require.False(t, a.replace(values[i], x))
				continue
			}
			require.True(t, a.replace(values[i], x))
			require.True(t, b.Delete(values[i]))
			require.True(t, b.Insert(x))
			values[i] = x
			require.Equal(t, b.sum, a.sum)
			require.Equal(t, b.Rank(x), a.Rank(x))
			require.False(t, a.replace(-1, .5) || a.replace(7, .5) || a.replace(values[i], -1))
			require.False(t, a.replace(values[i], math.NaN()) || a.replace(math.NaN(), 1))
		}
		require.NoError(t, a.values.check())
		for i := range n {
			require.Equal(t, b.At(i), a.At(i))
		}
	}
}
