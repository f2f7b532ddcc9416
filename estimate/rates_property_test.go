package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// slowRates is Rates by its description: lists of samples, and every answer computed afresh. The overhead is taken from
// the fast one and checked on its own below.
type slowRates struct {
	config                RatesConfig
	first, other, running [][2]float64 // seconds, work
}

func (s *slowRates) finish(seconds, work float64, firstWave bool) {
	switch {
	case firstWave && !s.config.KeepFirstWave:
		s.first = append(s.first, [2]float64{seconds, work})
		return
	case len(s.first) > 0:
		s.first = s.first[:len(s.first)-1]
	}
	s.other = append(s.other, [2]float64{seconds, work})
}

func (s *slowRates) all(overhead float64) []float64 {
	var all []float64
	for _, sample := range slices.Concat(s.first, s.other, s.running) {
		all = append(all, sample[0]/(max(sample[1], s.config.Floor)+overhead))
	}
	slices.Sort(all)
	return all
}

func TestRatesAgreesWithLists(t *testing.T) {
	prior := distuv.LogNormal{Mu: 1, Sigma: .5}
	for _, config := range []RatesConfig{
		{}, {Floor: 20}, {KeepFirstWave: true}, {MinSamples: 8, Prior: prior}, {Floor: 3, MinSamples: 1}, {FixedOverhead: true},
	} {
		r := rand.New(rand.NewPCG(3, 14))
		fast, err := NewRates(config)
		require.NoError(t, err)
		slow := slowRates{config: config}
		var ids []int
		overheads := map[float64]bool{}
		for step := range 900 {
			work := 100 * r.Float64()
			seconds := (30 + work) * r.Float64()
			switch i := len(ids) - 1; r.IntN(4) {
			case 0:
				id := fast.Running(None, seconds, work)
				require.NotEqual(t, None, id)
				ids, slow.running = append(ids, id), append(slow.running, [2]float64{seconds, work})
			case 1:
				if i >= 0 {
					i = r.IntN(i + 1)
					ids[i] = fast.Running(ids[i], seconds, work)
					slow.running[i] = [2]float64{seconds, work}
				}
			case 2:
				if i >= 0 {
					fast.Drop(ids[i])
					ids, slow.running = ids[:i], slow.running[:i]
				}
				fallthrough
			default:
				firstWave := step < 200 && r.IntN(5) > 0
				require.True(t, fast.Finish(seconds, work, firstWave))
				slow.finish(seconds, work, firstWave)
			}
			overheads[fast.Overhead()] = true
			compareRates(t, fast, slow.all(fast.Overhead()), r.Float64())
		}
		require.NoError(t, fast.all.tree.check())
		if config.FixedOverhead {
			assert.Equal(t, map[float64]bool{0: true}, overheads)
		} else {
			assert.Greater(t, len(overheads), 3, "the overhead must have been fitted, and moved, several times")
		}
	}
}

func compareRates(t *testing.T, fast *Rates, want []float64, p float64) {
	t.Helper()
	o := oracle{want}
	n := len(want)
	require.Equal(t, n, fast.Samples())
	if n < fast.Config().MinSamples {
		prior := fast.Config().Prior
		require.Equal(t, prior != nil, fast.Known())
		if prior == nil {
			require.Equal(t, math.Inf(1), fast.Mean())
			require.Equal(t, math.Inf(1), fast.Quantile(p))
			require.Zero(t, fast.Below(1e9)+fast.CDF(1e9))
			return
		}
		require.Equal(t, prior.Mean(), fast.Mean())
		require.Equal(t, prior.Quantile(p), fast.Quantile(p))
		require.Equal(t, prior.CDF(p), fast.Below(p))
		require.Equal(t, prior.CDF(p), fast.CDF(p))
		return
	}
	x := want[int(p*float64(n))]
	require.True(t, fast.Known())
	require.InEpsilon(t, o.mean(), fast.Mean(), 1e-14)
	require.Equal(t, float64(o.count(func(v float64) bool { return v < x }))/float64(n), fast.Below(x))
	require.Equal(t, float64(o.count(func(v float64) bool { return v <= x }))/float64(n), fast.CDF(x))
	require.Equal(t, want[int(math.Ceil(p*float64(n)))-1], fast.Quantile(p))
}

// learned returns what n tasks teach, whose works differ by a factor of ten; every tenth takes slow times as long.
func learned(n int, slow float64, seconds func(work float64) float64) *Rates {
	r := rand.New(rand.NewPCG(7, 7))
	rates, _ := NewRates(RatesConfig{})
	for i := range n {
		work := 1 + 9*r.Float64()
		took := seconds(work) * (.9 + .2*r.Float64())
		if i%10 == 5 {
			took *= slow
		}
		rates.Finish(took, work, false)
	}
	return rates
}

