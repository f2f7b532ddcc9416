package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// learned returns the UnitTimes after n tasks. The work of the largest task is ten times the work of the smallest
// task. Every tenth task takes slow times as long.
func learned(n int, slow float64, seconds func(work float64) float64) *UnitTimes {
	r := rand.New(rand.NewPCG(7, 7))
	rates, _ := NewUnitTimes(UnitTimesConfig{})
	for i := range n {
		work := 1 + 9*r.Float64()
		took := seconds(work) * (.9 + .2*r.Float64())
		if i%10 == 5 {
			took *= slow
		}
		rates.Finish(NoSample, ran(took, work))
	}
	return rates
}

// The fit recovers the constant part of a task's time, whatever the outliers.
func TestOverheadIsRecoveredDespiteOutliers(t *testing.T) {
	for name, c := range map[string]struct {
		seconds   func(float64) float64
		low, high float64
	}{
		"proportional":         {func(w float64) float64 { return 3 * w }, 0, .5},
		"a third":              {func(w float64) float64 { return 8 + 3*w }, 2.67 * .8, 2.67 * 1.2},
		"mostly":               {func(w float64) float64 { return 60 + 3*w }, 20 * .75, 20 * 1.25},
		"no use at all":        {func(float64) float64 { return 60 }, 100, math.Inf(1)},
		"more work, less time": {func(w float64) float64 { return 60 - 3*w }, 5300, 5700}, // flat: 1000 mean works
	} {
		for _, slow := range []float64{1, 5} {
			overhead := learned(2000, slow, c.seconds).Overhead()
			assert.GreaterOrEqual(t, overhead, c.low, "%s, outliers %v times", name, slow)
			assert.LessOrEqual(t, overhead, c.high*1.02, "%s, outliers %v times", name, slow)
		}
	}
}

// If the time of tasks does not depend on their bytes, the estimate for a task with few bytes is not a short time.
func TestOverheadKeepsSmallTasksFromLookingQuick(t *testing.T) {
	flat := learned(200, 1, func(float64) float64 { return 60 })
	small := Fresh{UnitTime: flat, Work: flat.Work(1)}
	assert.InDelta(t, 60, small.Mean(), 3)
	proportional := learned(200, 1, func(w float64) float64 { return 60 * w })
	small = Fresh{UnitTime: proportional, Work: proportional.Work(1)}
	assert.InDelta(t, 60, small.Mean(), 6)
}

func TestOverheadOfEqualWorksIsZero(t *testing.T) {
	rates, _ := NewUnitTimes(UnitTimesConfig{})
	for i := range 100 {
		rates.Finish(NoSample, ran(1+float64(i%7), 5))
	}
	assert.Zero(t, rates.Overhead())
}

// The overhead is fitted again when the number of samples has doubled, or when all samples have changed, and not
// more often. Otherwise the cost of an update would grow with the phase.
func TestOverheadIsFittedSeldom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	rates, _ := NewUnitTimes(UnitTimesConfig{})
	fits := 0
	update := func(id int) int {
		id = rates.Running(id, ran(r.Float64(), 1+r.Float64()))
		if rates.stale == 0 {
			fits++
		}
		return id
	}
	ids := make([]int, 4096)
	for i := range ids {
		ids[i] = update(NoSample)
	}
	assert.Equal(t, 10, fits, "the overhead is fitted at 8, 16, ... 4096 samples")
	for i := range 10 * len(ids) {
		ids[i%len(ids)] = update(ids[i%len(ids)])
	}
	assert.Equal(t, 20, fits)
}

