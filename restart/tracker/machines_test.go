package tracker_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// seenBy is a policy that keeps the distribution of the machine that asks.
type seenBy struct{ of *estimate.Distribution }

func (s seenBy) Decide(_ restart.Task, p restart.Phase) restart.Decision {
	if p.Peers.Machine.Of != nil {
		*s.of = p.Peers.Machine.Of
	}
	return restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot}
}

// Machines that never appeared have made no progress. They count as if each were listed.
func TestMachinesThatNeverAppearedCount(t *testing.T) {
	for _, machines := range []int{0, 4, 5, 13, 100} {
		var of estimate.Distribution
		tr := newTracker(t, tracker.Config{
			Tasks: 7, Slots: 20, Machines: machines, Interval: time.Second, Policy: seenBy{of: &of}, Limits: published,
		})
		var all estimate.Empirical
		for task := range 7 {
			tr.Start(at(0), task, task)
			score := float64(task+1) / 16
			tr.Report(at(1), task, 0, tracker.Report{Score: score})
			all.Insert(score)
		}
		tr.Next(at(1), 50)
		for range machines - 7 {
			all.Insert(0)
		}
		require.NotNil(t, of, "%d", machines)
		assert.InDelta(t, all.Mean(), of.Mean(), 1e-12)
		for i := range 41 {
			p := float64(i-2) / 36
			assert.Equal(t, all.Quantile(p), of.Quantile(p), "%d machines, %v", machines, p)
			assert.InDelta(t, all.CDF(p/2), of.CDF(p/2), 1e-12, "%d machines, %v", machines, p)
		}
	}
}

// The number of machines costs nothing before they are used.
func TestManyMachinesCostNothing(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 4, Slots: 4, Machines: 1 << 30, Policy: rules.LATE{}})
	text, err := tr.MarshalBinary()
	require.NoError(t, err)
	assert.Less(t, len(text), 1000)
	_, err = tracker.Restore(tracker.Config{}, text)
	assert.NoError(t, err)
	assert.False(t, math.IsNaN(tr.Phase().Peers.MeanScore))
}
