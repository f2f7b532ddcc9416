package num

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDurationSaturates(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    time.Duration
	}{
		{0, 0},
		{1.5, 1500 * time.Millisecond},
		{0.7, 700 * time.Millisecond},
		{-0.1, -100 * time.Millisecond},
		{math.Inf(1), MaxDuration},
		{math.Inf(-1), MinDuration},
		{1e300, MaxDuration},
		{-1e300, MinDuration},
		{9.3e9, MaxDuration},
	} {
		got, ok := Duration(c.seconds)
		assert.True(t, ok)
		assert.Equal(t, c.want, got, "Duration(%v)", c.seconds)
	}
	_, ok := Duration(math.NaN())
	assert.False(t, ok)
}

func FuzzDurationIsMonotone(f *testing.F) {
	f.Add(9.2e9, 9.3e9)
	f.Add(-1.0, math.Inf(1))
	f.Fuzz(func(t *testing.T, a, b float64) {
		if a > b {
			a, b = b, a
		}
		da, okA := Duration(a)
		db, okB := Duration(b)
		if okA && okB && da > db {
			t.Errorf("Duration(%v) = %v > Duration(%v) = %v", a, da, b, db)
		}
	})
}

func TestAddAndSubSaturate(t *testing.T) {
	assert.Equal(t, 5*time.Second, Add(2*time.Second, 3*time.Second))
	assert.Equal(t, MaxDuration, Add(MaxDuration, 1))
	assert.Equal(t, MinDuration, Add(MinDuration, -1))
	assert.Equal(t, -time.Second, Sub(2*time.Second, 3*time.Second))
	assert.Equal(t, MaxDuration, Sub(MaxDuration, -1))
	assert.Equal(t, MinDuration, Sub(MinDuration, 1))
	assert.Equal(t, MaxDuration, Sub(0, MinDuration))
}

func TestFiniteIsFalseForNaNAndInfinity(t *testing.T) {
	assert.True(t, Finite(-3))
	assert.False(t, Finite(math.NaN()))
	assert.False(t, Finite(math.Inf(1)))
	assert.False(t, Finite(math.Inf(-1)))
}

func TestLogOfSubnormalsIsRight(t *testing.T) {
	for _, x := range []float64{5e-324, 1e-310, 0x1p-1022, 1e-300, .5, 1, 7} {
		m, e := math.Frexp(x)
		assert.InDelta(t, math.Log(m)+float64(e)*math.Ln2, Log(x), 1e-12, x)
	}
	assert.True(t, math.IsInf(Log(0), -1))
	assert.True(t, math.IsNaN(Log(-1)))
}

func TestPowerAgreesWithPow(t *testing.T) {
	for _, x := range []float64{0, .1, .5, .999, 1, 3} {
		for _, n := range []int{-1, 0, 1, 2, 3, 7, 8, 100} {
			assert.InEpsilon(t, 1+math.Pow(x, float64(max(n, 0))), 1+Power(x, n), 1e-13, "%v^%d", x, n)
		}
	}
	assert.Equal(t, 0x1p-70, Power(.5, 70))
	assert.Zero(t, Power(.5, math.MaxInt))
}

func TestSizedNeedsAKnownWorkAboveZero(t *testing.T) {
	nan := math.NaN()
	for _, works := range [][]float64{nil, {}, {nan, nan}, {0, 0}, {-1, -1}} {
		assert.False(t, Sized(works), works)
	}
	assert.True(t, Sized([]float64{nan, 0, 1}))
}
