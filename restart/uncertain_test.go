package restart_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// spread is a task with one copy whose t_rem is a distribution, and a t_new that is one.
func spread(left, fresh *estimate.Empirical) restart.Task {
	return restart.Task{
		Attempts: []restart.Attempt{{Elapsed: minute, Remaining: seconds(left.Mean()), Left: left, Basis: restart.ByProgress}},
		Fresh:    estimate.Fresh{UnitTime: fresh, Work: 1},
	}
}

// Line 7 where t_rem is uncertain: a chance of a quarter to save is not enough, less must be used on the average. In 16
// points t_rem is 1 s in 11 and 100 s in 5: alone 511, with a copy that takes 48 s 2 x 251, with one of 49.5 s 2 x 258.5.
func TestMantri51Line7UsesLess(t *testing.T) {
	left := values(1, 1, 1, 1, 1, 1, 1, 100, 100, 100)
	d := restart.Mantri{}.Decide(spread(left, values(48)), scarce)
	assert.Equal(t, restart.SavesResources, d.Reason, "%v", d)
	d = restart.Mantri{}.Decide(spread(left, values(49.5)), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)
	assert.Equal(t, restart.Compare(restart.SlotSeconds, 511./16, 517./16), d.Comparison, "and not the chance, which is enough")
}

// Line 10 where t_rem is uncertain: E(max(0, t_rem - t_new)) is held against ρΔ, 30 s, and P(t_rem > E(t_new) + ρΔ)
// against δ.
func TestMantri51Line10SavesTime(t *testing.T) {
	for _, c := range []struct {
		left, fresh *estimate.Empirical
		want        restart.Action
	}{
		{values(10, 80), values(20), restart.Keep}, {values(10, 80.1), values(20), restart.Copy}, // (X-20)/2
		{values(20, 75), values(10, 30), restart.Keep}, {values(20, 75.1), values(10, 30), restart.Copy}, // (5 + X-20)/2
		{values(1, 1, 1, 1000), values(20), restart.Keep}, {values(1, 1, 1000), values(20), restart.Copy}, // δ, strictly
		{values(1, 1, 1, 1000, 50), values(20), restart.Keep}, // the bar itself, 50 s, is not above it
	} {
		d := restart.Mantri{}.Decide(spread(c.left, c.fresh), idle)
		assert.Equal(t, c.want, d.Action, "%v", d)
		assert.Equal(t, 50*time.Second, d.Bar)
		assert.True(t, decides(d), "the numbers do not say so: %v", d)
	}
	d := restart.Mantri{}.Decide(spread(values(10, 80), values(20)), idle)
	assert.Equal(t, restart.Compare(restart.SavedSeconds, 30, 30), d.Comparison)
	d = restart.Mantri{CopyThreshold: restart.Off}.Decide(spread(values(49), values(20)), idle)
	assert.Equal(t, restart.Compare(restart.Probability, 0, 0), d.Comparison)
}

// Line 6 where t_rem is uncertain: P(t_rem > bar) >= Confidence, or, since a few long ones stretch E(t_new), by the
// median of t_new and (1 + Confidence)/2.
func TestMantri51Line6IsSure(t *testing.T) {
	d := restart.Mantri{}.Decide(spread(values(10, 100, 100, 100), values(30)), scarce)
	assert.Equal(t, restart.Restart, d.Action, "%v", d)
	assert.Equal(t, []float64{0.75, 0.75}, []float64{d.Value, d.Threshold}, "at the confidence")
	no := restart.Mantri{CopyThreshold: restart.Off}
	assert.Equal(t, restart.NotSlow, no.Decide(spread(values(10, 10, 100, 100), values(30)), scarce).Reason)

	stretched := values(10, 10, 10, 10, 10, 10, 10, 10, 10, 1000) // E(t_new) is 109 s, the median 10 s
	d = no.Decide(spread(values(20, 60, 60, 60, 60, 60, 60, 1000), stretched), scarce)
	assert.Equal(t, restart.Restart, d.Action, "%v", d)
	assert.Equal(t, []float64{0.875, 0.875, 20}, []float64{d.Value, d.Threshold, d.Bar.Seconds()})
	d = no.Decide(spread(values(20, 20, 60, 60, 60, 60, 60, 1000), stretched), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)

	// Surely beyond E(t_new), 36.4 s, and Δ, and yet later in most cases.
	d = no.Decide(spread(values(50), values(1, 1, 1, 1, 60, 60, 60, 60, 60, 60)), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason)
	assert.Equal(t, restart.Compare(restart.Probability, .4, .5), d.Comparison)

	// Surely beyond the median and Δ, 20 s, but with P(t_rem - Δ > t_new) = (12 x .5 + 2 x .9)/16 = .4875.
	often := values(10, 10, 10, 10, 10, 65, 65, 65, 65, 1000)
	d = no.Decide(spread(values(20, 60, 60, 60, 60, 60, 60, 1000), often), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)
}

