package restart_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// begun is an account of one trial that has begun: of a task whose attempt has run for 100 s, reports, and has about
// 900 s left, while others took some 96 s.
func begun(action restart.Action) (a restart.Trials, x restart.Trial) {
	task := alike(100, 900)
	a.Begin(&x, &task, &waiting, action)
	return a, x
}

// A copy puts two report periods at risk, and a restart what it throws away.
func TestBeginPutsAStakeAtRisk(t *testing.T) {
	a, x := begun(restart.Copy)
	assert.Equal(t, restart.Trials{AtRisk: 20 * second}, a)
	assert.Equal(t, restart.Trial{
		Action: restart.Copy, Copies: 1, Stake: 20 * second, Left: 900 * second, Whole: 1000 * second, Typical: 96 * second,
	}, x)
	a, x = begun(restart.Restart)
	assert.Equal(t, 100*second, a.AtRisk)
	assert.Equal(t, 100*second, x.Stake)

	var unknown restart.Trial
	a = restart.Trials{}
	silent := restart.Task{Attempts: []restart.Attempt{{Elapsed: 40 * second, Remaining: estimate.Unknown}}}
	a.Begin(&unknown, &silent, &waiting, restart.Copy)
	assert.Equal(t, 60*second, a.AtRisk, "one and a half of the least that an attempt takes")
	a.Begin(&unknown, &restart.Task{}, &waiting, restart.Copy)
	assert.Equal(t, 60*second, a.AtRisk, "there is nothing to copy")
}

// Each trial comes out once: it is won, lost, or says nothing. Nothing is at risk then, and the task's trial is over.
func TestTrialsComeOutOnce(t *testing.T) {
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
		"at most four typical times are saved": {
			copied, func(a *restart.Trials, x *restart.Trial) { a.Finish(x, 100*second, false) }, 1, 0, -4 * 96 * second,
		},
		"it saves nothing": {copied, func(a *restart.Trials, x *restart.Trial) { a.Finish(x, 1e4*second, false) }, 1, 0, 0},
		"the old attempt wins": {copied, func(a *restart.Trials, x *restart.Trial) {
			a.Finish(x, 130*second, true)
			kill(a, x, 30, false)
		}, 0, 1, 30 * second},
		"the copy is killed": {copied, func(a *restart.Trials, x *restart.Trial) {
			kill(a, x, 25, false)
		}, 0, 1, 25 * second},
		"the copy fails": {copied, func(a *restart.Trials, x *restart.Trial) { a.Fail(x) }, 0, 0, 0},
		"it is dropped":  {copied, func(a *restart.Trials, x *restart.Trial) { a.Drop(x) }, 0, 0, 0},
		"the copy takes the place of the old attempt, and is fast": {copied, func(a *restart.Trials, x *restart.Trial) {
			kill(a, x, 120, true)
			a.Finish(x, 499*second, false)
		}, 1, 0, -4 * 96 * second},
		"the copy takes the place of the old attempt, and is slow": {copied, func(a *restart.Trials, x *restart.Trial) {
			kill(a, x, 120, true)
			a.Finish(x, 500*second, false)
		}, 0, 1, 20 * second},
		"the new attempt takes less than half": {again, func(a *restart.Trials, x *restart.Trial) {
			a.Finish(x, 499*second, false)
		}, 1, 0, -4 * 96 * second},
		"the new attempt takes half": {again, func(a *restart.Trials, x *restart.Trial) {
			a.Finish(x, 500*second, false)
		}, 0, 1, 100 * second},
		"the old attempt had ended": {again, func(a *restart.Trials, x *restart.Trial) {
			a.Finish(x, 0, true)
		}, 0, 1, 100 * second},
		"the new attempt fails": {again, func(a *restart.Trials, x *restart.Trial) {
			a.Fail(x) // the task is as slow as it was
			a.Finish(x, 600*second, false)
		}, 0, 1, 100 * second},
		"the restart is restarted": {again, func(a *restart.Trials, x *restart.Trial) {
			task := alike(60, 900)
			a.Begin(x, &task, &waiting, restart.Restart)
			assert.Equal(t, 60*second, a.AtRisk)
			a.Finish(x, 100*second, false)
		}, 1, 1, 100*second - 4*96*second},
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
		assert.Equal(t, float64(c.won), a.Won, name)
		assert.Equal(t, float64(c.lost), a.Lost, name)
		assert.Equal(t, c.cost, a.Cost, name)
		assert.Zero(t, a.AtRisk, name)
		assert.Equal(t, restart.Trial{Lost: c.lost}, x, name)
		assert.Equal(t, time.Duration(min(c.lost, 1))*1000*second, a.Longest, name)
		before := a
		a.Finish(&x, second, false)
		kill(&a, &x, 1, false)
		a.Fail(&x)
		a.Drop(&x)
		assert.Equal(t, before, a, "%s: nothing runs", name)
	}
}

