package restart_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// begun returns an account in which one trial has begun. The attempt of the task has run for 100 s, reports, and
// needs about 900 s more. Other tasks took about 96 s.
func begun(action restart.Action) (a restart.Trials, x restart.Trial) {
	task := alike(100, 900)
	a.Begin(&x, &task, &waiting, action)
	return a, x
}

// A trial puts slot time at risk, its stake. The stake of a copy is two report periods. The stake of a restart is the
// age of the attempt.
func TestBeginPutsAStakeAtRisk(t *testing.T) {
	a, x := begun(restart.Copy)
	assert.Equal(t, restart.Trials{AtRisk: 20 * second}, a)
	assert.Equal(t, restart.Trial{
		State: restart.CopyOnTrial, Copies: 1, Stake: 20 * second, Left: 900 * second, Whole: 1000 * second,
	}, x)
	a, x = begun(restart.Restart)
	assert.Equal(t, 100*second, a.AtRisk)
	assert.Equal(t, 100*second, x.Stake)

	var unknown restart.Trial
	a = restart.Trials{}
	silent := restart.Task{Attempts: []restart.Attempt{{Elapsed: 40 * second, Remaining: estimate.Unknown}}}
	a.Begin(&unknown, &silent, &waiting, restart.Copy)
	assert.Equal(t, 60*second, a.AtRisk, "one and a half times the age, which is the least time of an attempt")
	a.Begin(&unknown, &restart.Task{}, &waiting, restart.Copy)
	assert.Equal(t, 60*second, a.AtRisk, "a task without an attempt has no copy")
}

// A win against an attempt on a machine that is twice as slow is no evidence about other tasks: the machine was slow. The
// saving counts, and a lost trial counts in full.
func TestAWinAgainstASlowMachineIsNoEvidence(t *testing.T) {
	for _, c := range []struct{ old, fresh, won float64 }{{1.9, 1, 1}, {2, 1, 0}, {5, 2.6, 1}, {5, 2.5, 0}, {0, 0, 1}} {
		task, idle := alike(100, 900), lastWave
		task.Attempts[0].Location, task.Fresh.Location = c.old, c.fresh
		var a restart.Trials
		var x restart.Trial
		a.Begin(&x, &task, &idle, restart.Copy)
		assert.Equal(t, c.won == 0, x.SlowMachine)
		b, y := a, x
		a.Finish(&x, 100*second, false)
		assert.InDelta(t, c.won, a.Won, 0, "%v", c)
		assert.Negative(t, a.Cost)
		assert.Equal(t, restart.Trial{}, x)
		b.Finish(&y, 100*second, true)
		b.Kill(&y, &restart.Task{Attempts: []restart.Attempt{attempt(1, 50, 50)}}, &idle, 0, false)
		assert.InDelta(t, 1, b.Lost, 0)

		task.Attempts = append(task.Attempts, attempt(1, 30, 70))
		var early restart.Trials
		z := restart.Trial{State: restart.CopyOnTrial, Copies: 1, SlowMachine: c.won == 0}
		early.Kill(&z, &task, &idle, 0, true)
		assert.InDelta(t, c.won, early.Won, 0, "a copy that replaces the old attempt")
	}
}

