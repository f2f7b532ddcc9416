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

// uncertainTask is a task with one attempt; t_rem and t_new are both distributions.
func uncertainTask(left, fresh *estimate.Empirical) restart.Task {
	return restart.Task{
		Attempts: []restart.Attempt{{Elapsed: minute, Remaining: seconds(left.Mean()), Left: left, Basis: restart.ByProgress}},
		Fresh:    estimate.Fresh{UnitTime: fresh, Work: 1},
	}
}

// If t_rem is uncertain, a probability of a quarter is not enough for line 7: the copy must use less slot time on
// average. The distribution of t_rem has 16 equally probable values: 11 of 1 s and 5 of 100 s, 511 s in all. If a
// copy takes 48 s, the two attempts together use 2 x 251 s. If it takes 49.5 s, they use 2 x 258.5 s.
func TestMantri51Line7UsesLess(t *testing.T) {
	left := values(1, 1, 1, 1, 1, 1, 1, 100, 100, 100)
	d := restart.Mantri{}.Decide(uncertainTask(left, values(48)), scarce)
	assert.Equal(t, restart.SavesResources, d.Reason, "%v", d)
	d = restart.Mantri{}.Decide(uncertainTask(left, values(49.5)), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)
	assert.Equal(t, restart.Compare(restart.SlotSeconds, 511./16, 517./16), d.Comparison, "the decision prints the comparison that refused, and not the probability, which is enough")
	// 3 of the 16 values are more than twice t_new, and all are more than half of it.
	d = restart.Mantri{}.Decide(uncertainTask(values(6, 6, 6, 6, 6, 6, 6, 6, 1000, 1000), values(10)), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)
	assert.Equal(t, restart.Compare(restart.Probability, 3./16, .25), d.Comparison)
}

// If t_rem is uncertain, line 10 compares E(max(0, t_rem - t_new)) with ρΔ, 30 s, and P(t_rem > E(t_new) + ρΔ) with
// δ.
func TestMantri51Line10SavesTime(t *testing.T) {
	for _, c := range []struct {
		left, fresh *estimate.Empirical
		want        restart.Action
	}{
		{values(10, 80), values(20), restart.Keep}, {values(10, 80.1), values(20), restart.Copy}, // (X-20)/2
		{values(20, 75), values(10, 30), restart.Keep}, {values(20, 75.1), values(10, 30), restart.Copy}, // (5 + X-20)/2
		{values(1, 1, 1, 1000), values(20), restart.Keep}, {values(1, 1, 1000), values(20), restart.Copy}, // δ, strictly
		{values(1, 1, 1, 1000, 50), values(20), restart.Keep}, // 50 s is the bar, and not above the bar
	} {
		d := restart.Mantri{}.Decide(uncertainTask(c.left, c.fresh), idle)
		assert.Equal(t, c.want, d.Action, "%v", d)
		assert.Equal(t, 50*time.Second, d.Bar)
		assert.True(t, decides(d), "the numbers do not say so: %v", d)
	}
	d := restart.Mantri{}.Decide(uncertainTask(values(10, 80), values(20)), idle)
	assert.Equal(t, restart.Compare(restart.SavedSeconds, 30, 30), d.Comparison)
	d = restart.Mantri{CopyThreshold: restart.Off}.Decide(uncertainTask(values(49), values(20)), idle)
	assert.Equal(t, restart.Compare(restart.Probability, 0, 0), d.Comparison)
}

// Without δ, one long time in a hundred is a chance. If the longest of the other times saves too little even with the
// shortest t_new, 10 s, the decision prints what this pair saves.
func TestMantri51Line10PrintsTheMostThatAPairSaves(t *testing.T) {
	for left, saves := range map[float64]float64{5: 0, 39: 29, 40: 30} {
		times := new(estimate.Empirical)
		for range 99 {
			times.Insert(left)
		}
		times.Insert(1000)
		d := restart.Mantri{CopyThreshold: restart.Off}.Decide(uncertainTask(times, values(10, 30)), idle)
		assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)
		assert.Equal(t, restart.Compare(restart.SavedSeconds, saves, 30), d.Comparison, "%v s", left)
	}
}

// If t_rem is uncertain, line 6 asks for P(t_rem > bar) >= Confidence. A few long times stretch E(t_new); so the
// median of t_new with the probability (1 + Confidence)/2 is enough as well.
func TestMantri51Line6IsSure(t *testing.T) {
	d := restart.Mantri{}.Decide(uncertainTask(values(10, 100, 100, 100), values(30)), scarce)
	assert.Equal(t, restart.Restart, d.Action, "%v", d)
	assert.Equal(t, []float64{0.75, 0.75}, []float64{d.Value, d.Threshold}, "a probability equal to Confidence is enough")
	no := restart.Mantri{CopyThreshold: restart.Off}
	assert.Equal(t, restart.NotSlow, no.Decide(uncertainTask(values(10, 10, 100, 100), values(30)), scarce).Reason)

	stretched := values(10, 10, 10, 10, 10, 10, 10, 10, 10, 1000) // E(t_new) is 109 s, and the median 10 s
	d = no.Decide(uncertainTask(values(20, 60, 60, 60, 60, 60, 60, 1000), stretched), scarce)
	assert.Equal(t, restart.Restart, d.Action, "%v", d)
	assert.Equal(t, []float64{0.875, 0.875, 20}, []float64{d.Value, d.Threshold, d.Bar.Seconds()})
	d = no.Decide(uncertainTask(values(20, 20, 60, 60, 60, 60, 60, 1000), stretched), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)

	// t_rem surely exceeds E(t_new), 36.4 s, and Δ. A new attempt ends later in most cases all the same.
	d = no.Decide(uncertainTask(values(50), values(1, 1, 1, 1, 60, 60, 60, 60, 60, 60)), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason)
	assert.Equal(t, restart.Compare(restart.Probability, .4, .5), d.Comparison)
	d = no.Decide(uncertainTask(values(50), values(1, 60)), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason)
	assert.Equal(t, restart.Compare(restart.Probability, .5, .5), d.Comparison, "a probability of a half is not enough")

	// t_rem surely exceeds the median and Δ, 20 s. But P(t_rem - Δ > t_new) = (12 x .5 + 2 x .9)/16 = .4875.
	often := values(10, 10, 10, 10, 10, 65, 65, 65, 65, 1000)
	d = no.Decide(uncertainTask(values(20, 60, 60, 60, 60, 60, 60, 1000), often), scarce)
	assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)
}

