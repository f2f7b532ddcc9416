package restart_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// spread is a task with one copy whose t_rem is a distribution, and a t_new that is one.
func spread(left, fresh *estimate.Empirical) restart.Task {
	return restart.Task{
		Copies: []restart.Copy{{Elapsed: minute, Remaining: seconds(left.Mean()), Left: left, Basis: restart.ByProgress}},
		Fresh:  estimate.Fresh{UnitTime: fresh, Work: 1},
	}
}

// Line 7 where t_rem is uncertain: a chance of a quarter to save is not enough, less must be used on the average. In 16
// points t_rem is 1 s in 11 and 100 s in 5: alone 511, with a copy that takes 48 s 2 x 251, with one of 49.5 s 2 x 258.5.
func TestMantri51Line7UsesLess(t *testing.T) {
	left := values(1, 1, 1, 1, 1, 1, 1, 100, 100, 100)
	d := restart.Decide(spread(left, values(48)), scarce)
	assert.Equal(t, restart.SavesResources, d.Reason, "%v", d)
	d = restart.Decide(spread(left, values(49.5)), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)
	assert.Equal(t, []float64{0.3125, 0.25}, []float64{d.Value, d.Threshold})
}

// Line 10 where t_rem is uncertain: E(max(0, t_rem - t_new)) is held against ρΔ, 30 s, and P(t_rem > E(t_new) + ρΔ)
// against δ.
func TestMantri51Line10SavesTime(t *testing.T) {
	for _, c := range []struct {
		left, fresh *estimate.Empirical
		want        restart.Action
	}{
		{values(10, 80), values(20), restart.Keep}, {values(10, 80.1), values(20), restart.Duplicate}, // (X-20)/2
		{values(20, 75), values(10, 30), restart.Keep}, {values(20, 75.1), values(10, 30), restart.Duplicate}, // (5 + X-20)/2
		{values(1, 1, 1, 1000), values(20), restart.Keep}, {values(1, 1, 1000), values(20), restart.Duplicate}, // δ, strictly
		{values(1, 1, 1, 1000, 50), values(20), restart.Keep}, // the bar itself, 50 s, is not above it
	} {
		d := restart.Decide(spread(c.left, c.fresh), idle)
		assert.Equal(t, c.want, d.Action, "%v", d)
		assert.Equal(t, 50*time.Second, d.Bar)
	}
}

// Line 6 where t_rem is uncertain: P(t_rem > bar) >= Confidence, or, since a few long ones stretch E(t_new), by the
// median of t_new and (1 + Confidence)/2.
func TestMantri51Line6IsSure(t *testing.T) {
	d := restart.Decide(spread(values(10, 100, 100, 100), values(30)), scarce)
	assert.Equal(t, restart.Restart, d.Action, "%v", d)
	assert.Equal(t, []float64{0.75, 0.75}, []float64{d.Value, d.Threshold}, "at the confidence")
	no := restart.Mantri{DuplicateThreshold: restart.Off}
	assert.Equal(t, restart.NotSlow, no.Decide(spread(values(10, 10, 100, 100), values(30)), scarce).Reason)

	stretched := values(10, 10, 10, 10, 10, 10, 10, 10, 10, 1000) // E(t_new) is 109 s, the median 10 s
	d = no.Decide(spread(values(20, 60, 60, 60, 60, 60, 60, 1000), stretched), scarce)
	assert.Equal(t, restart.Restart, d.Action, "%v", d)
	assert.Equal(t, []float64{0.875, 0.875, 20}, []float64{d.Value, d.Threshold, d.Bar.Seconds()})
	d = no.Decide(spread(values(20, 20, 60, 60, 60, 60, 60, 1000), stretched), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)
}

// Eight copies in all, beside another, by line 7 and by line 10.
func TestMantriMaxDuplicates(t *testing.T) {
	spent := restart.Mantri{MaxRestarts: restart.Off}
	for _, p := range []restart.Phase{idle, scarce} {
		task := one(10*time.Minute, 30)
		task.Duplicates = 7
		assert.Equal(t, restart.Duplicate, spent.Decide(task, p).Action)
		task.Duplicates = 8
		assert.Equal(t, restart.EnoughCopies, spent.Decide(task, p).Reason)
	}
}
