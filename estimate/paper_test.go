package estimate_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

// Each test checks a claim of one of the two papers, and its name contains the section.

// LATE §4.2, Figure 2: the score grows by 5 % per second to 50 % and then by 1 % per second. T1 begins at 0 s, T2
// at 10 s. At 20 s the heuristic gives T1 13.3 s and T2 10 s, which is the wrong order.
func TestLATE42Figure2Heuristic(t *testing.T) {
	t1 := estimate.TimeLeft(.6, 20*time.Second)
	t2 := estimate.TimeLeft(.5, 10*time.Second)
	assert.Equal(t, 13333333333*time.Nanosecond, t1) // (1 - .6)/(.6/20 s) = 40/3 s
	assert.Equal(t, 10*time.Second, t2)              // (1 - .5)/(.5/10 s)
	assert.Greater(t, t1, t2, "the heuristic gives the wrong order of the figure")
}

// LATE §4.2: the true remaining times are 40 s for T1 and 50 s for T2. The estimate by subphase gives both.
func TestLATE42Figure2BySubphases(t *testing.T) {
	fast := estimate.Subphase{Weight: .5, Score: .5, Age: 10 * time.Second}
	t1 := estimate.TimeLeftBySubphase([]estimate.Subphase{fast, {Weight: .5, Score: .1, Age: 10 * time.Second, PeerRate: 99}})
	t2 := estimate.TimeLeftBySubphase([]estimate.Subphase{fast, {Weight: .5, PeerRate: .01}})
	assert.Equal(t, 40*time.Second, t1, "a subphase that has begun uses its own rate")
	assert.Equal(t, 50*time.Second, t2, "a subphase that has not begun uses the mean rate of the other tasks")
	half := estimate.Subphase{Weight: .5, Score: .1, Age: 10 * time.Second}
	assert.Equal(t, 40*time.Second, estimate.TimeLeftBySubphase([]estimate.Subphase{fast, half, {}}), "a subphase without weight needs no time")
	// Without a mean rate, the rate of the whole task counts: half of the work in 10 s. A task of age 0 has no rate.
	assert.Equal(t, 10*time.Second, estimate.TimeLeftBySubphase([]estimate.Subphase{fast, {Weight: .5}}))
	assert.Equal(t, estimate.Unknown, estimate.TimeLeftBySubphase([]estimate.Subphase{{Weight: 1}}))
}

// LATE §4: a task with score 0 has rate 0, so its remaining time is the longest duration.
func TestLATE4NoProgress(t *testing.T) {
	assert.Equal(t, time.Duration(math.MaxInt64), estimate.TimeLeft(0, time.Second))
	assert.Zero(t, estimate.TimeLeft(1, time.Second))
	assert.Equal(t, estimate.Unknown, estimate.TimeLeft(.5, 0), "progress at the age of 0 gives no rate")
	assert.Zero(t, estimate.TimeLeft(1, 0))
	for _, score := range []float64{-.1, math.NaN()} {
		assert.Equal(t, estimate.Unknown, estimate.TimeLeft(score, time.Second))
	}
	assert.Equal(t, estimate.Unknown, estimate.TimeLeft(.5, -time.Second))
}

// Mantri §5.5, equation 2. The printed t_elapsed d/d_read is the total: 100 s for an attempt that has read 40 % in
// 40 s. The remaining time is 60 s.
func TestMantri55Equation2Corrected(t *testing.T) {
	const elapsed, d, read = 40 * time.Second, 1000, 400
	printed := time.Duration(float64(elapsed) * d / read)
	model := estimate.Linear{WrapUp: 3 * time.Second}
	var p estimate.Progress
	require.True(t, model.Report(&p, elapsed, read))
	assert.Equal(t, printed-elapsed+3*time.Second, model.Remaining(&p, elapsed, d))
	assert.Equal(t, 63*time.Second, model.Remaining(&p, elapsed, d))
}

// Mantri §5.5: a task that has read all its input still needs its wrap-up time alone. At the start of a task
// nothing is known.
func TestMantri55Ends(t *testing.T) {
	model := estimate.Linear{WrapUp: 3 * time.Second}
	var p estimate.Progress
	assert.Equal(t, estimate.Unknown, model.Remaining(&p, 0, 100))
	model.Report(&p, 10*time.Second, 100)
	assert.Equal(t, 3*time.Second, model.Remaining(&p, time.Minute, 100))
	assert.Equal(t, 3*time.Second, model.Remaining(&p, time.Minute, 50), "more done than work counts as all work done")
}

// Mantri §5.5: a silent attempt reads nothing more while time passes. 20 s after its last report, equation 2 gives
// 30 s * 900/100.
func TestMantri55Staleness(t *testing.T) {
	model := estimate.Linear{Grace: 5 * time.Second}
	var p estimate.Progress
	model.Report(&p, 10*time.Second, 100)
	for _, c := range []struct{ age, want time.Duration }{
		{10 * time.Second, 90 * time.Second},
		{15 * time.Second, 85 * time.Second}, // within Grace, the end inclusive, the attempt continues at its rate
		{15*time.Second + 1, 135*time.Second + 9},
		{30 * time.Second, 270 * time.Second},
		{5 * time.Second, 90 * time.Second}, // a clock that steps back
	} {
		assert.Equal(t, c.want, model.Remaining(&p, c.age, 1000), "age %v", c.age)
	}
}

