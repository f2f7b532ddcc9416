package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/tracker"
)

// leaving returns a phase without progress. Ten tasks have ended after 10 s each. Another task begins at 10 s on
// machine 5, which leaves after the given notice.
func leaving(t *testing.T, policy restart.Policy, notice time.Duration) *tracker.Tracker {
	t.Helper()
	tr := newTracker(t, tracker.Config{Tasks: 20, Slots: 12, Machines: 6, Interval: time.Second, Policy: policy})
	for task := range 10 {
		tr.Start(at(0), task, task%5)
	}
	for task := range 10 {
		tr.Finish(at(10), task, 0)
	}
	tr.Leave(at(10), 5, at(10).Add(notice))
	require.Zero(t, tr.Start(at(10), 10, 5))
	return tr
}

// A machine will leave in an hour, and its tasks take 10 s. No policy copies a task for that reason, with or without
// reports, even before the task's own first report.
func TestLongNoticeCopiesNothing(t *testing.T) {
	for name, policy := range policytest.Policies() {
		for _, reports := range []bool{false, true} {
			tr := leaving(t, policy, time.Hour)
			if reports {
				tr.Start(at(10), 11, 1)
				tr.Report(at(11), 11, 0, tracker.Report{Done: 0.1})
			}
			for second := 11; second <= 19; second++ {
				a := tr.Decide(at(float64(second)), 10)
				assert.NotEqual(t, restart.Leaving, a.Reason, "%s: %v", name, a)
			}
		}
	}
}

// A machine leaves in 7 s, and its task takes 10 s. The task gets a copy. After an hour's notice, a hung task gets a
// copy once the machine stays for less than four times the age of the attempt: by ages, an attempt that outlives all
// others is expected to need four times its age.
func TestShortNoticeCopies(t *testing.T) {
	for name, policy := range policytest.Policies() {
		a := leaving(t, policy, 7*time.Second).Decide(at(11), 10)
		assert.Equal(t, restart.Copy, a.Action, "%s: %v", name, a)
		if name == "late-early" {
			continue // the policy has its own reason
		}
		assert.Equal(t, restart.Leaving, a.Reason, "%s: %v", name, a)
		assert.Equal(t, 6*time.Second, a.Bar, name)
		assert.InDelta(t, 9, a.Remaining.Seconds(), 1e-6, "%s: %v", name, a)
	}
	tr := leaving(t, restart.Never{}, time.Hour)
	assert.Equal(t, restart.Keep, tr.Decide(at(729), 10).Action)
	assert.Equal(t, restart.Leaving, tr.Decide(at(731), 10).Reason)
}

// Before any task has ended, no run time is known, and a task on a machine that leaves gets a copy. Later, a task with
// twice the work is expected to take twice as long.
func TestNoticeCountsTheWork(t *testing.T) {
	tr := newTracker(t, tracker.Config{Work: []float64{1, 1, 1, 2}, Slots: 8, Machines: 4, Interval: time.Second, Policy: restart.Never{}})
	for task := range 4 {
		tr.Start(at(0), task, task)
	}
	tr.Leave(at(1), 2, at(21))
	tr.Leave(at(1), 3, at(19))
	a := tr.Decide(at(1), 2)
	assert.Equal(t, restart.Leaving, a.Reason)
	assert.Equal(t, estimate.Unknown, a.Remaining)
	tr.Finish(at(10), 0, 0)
	assert.Equal(t, restart.Keep, tr.Decide(at(10), 2).Action, "the task is expected to take as long again as it has run")
	assert.Equal(t, restart.Leaving, tr.Decide(at(10), 3).Reason, "a task of twice the work is expected to take 20 s")
}
