package restart_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
)

// several is a task with three attempts: the first has run longest, the second has done most.
func several() restart.Task {
	return restart.Task{Attempts: []restart.Attempt{
		{Elapsed: 90 * time.Second, Remaining: estimate.Unknown, Done: 1},
		{Elapsed: 60 * time.Second, Remaining: estimate.Unknown, Done: 5},
		{Elapsed: 30 * time.Second, Remaining: estimate.Unknown, Done: 2},
	}}
}

// Limits protect the oldest and the furthest of several attempts from a restart, and a single attempt is restarted.
func TestHoldSparesTheOldestAndTheFurthest(t *testing.T) {
	p := restart.Phase{Interval: time.Second, Limits: restart.Limits{LossShare: restart.Off}}
	for attempt, want := range []restart.Reason{restart.FurthestOn, restart.FurthestOn, restart.FreshSooner} {
		d := restart.Decision{Action: restart.Restart, Reason: restart.FreshSooner, Attempt: attempt}
		assert.Equal(t, want, restart.Hold(d, several(), p).Reason, "attempt %d", attempt)
	}
	one := several()
	one.Attempts = one.Attempts[:1]
	d := restart.Decision{Action: restart.Restart, Reason: restart.FreshSooner}
	assert.Equal(t, d, restart.Hold(d, one, p))
	one.NoRestart = true
	assert.Equal(t, restart.NotRestartable, restart.Hold(d, one, p).Reason, "the first reason is told")
	three := several()
	three.NoRestart = true
	assert.Equal(t, restart.NotRestartable, restart.Hold(d, three, p).Reason, "the first reason is told")
}

// In a stuck phase a restart risks nothing, because no slot becomes free without it. A copy risks its stake there, too.
func TestOnlyARestartIsFreeInAStuckPhase(t *testing.T) {
	task := several()
	task.Attempts, task.Longest = task.Attempts[:1], 10*time.Second
	for idle, want := range map[time.Duration]bool{39 * time.Second: false, 40 * time.Second: true} {
		p := restart.Phase{
			Interval: time.Second, Tasks: 1, Idle: idle, Trials: restart.Trials{Cost: time.Hour},
			Limits: restart.Limits{Restarts: 3, Copies: 3},
		}
		for _, action := range []restart.Action{restart.Restart, restart.Copy} {
			free := want && action == restart.Restart
			d := restart.Hold(restart.Decision{Action: action, Reason: restart.FreshSooner}, task, p)
			assert.Equal(t, free, d.Action == action, "%v after %v", action, idle)
			var account restart.Trials
			var trial restart.Trial
			account.Begin(&trial, &task, &p, action)
			assert.Equal(t, free, account.AtRisk == 0, "%v after %v", action, idle)
		}
	}
}

// After a pause since the last copy the youngest of several attempts must still have run for as long.
func TestTheYoungestAttemptMustSettle(t *testing.T) {
	pause := 2 * time.Second // of two report periods, for both policies
	for _, policy := range []restart.Policy{restart.LeastCost{}, restart.Mantri{FastestKept: 3}} {
		for _, c := range []struct {
			since, youngest time.Duration
			want            bool
		}{
			{pause, pause - 1, true}, {pause, pause, false}, {pause - 1, pause, true}, {pause + 1, pause - 1, true}, {0, pause - 1, true},
			{0, pause, false},
		} {
			task := restart.Task{SinceCopy: c.since, Fresh: estimate.Fresh{UnitTime: policytest.Certain(10), Work: 1}, Attempts: []restart.Attempt{
				{Elapsed: 100 * time.Second, Remaining: 1000 * time.Second, Left: policytest.Certain(1000), Basis: restart.ByProgress, Done: 1},
				{Elapsed: c.youngest, Remaining: estimate.Unknown},
			}}
			p := restart.Phase{Interval: time.Second, Tasks: 1000, FreeSlots: 5, Slots: 10}
			d := policy.Decide(task, p)
			assert.Equal(t, c.want, d.Reason == restart.CopyTooRecent, "%T, %+v: %v", policy, c, d)
		}
	}
}