// kill tells of an attempt of a silent task, which has run for so many seconds.
func kill(a *restart.Trials, x *restart.Trial, ran int, old bool) {
	task := restart.Task{Attempts: []restart.Attempt{{Elapsed: time.Duration(ran) * second}, {}}}
	a.Kill(x, &task, &waiting, 0, old)
}

// pair is a task of which an old attempt, of 130 s, and a copy, of 20 s, report what they still need.
func pair(old, young float64) restart.Task {
	t := alike(130, old)
	t.Attempts = append(t.Attempts, alike(20, young).Attempts...)
	return t
}

// A copy for which an old attempt was killed counts as won from then on if it will surely win. It counts as lost in the end
// if it takes over half of what the old attempt would have taken, or is given up in turn.
func TestTheCopyThatReplacesCountsAsWon(t *testing.T) {
	replaced := func() (restart.Trials, restart.Trial) {
		a, x := begun(restart.Copy)
		late, y, task := a, x, pair(870, 600)
		late.Kill(&y, &task, &waiting, 0, true)
		assert.Zero(t, late.Won, "it may take over half")
		task = pair(870, 300)
		a.Kill(&x, &task, &waiting, 0, true)
		assert.Equal(t, [2]float64{1, 0}, [2]float64{a.Won, a.Lost})
		assert.True(t, x.Counted)
		return a, x
	}
	a, x := replaced()
	a.Finish(&x, 499*second, false)
	assert.Equal(t, [2]float64{1, 0}, [2]float64{a.Won, a.Lost}, "it is counted once")
	a, x = replaced()
	a.Finish(&x, 501*second, false)
	assert.Equal(t, [2]float64{0, 1}, [2]float64{a.Won, a.Lost})
	assert.Equal(t, restart.Trial{Lost: 1}, x)
	a, x = replaced()
	task := alike(50, 900)
	a.Begin(&x, &task, &waiting, restart.Copy)
	assert.Equal(t, [2]float64{0, 1}, [2]float64{a.Won, a.Lost})
	assert.False(t, x.Counted)
	a, x = replaced()
	a.Drop(&x)
	assert.Equal(t, [2]float64{1, 0}, [2]float64{a.Won, a.Lost}, "nothing speaks against it")
}

// A copy that is killed counts as lost only by what it has shown: one that would take what others take says nothing of its task,
// whatever it was killed for. It costs what it has run all the same.
func TestALostTrialCountsByThePair(t *testing.T) {
	for _, c := range []struct {
		young       float64
		lost        int
		least, most float64
	}{{980, 1, 1, 1}, {80, 0, 0, .1}} {
		a, x := begun(restart.Copy)
		task := pair(870, c.young)
		a.Kill(&x, &task, &waiting, 1, false)
		assert.Equal(t, restart.Trial{Lost: c.lost}, x)
		assert.True(t, c.least <= a.Lost && a.Lost <= c.most, "%v", a.Lost)
		assert.Equal(t, 20*second, a.Cost)
	}
	a, x := begun(restart.Copy)
	before, task := a, pair(870, 80)
	a.Kill(&x, &task, &waiting, 2, false)
	a.Kill(&x, &task, &waiting, -1, false)
	assert.Equal(t, before, a, "the task has no such attempt")
}