// The constant part of a task's time comes back, whatever the outliers.
func TestOverhead(t *testing.T) {
	for name, c := range map[string]struct {
		seconds   func(float64) float64
		low, high float64
	}{
		"proportional":        {func(w float64) float64 { return 3 * w }, 0, .5},
		"a third":             {func(w float64) float64 { return 8 + 3*w }, 2.67 * .8, 2.67 * 1.2},
		"mostly":              {func(w float64) float64 { return 60 + 3*w }, 20 * .75, 20 * 1.25},
		"no use at all":       {func(float64) float64 { return 60 }, 100, math.Inf(1)},
		"the less the longer": {func(w float64) float64 { return 60 - 3*w }, 5300, 5700}, // flat: 1000 mean works
	} {
		for _, slow := range []float64{1, 5} {
			overhead := learned(2000, slow, c.seconds).Overhead()
			assert.GreaterOrEqual(t, overhead, c.low, "%s, outliers %v times", name, slow)
			assert.LessOrEqual(t, overhead, c.high*1.02, "%s, outliers %v times", name, slow)
		}
	}
}

// Where time does not depend on bytes, a task with few of them is not promised to be quick to run again.
func TestOverheadKeepsSmallTasksFromLookingQuick(t *testing.T) {
	flat := learned(200, 1, func(float64) float64 { return 60 })
	small := Fresh{Rate: flat, Work: flat.Work(1)}
	assert.InDelta(t, 60, small.Mean(), 3)
	proportional := learned(200, 1, func(w float64) float64 { return 60 * w })
	small = Fresh{Rate: proportional, Work: proportional.Work(1)}
	assert.InDelta(t, 60, small.Mean(), 6)
}

func TestOverheadOfEqualWorksIsNone(t *testing.T) {
	rates, _ := NewRates(RatesConfig{})
	for i := range 100 {
		rates.Finish(1+float64(i%7), 5, false)
	}
	assert.Zero(t, rates.Overhead())
}

// Near-empty inputs: without a floor, a task that reads one byte in its start-up second has a rate a million times that
// of its peers, and the mean goes with it.
func TestRatesFloor(t *testing.T) {
	bare, _ := NewRates(RatesConfig{FixedOverhead: true})
	floored, _ := NewRates(RatesConfig{Floor: 1e5, FixedOverhead: true})
	for _, r := range []*Rates{bare, floored} {
		for range 9 {
			r.Finish(10, 1e6, false)
		}
		r.Finish(1, 1, false)
	}
	assert.Greater(t, bare.Mean(), .1)
	assert.InDelta(t, 1e-5, floored.Mean(), 1e-9)
	assert.Equal(t, 1e5, floored.Work(3))
	assert.Equal(t, 2e5, floored.Work(2e5))
}

func TestRatesRejects(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []RatesConfig{{MinSamples: -1}, {Floor: -1}, {Floor: nan}, {Floor: inf}} {
		_, err := NewRates(c)
		assert.ErrorContains(t, err, "estimate: ")
	}
	bare, _ := NewRates(RatesConfig{})
	floored, _ := NewRates(RatesConfig{Floor: 1})
	assert.Equal(t, DefaultMinSamples, bare.Config().MinSamples)
	for _, c := range [][2]float64{{nan, 1}, {inf, 1}, {-1, 1}, {1, nan}, {1, inf}, {1, -1}, {inf, inf}, {MaxSample, .5}} {
		assert.False(t, bare.Finish(c[0], c[1], false), "%v", c)
		assert.Equal(t, None, bare.Running(None, c[0], c[1]), "%v", c)
		if c[1] != .5 {
			assert.False(t, floored.Finish(c[0], c[1], true), "%v", c)
		}
	}
	assert.False(t, bare.Finish(1, 0, false))
	assert.True(t, floored.Finish(1, 0, false), "the floor counts")
	assert.True(t, floored.Finish(0, 1, false), "a coarse clock")
	held := bare.Running(None, 2, 1)
	assert.Equal(t, 1, bare.Samples())
	assert.Equal(t, None, bare.Running(held, nan, 1), "what makes no sense takes the old sample away")
	bare.Drop(held)
	bare.Drop(None)
	bare.Drop(99)
	assert.Zero(t, bare.Samples())
}

// The overhead is fitted again each time the samples have doubled, or have all changed, and not more often: the cost of an
// update must not grow with the phase.
func TestOverheadIsFittedSeldom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	rates, _ := NewRates(RatesConfig{})
	fits := 0
	update := func(id int) int {
		id = rates.Running(id, r.Float64(), 1+r.Float64())
		if rates.stale == 0 {
			fits++
		}
		return id
	}
	ids := make([]int, 4096)
	for i := range ids {
		ids[i] = update(None)
	}
	assert.Equal(t, 10, fits, "at 8, 16, ... 4096")
	for i := range 10 * len(ids) {
		ids[i%len(ids)] = update(ids[i%len(ids)])
	}
	assert.Equal(t, 20, fits)
}