// Eight copies in all, beside another, by line 7 and by line 10.
func TestMantriMaxDuplicates(t *testing.T) {
	spent := restart.Mantri{MaxRestarts: restart.Off}
	for _, p := range []restart.Phase{idle, scarce} {
		task := one(10*time.Minute, 30)
		task.Copies = 7
		assert.Equal(t, restart.Copy, spent.Decide(task, p).Action)
		task.Copies = 8
		assert.Equal(t, restart.CopiesSpent, spent.Decide(task, p).Reason)
	}
	// The limits hold for any policy.
	task := one(10*time.Minute, 30)
	launch := restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot, Gain: time.Minute}
	for launched, want := range map[int]restart.Action{7: restart.Copy, 8: restart.Keep} {
		task.Copies = launched
		assert.Equal(t, want, restart.Hold(launch, task, restart.Phase{}).Action, "%d launched", launched)
	}
}

// The chance of line 7 is that of half of t_rem: of 16 points two are 100 s and the others 60 s, of which half is less
// than 40 s.
func TestMantri51Line7OfHalfOfTheRest(t *testing.T) {
	chance := func(fresh ...float64) restart.Comparison {
		task := spread(values(60, 60, 60, 60, 60, 60, 60, 60, 60, 100), values(fresh...))
		task.Restarts = 1
		d := restart.Mantri{RaisedBar: 10}.Decide(task, scarce) // so that no restart is wanted
		assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)
		return d.Comparison
	}
	assert.Equal(t, restart.Compare(restart.Probability, 2./16, .25), chance(40))
	assert.Equal(t, restart.Compare(restart.Probability, 1./16, .25), chance(40, 120), "of two points each second one")
	assert.Equal(t, restart.Compare(restart.Probability, .25, .25), chance(40, 200, 200, 200), "the longest alone is not above δ")
}

// Nothing is known of t_rem in a phase that never reports; where it is known, t_new is what is missing.
func TestMantriNoProgress(t *testing.T) {
	silent := scarce
	silent.Silent = true
	assert.Equal(t, restart.NoProgress, restart.Mantri{}.Decide(one(estimate.Unknown, 30), silent).Reason)
	assert.Equal(t, restart.NoEstimate, restart.Mantri{}.Decide(one(estimate.Unknown, 30), scarce).Reason)
	unknown := one(minute, 30)
	unknown.Fresh = estimate.Fresh{}
	assert.Equal(t, restart.NoEstimate, restart.Mantri{}.Decide(unknown, silent).Reason)
}

// A task of two copies may lose the one that is not furthest on; one of a single copy is not killed.
func TestLimitsKillOneOfTwo(t *testing.T) {
	task := restart.Task{Attempts: copies(10, 20)}
	kill := restart.Decision{Action: restart.Kill, Reason: restart.SlowerAttempt, Attempt: 1}
	assert.Equal(t, kill, restart.Hold(kill, task, restart.Phase{}))
	again := restart.Decision{Action: restart.Restart}
	for restarts, want := range map[int]restart.Action{2: restart.Restart, 3: restart.Keep} {
		assert.Equal(t, want, restart.Hold(again, restart.Task{Attempts: copies(10), Restarts: restarts}, restart.Phase{}).Action)
	}
	kill.Attempt, task.Attempts = 0, task.Attempts[:1]
	assert.Equal(t, restart.FurthestOn, restart.Hold(kill, task, restart.Phase{}).Reason)
}

// random returns up to so many times, most of them near one another and a few far beyond.
func random(rng *rand.Rand, n int, scale float64) *estimate.Empirical {
	e := new(estimate.Empirical)
	for range 1 + rng.IntN(n) {
		e.Insert(math.Round(scale * math.Exp(rng.NormFloat64()*rng.Float64()*2)))
	}
	return e
}
