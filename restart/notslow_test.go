package restart_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// If NotSlow keeps a task, Decide keeps it for the same reason, and the numbers of NotSlow bound the numbers of
// Decide. The test has 10,000 random tasks, or 30,000 with STRAGGLER_LIVES.
func TestNotSlowAgreesWithDecide(t *testing.T) {
	rng, sure, slow, tasks := rand.New(rand.NewPCG(31, 32)), 0, 0, 10_000
	if os.Getenv("STRAGGLER_LIVES") != "" {
		tasks = 30_000
	}
	for range tasks {
		policy := restart.LeastCost{}
		if rng.IntN(2) == 0 {
			policy.Price, policy.IdlePrice = 0.1+4*rng.Float64(), 0.1+4*rng.Float64()
		}
		var fresh, left estimate.Empirical
		for range 1 + rng.IntN(40) {
			fresh.Insert(100 * math.Exp(rng.NormFloat64()*0.4))
		}
		scale := 300 * rng.Float64()
		for range 1 + rng.IntN(40) {
			left.Insert(scale * math.Exp(rng.NormFloat64()*0.3))
		}
		task := restart.Task{Fresh: estimate.Fresh{
			UnitTime: &fresh, Work: 1, Location: []float64{0, 1, 1.5}[rng.IntN(3)], Lag: time.Duration(rng.IntN(10)*rng.IntN(10)) * time.Second,
		}}
		age, location := time.Duration(rng.Float64()*200*1e9), []float64{0, 1, 2, 5}[rng.IntN(4)]
		mean := time.Duration(left.Mean() * 1e9)
		task.Attempts = []restart.Attempt{{
			Elapsed: age, Remaining: mean, Location: location, Left: &left, Basis: restart.ByProgress,
		}}
		phase := restart.Phase{
			Interval: time.Duration(1+rng.IntN(20)) * time.Second, Tasks: 100, Slots: 50, Waiting: rng.IntN(2) * 9,
			FreeSlots: rng.IntN(2) * 5, Stream: rng.IntN(2) == 0,
			Trials: restart.Trials{
				Won: float64(rng.IntN(9)), Lost: float64(rng.IntN(9) * rng.IntN(20)), Longest: time.Duration(rng.IntN(100)) * time.Second,
			},
		}
		most := left.Quantile(31. / 32)
		outline := restart.Outline{Left: most, Age: age, Location: location, Fresh: task.Fresh}
		value, threshold, is := policy.NotSlow(&outline, &phase)
		d := policy.Decide(task, phase)
		if !is {
			if slow++; d.Reason == restart.NotSlow {
				slow--
			}
			continue
		}
		sure++
		require.Equal(t, restart.Keep, d.Action)
		require.Equal(t, restart.NotSlow, d.Reason)
		require.Less(t, value, threshold)
		require.GreaterOrEqual(t, value*(1+1e-9), d.Value)
	}
	t.Logf("NotSlow keeps %d tasks; Decide acts on %d others", sure, slow)
	assert.Greater(t, sure, tasks/6)
	assert.Greater(t, slow, tasks/10)
}

// If t_rem is 0, the numbers of NotSlow are the numbers of Decide.
func TestNotSlowAgreesWithDecideAtTheEndOfATask(t *testing.T) {
	var fresh, left estimate.Empirical
	fresh.Insert(60)
	left.Insert(0)
	task := restart.Task{Fresh: estimate.Fresh{UnitTime: &fresh, Work: 1}, Attempts: []restart.Attempt{{
		Elapsed: time.Minute, Left: &left, Basis: restart.ByProgress,
	}}}
	phase := restart.Phase{Interval: 5 * time.Second, Tasks: 9, Slots: 9}
	outline := restart.Outline{Age: time.Minute, Fresh: task.Fresh}
	value, threshold, sure := new(restart.LeastCost).NotSlow(&outline, &phase)
	d := restart.Decide(task, phase)
	require.True(t, sure)
	assert.Equal(t, []float64{d.Value, d.Threshold}, []float64{value, threshold})
	assert.Equal(t, restart.NotSlow, d.Reason)

	for _, outline.Left = range []float64{-1, math.NaN(), math.Inf(1)} {
		_, _, sure = new(restart.LeastCost).NotSlow(&outline, &phase)
		assert.False(t, sure, "NotSlow knows nothing of the remaining time %v", outline.Left)
	}
}

// Half of the new attempts take 10 s, and the others 1,000 s. A slow one is replaced in turn: after two report periods it
// has shown that it is slow, and each of the two starts late by the lag. NotSlow counts both: with a long lag, or with
// long periods, it knows that nothing saves.
func TestNotSlowCountsTheTimeToReplaceASlowNewAttempt(t *testing.T) {
	for _, c := range []struct {
		left, lag, period float64
		sure              bool
	}{{150, 0, 1, false}, {150, 100, 1, true}, {120, 0, 1, false}, {120, 0, 50, true}} {
		task := uncertainTask(values(c.left), values(10, 10, 1000, 1000))
		task.Fresh.Lag = seconds(c.lag)
		outline := restart.Outline{Left: c.left, Age: task.Attempts[0].Elapsed, Fresh: task.Fresh}
		phase := restart.Phase{Interval: seconds(c.period), Tasks: 100, Slots: 50, Waiting: 9}
		policy := new(restart.LeastCost)
		_, _, sure := policy.NotSlow(&outline, &phase)
		assert.Equal(t, c.sure, sure, "%+v", c)
		assert.Equal(t, c.sure, policy.Decide(task, phase).Reason == restart.NotSlow, "%+v", c)
	}
}
