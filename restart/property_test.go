package restart_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// If Mantri kills one attempt after another, it kills each attempt that has had its time, and that FastestKept other
// attempts outrun. Two attempts are spared: the attempt that has run longest, and the attempt that has done most.
func TestKillsAllButTheFastest(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	pruned := 0
	for range 20000 {
		m := restart.Mantri{FastestKept: rng.IntN(4), CopyPause: float64(rng.IntN(4))}
		p := restart.Phase{Interval: time.Duration(rng.IntN(4)-1) * time.Second, Waiting: rng.IntN(2)}
		attempts := make([]restart.Attempt, rng.IntN(7))
		for i := range attempts {
			attempts[i] = restart.Attempt{
				Machine: i, Elapsed: time.Duration(rng.IntN(8)-1) * time.Second, Remaining: time.Duration(rng.IntN(5)-1) * time.Second,
			}
			if rng.IntN(5) == 0 {
				attempts[i].Remaining = estimate.Unknown
			}
			attempts[i].Done = float64(rng.IntN(3))
		}
		want := surplus(m.Effective(), attempts, max(p.Interval, 0))
		pruned += len(want)
		task := restart.Task{Attempts: slices.Clone(attempts), Fresh: fresh(1e9)}
		var got []int
		for {
			d := m.Decide(task, p)
			if d.Action != restart.Kill {
				break
			}
			got = append(got, task.Attempts[d.Attempt].Machine)
			task.Attempts = slices.Delete(task.Attempts, d.Attempt, d.Attempt+1)
		}
		require.True(t, len(task.Attempts) > 0 || len(attempts) == 0)
		slices.Sort(got)
		require.Equal(t, len(want), len(got), "%+v kills another number of %+v", m, attempts)
		require.True(t, slices.Equal(want, got), "%+v kills of %+v the attempts %v, want %v", m, attempts, got, want)
	}
	assert.Greater(t, pruned, 1000)
}

// A larger t_rem of any attempt never turns Restart into Keep, and a larger t_new never turns Keep into Restart.
func TestDecideIsMonotoneInEachAttempt(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	restarts := 0
	for range 50000 {
		m := restart.Mantri{FastestKept: rng.IntN(4), CopyPause: float64(rng.IntN(3)), RaisedBar: float64(rng.IntN(2))}
		p := restart.Phase{Interval: time.Duration(rng.IntN(3)) * time.Second, Waiting: rng.IntN(2), FreeSlots: rng.IntN(2)}
		task := restart.Task{Restarts: rng.IntN(4), SinceCopy: time.Duration(rng.IntN(5)) * time.Second}
		for i := range 1 + rng.IntN(3) {
			task.Attempts = append(task.Attempts, restart.Attempt{
				Machine: i, Elapsed: time.Duration(rng.IntN(8)) * time.Second, Remaining: time.Duration(rng.IntN(30)-1) * time.Second,
			})
			if rng.IntN(6) == 0 {
				task.Attempts[i].Remaining = estimate.Unknown
			}
		}
		mean := float64(rng.IntN(20))
		task.Fresh = fresh(mean)
		d := m.Decide(task, p)
		switch d.Action {
		case restart.Keep:
			task.Fresh = fresh(mean + float64(rng.IntN(20)))
			require.NotEqual(t, restart.Restart, m.Decide(task, p).Action, "%+v %+v %+v", m, task, p)
		case restart.Restart:
			restarts++
			if c := &task.Attempts[rng.IntN(len(task.Attempts))]; c.Remaining != estimate.Unknown {
				c.Remaining += time.Duration(rng.IntN(30)) * time.Second
			}
			require.NotEqual(t, restart.Keep, m.Decide(task, p).Action, "%+v %+v %+v", m, task, p)
		}
	}
	assert.Greater(t, restarts, 1000)
}

// surplus lists the attempts to kill by the words of the rule: sorted by speed, the attempts after the first
// FastestKept.
func surplus(m restart.Mantri, attempts []restart.Attempt, interval time.Duration) (kill []int) {
	order := make([]int, len(attempts))
	for i := range order {
		order[i] = i
	}
	left := func(c restart.Attempt) float64 {
		if c.Remaining == estimate.Unknown {
			return math.Inf(1)
		}
		return c.Remaining.Seconds()
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := attempts[i], attempts[j]
		return cmp.Or(cmp.Compare(left(a), left(b)), cmp.Compare(b.Elapsed, a.Elapsed))
	})
	older := func(a, b restart.Attempt) int {
		return cmp.Or(cmp.Compare(b.Elapsed, a.Elapsed), cmp.Compare(b.Done, a.Done))
	}
	further := func(a, b restart.Attempt) int {
		return cmp.Or(cmp.Compare(b.Done, a.Done), cmp.Compare(b.Elapsed, a.Elapsed))
	}
	for rank, i := range order {
		first := func(by func(a, b restart.Attempt) int) bool {
			return slices.IndexFunc(attempts, func(c restart.Attempt) bool { return by(c, slices.MinFunc(attempts, by)) == 0 }) == i
		}
		if first(older) || first(further) {
			continue
		}
		pause := interval
		if attempts[i].Remaining == estimate.Unknown {
			pause = max(interval, time.Duration(m.CopyPause*float64(interval)))
		}
		if rank >= m.FastestKept && attempts[i].Elapsed >= pause {
			kill = append(kill, i)
		}
	}
	slices.Sort(kill)
	return kill
}

// The limits protect the attempt with the most work behind it, including work that it found already done. The oldest
// attempt may be killed for an attempt that has done more, as often as a task may be restarted.
func TestLimitsSpareTheAttemptThatHasDoneMost(t *testing.T) {
	task := restart.Task{Attempts: []restart.Attempt{
		{Elapsed: 30 * time.Second, Done: 0.7}, {Elapsed: 20 * time.Second, Done: 0.2, Resumed: 0.6}, {Elapsed: 10 * time.Second, Done: 0.3},
	}}
	for i, want := range []restart.Action{restart.Kill, restart.Keep, restart.Kill} {
		d := restart.Hold(restart.Decision{Action: restart.Kill, Attempt: i}, task, restart.Phase{})
		assert.Equal(t, want, d.Action, "attempt %d", i)
	}
	task.Restarts = 3
	assert.Equal(t, restart.FurthestOn, restart.Hold(restart.Decision{Action: restart.Kill}, task, restart.Phase{}).Reason)
	for action, want := range map[restart.Action]restart.Reason{restart.Restart: restart.NotRestartable, restart.Copy: restart.NotEligible} {
		one := restart.Task{Attempts: task.Attempts[:1], NoRestart: true, NoCopy: true}
		d := restart.Hold(restart.Decision{Action: action, Reason: restart.FreshSooner}, one, restart.Phase{})
		assert.Equal(t, want, d.Reason)
	}
}
