package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Each rule decides on extreme facts, with these numbers.
func TestRulesOnExtremeFacts(t *testing.T) {
	var tens estimate.Empirical
	for range 8 {
		tens.Insert(10)
	}
	task := func(work float64) restart.Task {
		return restart.Task{Work: work, Attempts: []restart.Attempt{{Elapsed: 100 * time.Second, Score: .5, Remaining: estimate.Unknown}}}
	}
	phase := restart.Phase{Tasks: 10, Finished: 8, Slots: 10, FreeSlots: 1, Interval: time.Second}
	phase.Peers.Durations = &tens
	weighed, empty := phase, phase
	weighed.Peers.UnitTimes, empty.Tasks = &tens, 0
	beyond := restart.Decision{Action: restart.Copy, Reason: restart.BeyondPeers, Comparison: restart.Compare(restart.RunSeconds, 100, 15), Gain: 85 * time.Second}
	unit := beyond
	unit.Measure, unit.Value, unit.Gain = restart.UnitSeconds, 50, 70*time.Second // 35 s a unit, and two units
	for _, c := range []struct {
		policy restart.Policy
		task   restart.Task
		phase  restart.Phase
		want   restart.Decision
	}{
		{rules.Flink{}, task(0), phase, beyond},
		{rules.Flink{}, task(2), phase, beyond},
		{rules.Flink{}, task(2), weighed, unit},
		{rules.Flink{}, task(5e-324), weighed, restart.Decision{Reason: restart.NoEstimate}},
		{rules.Flink{}, task(0), empty, restart.Decision{Reason: restart.TooFewFinished, Comparison: restart.Compare(restart.FinishedShare, 0, .75)}},
		{rules.LATE{UseRemaining: true, SlowTask: restart.Off}, task(0), phase, restart.Decision{
			Action: restart.Copy, Reason: restart.LongestToEnd, Gain: 100 * time.Second, Remaining: 100 * time.Second,
		}},
	} {
		got := c.policy.Decide(c.task, c.phase)
		got.Avoid = restart.MachineSet{}
		assert.Equal(t, c.want, got, "%#v of work %v", c.policy, c.task.Work)
	}
}