// A fit visits all entries of the list of samples, also those not in use. If most entries are not in use, there
// must be no fit after every few updates.
func TestOverheadIsFittedSeldomAfterManySamplesWent(t *testing.T) {
	rates, _ := NewUnitTimes(UnitTimesConfig{})
	for i := range 4096 {
		rates.Running(NoSample, ran(float64(1+i%7), float64(1+i%5)))
	}
	for id := range 4096 - 10 {
		rates.Drop(id)
	}
	fits := 0
	for i := range 20 * 1024 {
		rates.Running(4090, ran(float64(1+i%7), float64(1+i%5)))
		if rates.stale == 0 {
			fits++
		}
	}
	assert.Equal(t, 10, rates.Samples())
	assert.LessOrEqual(t, fits, 20)
	assert.Positive(t, fits)
}

// A sample that is valid only with an overhead would be lost when the overhead falls, and its id would be lost with
// it.
func TestUnitTimesRefuseASampleThatNeedsAnOverhead(t *testing.T) {
	rates, _ := NewUnitTimes(UnitTimesConfig{})
	var flat []int
	for i := range 64 {
		flat = append(flat, rates.Running(NoSample, ran(60, 1+float64(i%5))))
	}
	require.Positive(t, rates.Overhead())
	for _, work := range []float64{0, 1e-300, 1e-18} {
		assert.Equal(t, NoSample, rates.Running(NoSample, ran(60, work)), "%v", work)
		assert.Equal(t, NoSample, rates.Finish(NoSample, ran(60, work)), "%v", work)
	}
	small := rates.Running(NoSample, ran(60, 1e-9))
	require.NotEqual(t, NoSample, small)
	for _, id := range flat {
		rates.Drop(id)
	}
	for i := range 4096 {
		work := 1 + float64(i%5)
		rates.Finish(NoSample, ran(60*work, work))
	}
	require.InDelta(t, 0, rates.Overhead(), 1e-12)
	assert.InEpsilon(t, 60/1e-9, rates.Quantile(1), 1e-3)
	rates.Drop(small)
	assert.Equal(t, 4096, rates.Samples())
	assert.Less(t, rates.Quantile(1), 61.)
}

// With a coarse clock most tasks take no time at all, and the last fit may use only these tasks.
func TestOverheadOfTasksWithoutTimeIsFinite(t *testing.T) {
	rates, _ := NewUnitTimes(UnitTimesConfig{})
	for i := range 30 {
		rates.Running(NoSample, ran(6, 6*(1+float64(i%5))))
	}
	for i := range 400 {
		work := .375 * (1 + float64(i%5))
		rates.Running(NoSample, ran(0, work))
		require.GreaterOrEqual(t, rates.Overhead(), 0.)
		require.GreaterOrEqual(t, rates.Mean(), 0.)
	}
}

// The expected time of a small task does not change much with every fit. In 30 rounds of reports, the estimates of
// 100 tasks become better; one task in ten is an outlier. After the tenth round, no fit changes the expected time
// by a tenth.
func TestOverheadIsSteady(t *testing.T) {
	for name, seconds := range map[string]func(work float64) float64{
		"proportional": func(w float64) float64 { return w },
		"half":         func(w float64) float64 { return 1 + w },
		"flat":         func(float64) float64 { return 2 },
	} {
		jumps := 0
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 1))
			rates, _ := NewUnitTimes(UnitTimesConfig{Floor: .1})
			var work, took [100]float64
			var ids [100]int
			for i := range ids {
				ids[i], work[i] = NoSample, math.Exp(.7*r.NormFloat64())
				took[i] = seconds(work[i]) * math.Exp(.2*r.NormFloat64())
				if i%10 == 0 {
					took[i] *= 1.5 + 3*r.Float64()
				}
			}
			last := 0.
			for round := range 30 {
				for i := range ids {
					ids[i] = rates.Running(ids[i], ran(took[i]*math.Exp(.5/float64(1+round)*r.NormFloat64()), work[i]))
				}
				small := rates.Work(.35) * rates.Mean()
				if round > 10 && math.Abs(small/last-1) > .1 {
					jumps++
				}
				last = small
			}
		}
		assert.Zero(t, jumps, name)
	}
}