// A task gets at most eight copies in all, by line 7 and by line 10.
func TestMantriMaxDuplicates(t *testing.T) {
	spent := restart.Mantri{MaxRestarts: restart.Off}
	for _, p := range []restart.Phase{idle, scarce} {
		task := single(10*time.Minute, 30)
		task.Copies = 7
		assert.Equal(t, restart.Copy, spent.Decide(task, p).Action)
		task.Copies = 8
		assert.Equal(t, restart.CopiesSpent, spent.Decide(task, p).Reason)
	}
	// The limits hold for every policy.
	task := single(10*time.Minute, 30)
	launch := restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot, Gain: time.Minute}
	for launched, want := range map[int]restart.Action{7: restart.Copy, 8: restart.Keep} {
		task.Copies = launched
		assert.Equal(t, want, restart.Hold(launch, task, restart.Phase{}).Action, "after %d copies", launched)
	}
}

// Line 7 uses half of t_rem. In two of 16 points t_rem is 100 s, and its half exceeds 40 s. In the other points t_rem is
// 60 s, and its half does not.
func TestMantri51Line7UsesHalfOfTheRemainingTime(t *testing.T) {
	chance := func(fresh ...float64) restart.Comparison {
		task := uncertainTask(values(60, 60, 60, 60, 60, 60, 60, 60, 60, 100), values(fresh...))
		task.Restarts = 1
		d := restart.Mantri{RaisedBar: 10}.Decide(task, scarce) // no restart is wanted
		assert.Equal(t, restart.NotSlow, d.Reason, "%v", d)
		return d.Comparison
	}
	assert.Equal(t, restart.Compare(restart.Probability, 2./16, .25), chance(40))
	assert.Equal(t, restart.Compare(restart.Probability, 1./16, .25), chance(40, 120), "half of each of two points is enough")
	assert.Equal(t, restart.Compare(restart.Probability, .25, .25), chance(40, 200, 200, 200), "a probability equal to δ is not enough")
}

// In a phase that never reports, t_rem is unknown: the reason is no-progress. If t_rem is known, the missing estimate
// is t_new.
func TestMantriNamesTheMissingEstimate(t *testing.T) {
	silent := scarce
	silent.Silent = true
	assert.Equal(t, restart.NoProgress, restart.Mantri{}.Decide(single(estimate.Unknown, 30), silent).Reason)
	assert.Equal(t, restart.NoEstimate, restart.Mantri{}.Decide(single(estimate.Unknown, 30), scarce).Reason)
	unknown := single(minute, 30)
	unknown.Fresh = estimate.Fresh{}
	assert.Equal(t, restart.NoEstimate, restart.Mantri{}.Decide(unknown, silent).Reason)
}

// A task with two attempts may lose the attempt that has done less. A task with a single attempt keeps it.
func TestLimitsNeverKillTheLastAttempt(t *testing.T) {
	task := restart.Task{Attempts: attempts(10, 20)}
	kill := restart.Decision{Action: restart.Kill, Reason: restart.SlowerAttempt, Attempt: 1}
	assert.Equal(t, kill, restart.Hold(kill, task, restart.Phase{}))
	again := restart.Decision{Action: restart.Restart}
	for restarts, want := range map[int]restart.Action{2: restart.Restart, 3: restart.Keep} {
		assert.Equal(t, want, restart.Hold(again, restart.Task{Attempts: attempts(10), Restarts: restarts}, restart.Phase{}).Action)
	}
	kill.Attempt, task.Attempts = 0, task.Attempts[:1]
	assert.Equal(t, restart.FurthestOn, restart.Hold(kill, task, restart.Phase{}).Reason)
}

// A task without an attempt has nothing to lose: Hold lets it be copied and restarted, and it has no attempt to kill.
func TestHoldAnswersForATaskWithoutAttempts(t *testing.T) {
	spent := restart.Phase{Trials: restart.Trials{Cost: time.Hour}}
	for _, action := range []restart.Action{restart.Copy, restart.Restart} {
		d := restart.Decision{Action: action, Reason: restart.FreshSooner}
		assert.Equal(t, d, restart.Hold(d, restart.Task{}, spent))
	}
	assert.Equal(t, restart.FurthestOn, restart.Hold(restart.Decision{Action: restart.Kill}, restart.Task{}, spent).Reason)
}

// randomTimes returns up to n times: most of them close together, and a few far longer.
func randomTimes(rng *rand.Rand, n int, scale float64) *estimate.Empirical {
	e := new(estimate.Empirical)
	for range 1 + rng.IntN(n) {
		e.Insert(math.Round(scale * math.Exp(rng.NormFloat64()*rng.Float64()*2)))
	}
	return e
}