// An attempt has never made progress. Its remaining time is unknown until Grace has passed, and after that the
// remaining time is its age (see Linear.Remaining).
func TestMantri55NothingRead(t *testing.T) {
	model := estimate.Linear{Grace: 5 * time.Second, WrapUp: time.Second}
	var p estimate.Progress
	assert.Equal(t, estimate.Unknown, model.Remaining(&p, 5*time.Second, 1))
	assert.Equal(t, 7*time.Second, model.Remaining(&p, 6*time.Second, 1))
	model.Report(&p, 8*time.Second, 0)
	assert.Equal(t, 9*time.Second, model.Remaining(&p, 8*time.Second, 1), "a report of no progress is no progress")
}

// Mantri §5.5: t_wrapup is estimated from the earlier tasks of the phase.
func TestMantri55WrapUp(t *testing.T) {
	var w estimate.WrapUp
	assert.Zero(t, w.Mean())
	w.Observe(10*time.Second, 14*time.Second)
	w.Observe(20*time.Second, 22*time.Second)
	w.Observe(20*time.Second, 19*time.Second) // out of order: dropped
	w.Observe(-time.Second, 19*time.Second)
	assert.Equal(t, 3*time.Second, w.Mean())
	w.Observe(0, 9*time.Second) // all work was done at the start
	assert.Equal(t, 5*time.Second, w.Mean())
	w.Observe(5*time.Second, 5*time.Second) // no time to wrap up
	assert.Equal(t, 3750*time.Millisecond, w.Mean())
}

// Mantri §5.5, equation 3, for each sample: rates 1, 2 and 6 s/MB, 10 MB, twice as far away, 5 s to be scheduled.
func TestMantri55Equation3(t *testing.T) {
	var rates estimate.Empirical
	for _, r := range []float64{1, 2, 6} {
		rates.Insert(r)
	}
	fresh := estimate.Fresh{UnitTime: &rates, Work: 10, Location: 2, Lag: 5 * time.Second}
	assert.Equal(t, 65.0, fresh.Mean()) // (25 + 45 + 125)/3
	assert.Equal(t, 65*time.Second, fresh.Expected())
	assert.Equal(t, 1./3, fresh.Below(45), "strictly less: the sample at 45 s does not count")
	assert.Equal(t, 2./3, fresh.CDF(45))
	assert.Equal(t, 45.0, fresh.Quantile(.5))
	fresh.Location = 0
	assert.Equal(t, 35.0, fresh.Mean(), "a location factor of 0 means the average")
}

// Mantri §5.5: processRate comes from all tasks of the phase, including running tasks.
func TestMantri55ProcessRateOfAllTasks(t *testing.T) {
	rates, err := estimate.NewUnitTimes(estimate.UnitTimesConfig{})
	require.NoError(t, err)
	rates.Finish(estimate.NoSample, estimate.Run{Age: 10 * time.Second, Work: 10})
	rates.Finish(estimate.NoSample, estimate.Run{Age: 30 * time.Second, Work: 10})
	held := rates.Running(estimate.NoSample, estimate.Run{Age: 20 * time.Second, Work: 10, Done: 2.5})
	assert.Equal(t, 4.0, rates.Mean()) // (1 + 3 + 8)/3
	held = rates.Running(held, estimate.Run{Age: 20 * time.Second, Work: 10, Done: 10})
	assert.Equal(t, 2.0, rates.Mean())
	rates.Drop(held) // the attempt failed: its sample goes
	assert.Equal(t, 2, rates.Samples())
	atOnce := rates.Running(estimate.NoSample, estimate.Run{Work: 10, Done: 10}) // an attempt that took no time
	rates.Finish(atOnce, estimate.Run{Work: 10, Done: 10})
	assert.Equal(t, 4./3, rates.Mean())
	rates.Drop(atOnce)
	rates.Finish(estimate.NoSample, estimate.Run{Age: 20 * time.Second, Work: 10})
	assert.Equal(t, 2.0, rates.Mean())
}

// Mantri §5.5: "tasks may speed up or slow down", hence a moving average. With a window of 20 s, 10 s at 10 units/s
// are followed by half a window, 10 s, at 5 units/s. Over an interval of half a window, old seconds keep 1/(1 + .5
// + .5²/2) = 8/13 of their weight, and new seconds have the weight 8/13 * (1 + .25) = 10/13. So the rate is 145
// units in 21 s, and the remaining 850 units take 123.1 s. At the mean rate of the whole time they would take 113.3
// s.
func TestMantri55MovingAverage(t *testing.T) {
	for window, want := range map[time.Duration]float64{20 * time.Second: 850. * 21 / 145, 0: 850. * 20 / 150} {
		model := estimate.Linear{Window: window}
		var p estimate.Progress
		model.Report(&p, 10*time.Second, 100)
		assert.Equal(t, 90*time.Second, model.Remaining(&p, 10*time.Second, 1000), "after one report the window does not matter")
		model.Report(&p, 20*time.Second, 150)
		assert.InDelta(t, want, model.Remaining(&p, 20*time.Second, 1000).Seconds(), 1e-8, "window %v", window)
	}
	model := estimate.Linear{Window: 20 * time.Second}
	var p estimate.Progress
	model.Report(&p, 100*time.Second, 1000)
	for age := 110 * time.Second; age <= 300*time.Second; age += 10 * time.Second {
		model.Report(&p, age, 1000+(age-100*time.Second).Seconds())
	}
	left := model.Remaining(&p, 300*time.Second, 1300).Seconds()
	assert.InDelta(t, 100, left, 1, "after ten windows at 1 unit/s the earlier speed is forgotten")
}
