package outlier

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// §3.3, §5 and Figure 6: most of 84 workers have laxities near 1650 ms, and five laxities are much lower. The
// detector reports exactly the five workers with low laxities. The paper does not say how far the laxities in the
// figure are scattered. Here the standard deviation is 10 to 40 ms for five neighbours, which is the number of low
// values, and 10 to 80 ms for more neighbours. The low laxities are between 600 and 1000 ms.
func TestFiveLowLaxitiesOf84AreNamed_Figure6(t *testing.T) {
	for l, scatters := range map[int][]float64{5: {10, 20, 40}, 10: {10, 40, 80}, 20: {10, 40, 80}} {
		for _, scatter := range scatters {
			for seed := range uint64(200) {
				laxities, want := figure6(seed, scatter)
				d, err := NewDetector(Config{Neighbours: l})
				require.NoError(t, err)
				var got []int
				for w, v := range d.Detect(nil, laxities) {
					if v.Overloaded {
						got = append(got, w)
					}
				}
				require.Equal(t, want, got, "wrong workers for l=%d, a scatter of %v ms and seed %d", l, scatter, seed)
			}
		}
	}
}

// figure6 returns 84 laxities in whole milliseconds, and the five workers with a low laxity, in order.
func figure6(seed uint64, scatter float64) (laxities []time.Duration, low []int) {
	r := rand.New(rand.NewPCG(seed, 84))
	isLow := map[int]bool{}
	for _, w := range r.Perm(84)[:5] {
		isLow[w] = true
	}
	for w := range 84 {
		v := 1650 + scatter*r.NormFloat64()
		if isLow[w] {
			v = 600 + 400*r.Float64()
			low = append(low, w)
		}
		laxities = append(laxities, time.Duration(v)*time.Millisecond)
	}
	return laxities, low
}

// §3.3: "a value greater than 1", taken literally. This rule reports the five workers and also most healthy
// workers. For this reason the default threshold is higher.
func TestPaperThresholdNamesHealthyWorkers_3_3(t *testing.T) {
	d, err := NewDetector(Config{Neighbours: 10, Threshold: PaperThreshold, Spread: Off, Resolution: Off})
	require.NoError(t, err)
	laxities, low := figure6(1, 20)
	isLow := map[int]bool{}
	for _, w := range low {
		isLow[w] = true
	}
	healthy := 0
	for w, v := range d.Detect(nil, laxities) {
		switch {
		case isLow[w]:
			assert.True(t, v.Overloaded)
		case v.Overloaded:
			healthy++
		}
	}
	assert.Greater(t, healthy, 10)

	values := make([]float64, len(laxities))
	for i, v := range laxities {
		values[i] = float64(v)
	}
	factors, err := LOF(values, 10)
	require.NoError(t, err)
	above := 0
	for _, f := range factors {
		if f > 1 {
			above++
		}
	}
	assert.Greater(t, above, 84/2)
}

// The comment of Config says in how many jobs a healthy worker is reported. Each rate is measured over 1000 jobs
// without an overloaded worker.
func TestFalseAlarms(t *testing.T) {
	normal := func(r *rand.Rand) float64 { return r.NormFloat64() }
	exponential := func(r *rand.Rand) float64 { return -r.ExpFloat64() }
	paper := Config{Neighbours: 10, Threshold: PaperThreshold, Spread: Off, Resolution: Off}
	for _, c := range []struct {
		about       string
		config      Config
		workers     int
		scatter     func(*rand.Rand) float64
		least, most float64
	}{
		{"default", Config{}, 84, normal, 0, .005},
		{"default, few workers", Config{}, 12, normal, .015, .045},
		{"paper", paper, 84, normal, 1, 1},
		{"threshold alone", Config{Threshold: 3, Spread: Off}, 84, normal, .24, .36},
		{"default, long tail", Config{}, 84, exponential, .55, .68},
		{"wide spread, long tail", Config{Spread: 20}, 84, exponential, 0, .02},
	} {
		d, err := NewDetector(c.config)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(9, uint64(c.workers)))
		laxities, named := make([]time.Duration, c.workers), 0
		var verdicts []Verdict
		for range 1000 {
			for i := range laxities {
				laxities[i] = time.Duration(1650e6 + 40e6*c.scatter(r))
			}
			verdicts = d.Detect(verdicts[:0], laxities)
			if slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Overloaded }) {
				named++
			}
		}
		rate := float64(named) / 1000
		assert.True(t, c.least <= rate && rate <= c.most, "the rate of %q is %v, want %v to %v", c.about, rate, c.least, c.most)
	}
}

