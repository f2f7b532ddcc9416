package rules_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// lasting is a task whose attempt still needs the given time, while a new attempt takes 100 s on average.
func lasting(remaining time.Duration) restart.Task {
	task := aged(1)
	task.Attempts[0].Remaining, task.Attempts[0].Basis = remaining, restart.ByProgress
	task.Fresh = estimate.Fresh{UnitTime: values(50, 150), Work: 1}
	return task
}

func TestESEBar(t *testing.T) {
	const bar = 170710678119 * time.Nanosecond // (1+√2/2) 100 s
	waits, full := idle, idle
	waits.Waiting, full.FreeSlots = 1, 0
	for _, c := range []struct {
		policy restart.Policy
		left   time.Duration
		phase  restart.Phase
		want   restart.Reason
	}{
		{rules.SDA{}, bar, idle, restart.NotSlow},
		{rules.SDA{}, bar + 1, idle, restart.FreshSooner},
		{rules.SDA{}, bar + 1, waits, restart.TasksWaiting},
		{rules.SDA{}, bar, waits, restart.NotSlow},
		{rules.ESE{}, bar, waits, restart.NotSlow},
		{rules.ESE{}, bar + 1, waits, restart.FreshSooner},
		{rules.ESE{}, bar + 1, full, restart.NoFreeSlot},
		{rules.ESE{Multiplier: 3}, 300 * time.Second, waits, restart.NotSlow},
		{rules.SDA{Multiplier: 0.5}, 51 * time.Second, idle, restart.FreshSooner},
		{rules.SDA{}, estimate.Unknown, idle, restart.NoEstimate},
	} {
		d := c.policy.Decide(lasting(c.left), c.phase)
		assert.Equal(t, c.want, d.Reason, "%#v: %v", c.policy, d)
		assert.Equal(t, c.want == restart.FreshSooner, d.Action == restart.Copy)
		assert.Equal(t, restart.ByProgress, d.Basis)
	}
	assert.Equal(t, "copy fresh-sooner basis=progress remaining=200s fresh=100s bar=170.711s gain=100s avoid=3",
		rules.ESE{}.Decide(lasting(200*time.Second), idle).String())
	assert.Zero(t, rules.SDA{Multiplier: 0.5}.Decide(lasting(51*time.Second), idle).Gain)
	unknown := lasting(200 * time.Second)
	unknown.Fresh = estimate.Fresh{}
	assert.Equal(t, restart.NoEstimate, rules.SDA{}.Decide(unknown, idle).Reason)
}

// With run times that are Pareto of index 2, the default bar is the smallest remaining time at which a copy saves
// slot time. For each remaining time, one copy saves more slot time than two copies.
func TestESEBarIsWhereACopyPaysOff(t *testing.T) {
	used := func(left float64, copies int) float64 { // for run times of at least 1/2 with mean 1, as a sum over quantiles
		const n = 100_000
		index, sum := 2*float64(copies), 0.0
		for i := range n {
			sum += min(left, 0.5*math.Pow((float64(i)+0.5)/n, -1/index))
		}
		return float64(copies+1) * sum / n
	}
	bar := rules.SDA{}.Effective().Multiplier
	assert.InDelta(t, bar, used(bar, 1), 1e-4)
	for _, left := range []float64{0.6, 1, bar - 0.01} {
		assert.Greater(t, used(left, 1), left)
	}
	for _, left := range []float64{bar + 0.01, 3, 20} {
		assert.Less(t, used(left, 1), left)
		assert.Less(t, used(left, 1), used(left, 2))
	}
}
