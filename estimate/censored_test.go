package estimate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An attempt that was killed without progress would have taken longer than it ran. Its age changes neither the
// distribution of unit times nor the overhead, whatever the works of the tasks are.
func TestTheAgeOfASilentKilledAttemptIsNoTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for range 100 {
		with, _ := NewUnitTimes(UnitTimesConfig{FixedOverhead: true})
		without, _ := NewUnitTimes(UnitTimesConfig{FixedOverhead: true})
		for range 200 {
			work := 1 + 9*rng.Float64()
			age := time.Duration(work * (.8 + .4*rng.Float64()) * float64(time.Second))
			r := Run{Age: age, Work: work, Done: work}
			if rng.IntN(3) > 0 {
				with.Finish(NoSample, r)
				without.Finish(NoSample, r)
				continue
			}
			// A small task on a slow machine is killed after as long as large tasks take.
			r = Run{Age: time.Duration(10 * rng.Float64() * float64(time.Second)), Work: 1}
			if id := with.Kill(NoSample, r); id != NoSample && rng.IntN(4) == 0 {
				with.Drop(id)
			}
		}
		require.Equal(t, without.Samples(), with.Samples())
		require.Equal(t, without.Mean(), with.Mean())
		for _, p := range []float64{.1, .5, .9, 1} {
			require.Equal(t, without.Quantile(p), with.Quantile(p))
		}
		overhead, _, _ := with.leastSquares()
		want, _, _ := without.leastSquares()
		require.Equal(t, want, overhead)
	}
}

// The id of a silent killed attempt serves Repeat, also after a restore.
func TestASilentKilledAttemptIsRepeated(t *testing.T) {
	for _, c := range []struct {
		took     time.Duration
		repeated bool
	}{{19 * time.Second, false}, {20 * time.Second, true}, {time.Minute, true}} {
		times, _ := NewUnitTimes(UnitTimesConfig{})
		for range 5 {
			times.Finish(NoSample, Run{Age: 10 * time.Second, Work: 1})
		}
		assert.Equal(t, NoSample, times.Kill(NoSample, Run{Age: 10 * time.Second, Work: 1}), "not above the mean")
		id := times.Kill(NoSample, Run{Age: 30 * time.Second, Work: 1})
		require.NotEqual(t, NoSample, id)
		data, err := times.MarshalBinary()
		require.NoError(t, err)
		restored := new(UnitTimes)
		require.NoError(t, restored.UnmarshalBinary(data))
		for _, u := range []*UnitTimes{times, restored} {
			assert.Equal(t, 5, u.Samples())
			assert.Equal(t, 10., u.Mean())
			assert.Equal(t, c.repeated, u.Repeat(id, Run{Age: c.took, Work: 1}))
			assert.False(t, u.Repeat(id, Run{Age: c.took, Work: 1}) && c.repeated, "dropped once")
			u.Drop(id)
			assert.Equal(t, 5, u.Samples())
			assert.Equal(t, 10., u.Mean())
		}
	}
}

// The overhead is used for tasks of up to twice the largest work that it was fitted to. Beyond that, the time of a
// task is proportional to its work.
func TestTheOverheadReachesTwiceTheLargestWork(t *testing.T) {
	times, _ := NewUnitTimes(UnitTimesConfig{})
	for i := range 16 {
		work := float64(1 + i%4)
		times.Finish(NoSample, Run{Age: time.Duration((4 + work) * float64(time.Second)), Work: work})
	}
	require.InDelta(t, 4, times.Overhead(), 1e-6)
	assert.InDelta(t, 5, times.Work(1), 1e-6)
	assert.InDelta(t, 12, times.Work(8), 1e-6)
	assert.InDelta(t, 24, times.Work(16), 1e-6)
	assert.InDelta(t, 120, times.Work(80), 1e-6)
	for i := range 16 { // larger tasks show that the overhead holds for them as well
		work := float64(20 + i%4)
		times.Finish(NoSample, Run{Age: time.Duration((4 + work) * float64(time.Second)), Work: work})
	}
	require.InDelta(t, 4, times.Overhead(), 1e-6)
	assert.InDelta(t, 34, times.Work(30), 1e-6)
}
