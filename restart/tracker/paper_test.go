package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// late543 is the example of LATE §5.4.3: ten fast machines that need a minute a task, X that needs 2.9 and Y that needs
// 10; 32 tasks, one slot each.
func late543(t *testing.T, policy restart.Policy) time.Duration {
	s := newSim(t, tracker.Config{Tasks: 32, Machines: 12, Interval: 6 * time.Second, Policy: policy},
		func(_, _, machine int) time.Duration {
			switch machine {
			case 10:
				return 174 * time.Second
			case 11:
				return 10 * minute
			}
			return minute
		})
	return s.run(t)
}

func TestLATE543SlowNodeThreshold(t *testing.T) {
	without := late543(t, rules.LATE{SlowNode: restart.Off})
	with := late543(t, rules.LATE{})
	assert.Equal(t, 348*time.Second, without, "5.8 min: X, free at 2.9, takes the copy of the task on Y")
	assert.Equal(t, 4*minute, with, "4.0 min: a fast machine, free at 3, takes it")
	assert.InDelta(t, 0.45, without.Minutes()/with.Minutes()-1, 0.005, "45% faster")
	assert.Equal(t, 10*minute, late543(t, restart.Never{}))
}

// reducers is a phase of 100 reducers, of which some have finished and the others are about to end the copy subphase,
// which counts a third of the score. The finished ones' slots are free.
func reducers(t *testing.T, finished int, policy restart.Policy) (tr *tracker.Tracker, copies int) {
	tr, err := tracker.New(tracker.Config{
		Tasks: 100, Slots: 100, Machines: 200, Interval: 10 * time.Second, Policy: policy,
	})
	require.NoError(t, err)
	for i := range 100 {
		require.Zero(t, tr.Start(start, i, i))
	}
	now := start.Add(2 * minute)
	for i := range finished {
		tr.Finish(now, i, 0)
	}
	for i := finished; i < 100; i++ {
		tr.Report(now, i, 0, tracker.Report{Score: 1. / 3})
	}
	tr.Sweep(now, func(tracker.Answer) {})
	for range 100 {
		machine := 100 + copies
		a := tr.Next(now, machine)
		if a.Action != restart.Duplicate || tr.Phase().FreeSlots == 0 {
			break
		}
		tr.Start(now, a.Task, machine)
		copies++
	}
	return tr, copies
}

// With 30 of 100 finished the mean is 0.3 + 0.7/3 = 53%, and a third is 20% behind it: from then on every reducer that still
// copies is taken for slow, until the slots are full. LATE stops at its cap.
func TestLATE32NativeRuleSpeculatesOnAll(t *testing.T) {
	tr, copies := reducers(t, 29, rules.Hadoop{})
	assert.InDelta(t, 0.527, tr.Phase().Peers.MeanScore, 0.001)
	assert.Zero(t, copies)
	_, copies = reducers(t, 30, rules.Hadoop{})
	assert.Equal(t, 30, copies, "all free slots")
	_, copies = reducers(t, 31, rules.LATE{SlowTask: 1, SlowNode: restart.Off})
	assert.Equal(t, 10, copies, "10% of the slots")
}