// §3.3, equations 4 and 5, computed by hand for 10, 11, 12, 13, 30 and l = 2. The lrd of each of the first four
// values is 2/3. The lrd of 30 is 2/(17+18). So the factor of 30 is (2/3)/(2/35) = 35/3.
func TestFactorByHand_3_3(t *testing.T) {
	factors, err := LOF([]float64{10, 11, 12, 13, 30}, 2)
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{1, 1, 1, 1, 35. / 3}, factors, 1e-14)
}

// The bar by hand, in milliseconds. The median of 10, 11, 12, 14 and 30 is 12. The distances from it are 0, 1, 2, 2 and
// 18, with the median 2. So the bar is 12 - 7.5*2 = -3. With 9 before them, the smaller middle value is 11, its distances
// are 0, 1, 1, 2, 3 and 19, and the smaller middle distance is 1: the bar is 11 - 7.5 = 3.5. Equal laxities have the
// distance 0, so the bar is 7.5 resolutions below them.
func TestBarByHand_3_3(t *testing.T) {
	d, err := NewDetector(Config{Neighbours: 2})
	require.NoError(t, err)
	for _, c := range []struct {
		laxities []int
		bar      float64
	}{
		{[]int{30, 12, 10, 14, 11}, -3},
		{[]int{30, 12, 10, 9, 14, 11}, 3.5},
		{[]int{-6, 12, 10, 13, 14}, 12 - 7.5*2},
		{[]int{1, 2, 3, 40, 50, 60, 70}, 40 - 7.5*30},
		{[]int{1, 10, 20, 40, 41, 42, 43}, 40 - 7.5*3},
		{[]int{40, 40, 40}, 40 - 7.5},
		{[]int{40, 40, 40, 40}, 40 - 7.5},
	} {
		var laxities []time.Duration
		for _, ms := range c.laxities {
			laxities = append(laxities, time.Duration(ms)*time.Millisecond)
		}
		for _, v := range d.Detect(nil, laxities) {
			assert.Equal(t, time.Duration(c.bar*1e6), v.Bar, "%v", c.laxities)
		}
	}
}

// All values that are as far away as the l-th nearest value are neighbours [Breunig et al. 2000, definition 4].
// With l = 1, the value 5 has the neighbours 0 and 10. For the values 0, 5 and 10 alone all factors would be 1,
// even with only one of the two neighbours. With the value 12 the results differ: the distance of 10 to its
// neighbour becomes 2, and lrd(10) becomes 1/2.
func TestAllTiedNeighboursCount(t *testing.T) {
	factors, err := LOF([]float64{0, 5, 10, 12}, 1)
	require.NoError(t, err)
	// reach(5,0) = 5, reach(5,10) = 5: lrd(5) = 1/5. lrd(0) = 1/5, lrd(10) = lrd(12) = 1/2.
	assert.InDeltaSlice(t, []float64{1, (1 + 2.5) / 2, 1, 1}, factors, 1e-14)
}

// Distances are compared as computed. In float64, 1e17 has the same distance to 0, 1 and 3, so all three are its
// neighbours for l = 1. Their densities are 1, 1 and 1/2, and the density of 1e17 is 1e-17.
func TestTiesByRoundingCount(t *testing.T) {
	factors, err := LOF([]float64{0, 1, 3, 1e17}, 1)
	require.NoError(t, err)
	assert.InEpsilon(t, 2.5/3*1e17, factors[3], 1e-12)
}

// The density of more than l equal values is infinite.
func TestEqualValuesHaveInfiniteDensity(t *testing.T) {
	factors, err := LOF([]float64{7, 7, 7, 7, 8, 20}, 3)
	require.NoError(t, err)
	assert.Equal(t, "[1 1 1 1 +Inf +Inf]", fmt.Sprint(factors))
	factors, err = new(Scorer).Score(nil, []float64{7, 7, 7, 7, 8, 20}, 3, 1)
	require.NoError(t, err)
	// With a floor of 1, the equal values and 8 have the density 1. The neighbours of 20 are 8 and, as ties, all four
	// values 7. So the factor of 20 is 64/5.
	assert.Equal(t, "[1 1 1 1 1 12.8]", fmt.Sprint(factors))
}
