package estimate

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// slowUnitTimes follows the description of UnitTimes: it keeps lists of samples and computes every answer again
// from the lists. The overhead comes from the fast implementation, and a test below checks it.
type slowUnitTimes struct {
	config                UnitTimesConfig
	first, other, running [][2]float64 // seconds, work
}

func (s *slowUnitTimes) finish(seconds, work float64, firstWave bool) {
	switch {
	case firstWave && !s.config.KeepFirstWave:
		s.first = append(s.first, [2]float64{seconds, work})
		return
	case len(s.first) > 0:
		s.first = s.first[:len(s.first)-1]
	}
	s.other = append(s.other, [2]float64{seconds, work})
}

func (s *slowUnitTimes) all(overhead float64) []float64 {
	var all []float64
	for _, sample := range slices.Concat(s.first, s.other, s.running) {
		all = append(all, sample[0]/(max(sample[1], s.config.Floor)+overhead))
	}
	slices.Sort(all)
	return all
}

// The test makes 450 steps with each config, or 900 with STRAGGLER_LIVES.
func TestUnitTimesAgreesWithLists(t *testing.T) {
	steps := 450
	if os.Getenv("STRAGGLER_LIVES") != "" {
		steps = 900
	}
	prior := distuv.LogNormal{Mu: 1, Sigma: .5}
	for _, config := range []UnitTimesConfig{
		{}, {Floor: 20}, {KeepFirstWave: true}, {MinSamples: 8, Prior: prior}, {Floor: 3, MinSamples: 1}, {FixedOverhead: true},
	} {
		r := rand.New(rand.NewPCG(3, 14))
		fast, err := NewUnitTimes(config)
		require.NoError(t, err)
		slow := slowUnitTimes{config: config}
		var ids []int
		overheads := map[float64]bool{}
		for step := range steps {
			work := 100 * r.Float64()
			seconds := span((30 + work) * r.Float64()).Seconds()
			switch i := len(ids) - 1; r.IntN(4) {
			case 0:
				id := fast.Running(NoSample, ran(seconds, work))
				require.NotEqual(t, NoSample, id)
				ids, slow.running = append(ids, id), append(slow.running, [2]float64{seconds, work})
			case 1:
				if i >= 0 {
					i = r.IntN(i + 1)
					ids[i] = fast.Running(ids[i], ran(seconds, work))
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
				require.NotEqual(t, NoSample, fast.Finish(NoSample, wave(ran(seconds, work), firstWave)))
				slow.finish(seconds, work, firstWave)
			}
			overheads[fast.Overhead()] = true
			compareUnitTimes(t, fast, slow.all(fast.Overhead()), r.Float64())
		}
		require.NoError(t, fast.all.values.check())
		if config.FixedOverhead {
			assert.Equal(t, map[float64]bool{0: true}, overheads)
		} else {
			assert.Greater(t, len(overheads), 3, "the overhead must have changed several times")
		}
	}
}

func compareUnitTimes(t *testing.T, fast *UnitTimes, want []float64, p float64) {
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

// A task with nearly no input may read a single byte in its start-up second. Without a Floor, its time per unit is
// a million times longer than for other tasks, and distorts the mean.
func TestFloorBoundsTheRateOfTinyTasks(t *testing.T) {
	bare, _ := NewUnitTimes(UnitTimesConfig{FixedOverhead: true})
	floored, _ := NewUnitTimes(UnitTimesConfig{Floor: 1e5, FixedOverhead: true})
	for _, r := range []*UnitTimes{bare, floored} {
		for range 9 {
			r.Finish(NoSample, ran(10, 1e6))
		}
		r.Finish(NoSample, ran(1, 1))
	}
	assert.Greater(t, bare.Mean(), .1)
	assert.InDelta(t, 1e-5, floored.Mean(), 1e-9)
	assert.Equal(t, 1e5, floored.Work(3))
	assert.Equal(t, 2e5, floored.Work(2e5))
}

func TestUnitTimesRefuseInvalidRuns(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []UnitTimesConfig{{MinSamples: -1}, {Floor: -1}, {Floor: nan}, {Floor: inf}} {
		_, err := NewUnitTimes(c)
		assert.ErrorContains(t, err, "estimate: ")
	}
	bare, _ := NewUnitTimes(UnitTimesConfig{})
	floored, _ := NewUnitTimes(UnitTimesConfig{Floor: 1})
	assert.Equal(t, defaultMinSamples, bare.Config().MinSamples)
	for _, c := range [][2]float64{{-1, 1}, {1, nan}, {1, inf}, {1, -1}, {inf, inf}, {9e9, 5e-9}} {
		assert.Equal(t, NoSample, bare.Finish(NoSample, ran(c[0], c[1])), "%v", c)
		assert.Equal(t, NoSample, bare.Running(NoSample, ran(c[0], c[1])), "%v", c)
		if c[1] != 5e-9 {
			assert.Equal(t, NoSample, floored.Finish(NoSample, wave(ran(c[0], c[1]), true)), "%v", c)
		}
	}
	assert.Equal(t, NoSample, bare.Finish(NoSample, ran(1, 0)))
	assert.NotEqual(t, NoSample, floored.Finish(NoSample, ran(1, 0)), "a task without work counts with the floor")
	assert.NotEqual(t, NoSample, floored.Finish(NoSample, ran(0, 1)), "a task may take no time on a coarse clock")
	held := bare.Running(NoSample, ran(2, 1))
	assert.Equal(t, 1, bare.Samples())
	assert.Equal(t, NoSample, bare.Running(held, ran(1, nan)), "an invalid run removes the old sample")
	bare.Drop(held)
	bare.Drop(NoSample)
	bare.Drop(99)
	assert.Zero(t, bare.Samples())
}