// Each trial ends exactly once: it is won, it is lost, or it has no result. After that no slot time is at risk, and
// the task has no trial.
func TestATrialComesOutOnce(t *testing.T) {
	const copied, again = restart.Copy, restart.Restart
	for name, c := range map[string]struct {
		action    restart.Action
		end       func(a *restart.Trials, x *restart.Trial)
		won, lost int
		cost      time.Duration
	}{
		"the copy wins": {copied, func(a *restart.Trials, x *restart.Trial) {
			a.Finish(x, 800*second, false)
		}, 1, 0, -100 * second},
		"the copy wins and saves nothing": {copied, func(a *restart.Trials, x *restart.Trial) { a.Finish(x, 1e4*second, false) }, 1, 0, 0},
		"the old attempt wins": {copied, func(a *restart.Trials, x *restart.Trial) {
			a.Finish(x, 130*second, true)
			kill(a, x, 30, false)
		}, 0, 1, 30 * second},
		"the copy is killed": {copied, func(a *restart.Trials, x *restart.Trial) {
			kill(a, x, 25, false)
		}, 0, 1, 25 * second},
		"the copy fails":       {copied, func(a *restart.Trials, x *restart.Trial) { a.Fail(x) }, 0, 0, 0},
		"the trial is dropped": {copied, func(a *restart.Trials, x *restart.Trial) { a.Drop(x) }, 0, 0, 0},
		"the copy takes the place of the old attempt, and is fast": {copied, func(a *restart.Trials, x *restart.Trial) {
			kill(a, x, 120, true)
			a.Finish(x, 499*second, false)
		}, 1, 0, -401 * second},
		"the copy takes the place of the old attempt, and is slow": {copied, func(a *restart.Trials, x *restart.Trial) {
			kill(a, x, 120, true)
			a.Finish(x, 500*second, false)
		}, 0, 1, 20 * second},
		"the new attempt takes less than half": {again, func(a *restart.Trials, x *restart.Trial) {
			a.Finish(x, 499*second, false)
		}, 1, 0, -401 * second},
		"the new attempt takes half": {again, func(a *restart.Trials, x *restart.Trial) {
			a.Finish(x, 500*second, false)
		}, 0, 1, 100 * second},
		"the old attempt had ended": {again, func(a *restart.Trials, x *restart.Trial) {
			a.Finish(x, 0, true)
		}, 0, 1, 100 * second},
		"the new attempt fails": {again, func(a *restart.Trials, x *restart.Trial) {
			a.Fail(x) // the trial of a restart goes on
			a.Finish(x, 600*second, false)
		}, 0, 1, 100 * second},
		"the restart is restarted": {again, func(a *restart.Trials, x *restart.Trial) {
			task := alike(60, 900)
			a.Begin(x, &task, &waiting, restart.Restart)
			assert.Equal(t, 60*second, a.AtRisk)
			a.Finish(x, 100*second, false)
		}, 1, 1, 100*second - 800*second},
		"one of two copies wins": {copied, func(a *restart.Trials, x *restart.Trial) {
			task := alike(130, 870)
			a.Begin(x, &task, &waiting, restart.Copy)
			assert.Equal(t, 40*second, a.AtRisk)
			a.Finish(x, 830*second, false)
			assert.Equal(t, 20*second, a.AtRisk)
			kill(a, x, 80, false)
		}, 1, 1, 80*second - 40*second},
	} {
		a, x := begun(c.action)
		c.end(&a, &x)
		assert.Equal(t, float64(c.won), a.Won, "won trials: %s", name)
		assert.Equal(t, float64(c.lost), a.Lost, "lost trials: %s", name)
		assert.Equal(t, c.cost, a.Cost, "cost: %s", name)
		assert.Zero(t, a.AtRisk, "nothing is at risk any more: %s", name)
		assert.Equal(t, restart.Trial{}, x, name)
		assert.Equal(t, time.Duration(min(c.lost, 1))*1000*second, a.Longest, name)
		before := a
		a.Finish(&x, second, false)
		kill(&a, &x, 1, false)
		a.Fail(&x)
		a.Drop(&x)
		assert.Equal(t, before, a, "%s: no trial runs any more", name)
	}
}

// kill kills an attempt of a silent task, which has run for the given seconds.
func kill(a *restart.Trials, x *restart.Trial, ran int, old bool) {
	task := restart.Task{Attempts: []restart.Attempt{{Elapsed: time.Duration(ran) * second}, {}}}
	a.Kill(x, &task, &waiting, 0, old)
}

// pair is a task with an old attempt of 130 s and a copy of 20 s. Both report; old and young are their remaining
// seconds.
func pair(old, young float64) restart.Task {
	t := alike(130, old)
	t.Attempts = append(t.Attempts, alike(20, young).Attempts...)
	return t
}

// If an old attempt is killed for its copy, the copy is recorded as won at once if it will almost surely win. In the
// end it is recorded as lost if it takes over half of the old attempt's time, or is given up.
func TestACopyThatReplacesTheOldAttemptCountsAsWon(t *testing.T) {
	replaced := func() (restart.Trials, restart.Trial) {
		a, x := begun(restart.Copy)
		late, y, task := a, x, pair(870, 600)
		late.Kill(&y, &task, &waiting, 0, true)
		assert.Zero(t, late.Won, "the copy may take over half of the old attempt's time")
		task = pair(870, 300)
		a.Kill(&x, &task, &waiting, 0, true)
		assert.Equal(t, [2]float64{1, 0}, [2]float64{a.Won, a.Lost})
		assert.True(t, x.Counted)
		return a, x
	}
	a, x := replaced()
	a.Finish(&x, 499*second, false)
	assert.Equal(t, [2]float64{1, 0}, [2]float64{a.Won, a.Lost}, "the trial is counted once")
	a, x = replaced()
	a.Finish(&x, 501*second, false)
	assert.Equal(t, [2]float64{0, 1}, [2]float64{a.Won, a.Lost})
	assert.Equal(t, restart.Trial{}, x)
	a, x = replaced()
	task := alike(50, 900)
	a.Begin(&x, &task, &waiting, restart.Copy)
	assert.Equal(t, [2]float64{0, 1}, [2]float64{a.Won, a.Lost})
	assert.False(t, x.Counted)
	a, x = replaced()
	a.Drop(&x)
	assert.Equal(t, [2]float64{1, 0}, [2]float64{a.Won, a.Lost}, "no result speaks against the copy")
}

// The more a killed copy is alike the old attempt, the larger is the part of a lost trial that is recorded for it. A
// copy that would take as long as other tasks shows nothing about its task. The time that the copy has run is a cost
// in each case.
func TestAKilledCopyIsLostOnlyIfItWasSlow(t *testing.T) {
	for _, c := range []struct {
		young       float64
		least, most float64
	}{{980, .99, 1}, {80, 0, .1}} {
		a, x := begun(restart.Copy)
		task := pair(870, c.young)
		a.Kill(&x, &task, &waiting, 1, false)
		assert.Equal(t, restart.Trial{}, x)
		assert.True(t, c.least <= a.Lost && a.Lost <= c.most, "the lost trial counts %v", a.Lost)
		assert.Equal(t, 20*second, a.Cost)
	}
	a, x := begun(restart.Copy)
	before, task := a, pair(870, 80)
	a.Kill(&x, &task, &waiting, 2, false)
	a.Kill(&x, &task, &waiting, -1, false)
	assert.Equal(t, before, a, "the task has no such attempt")
}

// A killed copy is compared with the old attempt, not with another copy: two fast copies show nothing about the task, and a
// copy that is as slow as the old attempt shows that the task is long.
func TestAKilledCopyIsComparedWithTheOldAttempt(t *testing.T) {
	lost := func(copies ...restart.Attempt) float64 {
		task := alike(170, 1900)
		var account restart.Trials
		var x restart.Trial
		account.Begin(&x, &task, &waiting, restart.Copy)
		task.Attempts = append(task.Attempts, copies[0])
		account.Begin(&x, &task, &waiting, restart.Copy)
		task.Attempts = append(task.Attempts, copies[1])
		account.Kill(&x, &task, &waiting, 1, false)
		return account.Lost
	}
	assert.Greater(t, lost(attempt(1, 60, 1900), attempt(2, 20, 80)), .99, "the copy is as slow as the old attempt")
	assert.Less(t, lost(attempt(1, 20, 80), attempt(2, 60, 60)), .1, "both copies are fast")
}

// A copy counts as won at once by the roles of the two attempts, also if both have the same age.
func TestTheRolesOfTwoAttemptsDoNotDependOnTheirAges(t *testing.T) {
	for _, ages := range [][2]float64{{100, 100}, {100, 101}, {101, 100}} {
		won := func(old, copied float64) float64 {
			task := alike(ages[0], old)
			var account restart.Trials
			var x restart.Trial
			account.Begin(&x, &task, &waiting, restart.Copy)
			task.Attempts = append(task.Attempts, attempt(1, ages[1], copied))
			account.Kill(&x, &task, &waiting, 0, true)
			return account.Won
		}
		assert.Equal(t, 1.0, won(900, 100), "%v", ages)
		assert.Zero(t, won(100, 900), "%v", ages)
	}
}

// If the old attempt ends the task, its copy counts as lost in full, whatever was predicted before.
func TestAnOvertakenCopyCountsAsLost(t *testing.T) {
	for _, left := range []float64{870, 60, 5} {
		task := alike(130, left)
		var account restart.Trials
		var x restart.Trial
		account.Begin(&x, &task, &waiting, restart.Copy)
		task.Attempts = append(task.Attempts, attempt(1, 20, 100))
		account.Finish(&x, 130*second, true)
		account.Kill(&x, &task, &waiting, 1, false)
		assert.Equal(t, 1.0, account.Lost, "predicted %v s more", left)
	}
}
