package restart_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// queued returns a tracker of four tasks of which two have finished after 10 s each, and task 2 lags far behind.
func queued(t *testing.T, policy restart.Policy) *restart.Tracker {
	t.Helper()
	tracker := newTracker(t, restart.Config{Tasks: 4, Slots: 4, Machines: 4, Interval: 5 * time.Second, Policy: policy})
	for task := range 4 {
		require.Zero(t, tracker.Start(at(0), task, task))
	}
	for _, task := range []int{0, 1, 3} {
		tracker.Report(at(5), task, 0, restart.Progress{Done: 0.5})
		tracker.Finish(at(10), task, 0, nil)
	}
	return tracker
}

// A copy that waits in the engine's queue holds its slot, is neither judged nor made again, and its age counts from its
// begin.
func TestSubmittedCopyIsNotDuplicatedAgain(t *testing.T) {
	tracker := queued(t, nil)
	require.Equal(t, restart.Duplicate, tracker.Report(at(20), 2, 0, restart.Progress{Done: 0.02}).Action)
	require.Equal(t, 1, tracker.Submit(at(20), 2, -1))
	assert.Equal(t, 1, tracker.Phase().Speculative)
	assert.Equal(t, 2, tracker.Phase().FreeSlots)
	for s := 25.; s <= 120; s += 5 {
		d := tracker.Report(at(s), 2, 0, restart.Progress{Done: s / 1000})
		require.Equal(t, restart.Keep, d.Action, "%v s: %v", s, d)
		require.Equal(t, restart.CopyTooRecent, d.Reason, "%v s", s)
		task, d := tracker.Next(at(s), 0)
		require.Equal(t, -1, task, d)
	}
	tracker.Begin(at(120), 2, 1, 3)
	tracker.Report(at(125), 2, 1, restart.Progress{Done: 0.5}) // ends at 130 s, if it began at 120 s
	assert.Equal(t, 5*time.Second, tracker.Decide(at(125), 2).Remaining)
	assert.Equal(t, []int{0}, tracker.Finish(at(130), 2, 1, nil))
	l := tracker.Ledger()
	assert.Equal(t, 170*time.Second, l.Used, "three of 10 s, one of 130 s, and 10 s of the copy")
	assert.Equal(t, 1, l.Won)
	assert.Zero(t, l.Ignored)
}

// A task of whose copies none has begun is not judged, under any policy.
func TestSubmittedTaskIsNotJudged(t *testing.T) {
	for name, policy := range policies() {
		tracker := newTracker(t, restart.Config{Tasks: 8, Slots: 8, Interval: time.Second, Policy: everything{policy}})
		for task := range 7 {
			tracker.Start(at(0), task, -1)
		}
		assert.Equal(t, 0, tracker.Submit(at(0), 7, 5), name)
		assert.Equal(t, 0, tracker.Phase().Waiting, name)
		for task := range 7 {
			tracker.Report(at(5), task, 0, restart.Progress{Done: 0.5})
			tracker.Finish(at(10), task, 0, nil)
		}
		assert.Equal(t, 1., tracker.Phase().Peers.MeanScore, name)
		notRunning := restart.Decision{Reason: restart.NotRunning}
		assert.Equal(t, notRunning, tracker.Decide(at(1000), 7), name)
		tracker.Sweep(at(1000), func(task int, d restart.Decision) { t.Errorf("%s: sweep visits %d: %v", name, task, d) })
		task, d := tracker.Next(at(1000), 2)
		assert.Equal(t, -1, task, name)
		assert.Equal(t, restart.NothingToDo, d.Reason, name)
		assert.NotEqual(t, restart.NotRunning, tracker.Report(at(1001), 7, 0, restart.Progress{Done: 0.1}).Reason, "%s: begun", name)
	}
}

// What makes no sense changes nothing: the begin of a copy that has begun, has ended or never was.
func TestBeginIgnored(t *testing.T) {
	tracker := newTracker(t, restart.Config{Tasks: 2, Slots: 4, Machines: 4, Interval: time.Second})
	require.Zero(t, tracker.Submit(at(0), 0, 1))
	tracker.Begin(at(5), 0, 0, -1)
	assert.Zero(t, tracker.Ledger().Ignored)
	tracker.Begin(at(8), 0, 0, 2)  // has begun
	tracker.Begin(at(8), 0, 1, 2)  // there is no such attempt
	tracker.Begin(at(8), 1, 0, 2)  // nor here
	tracker.Begin(at(8), -1, 0, 2) // no such task
	assert.Equal(t, 4, tracker.Ledger().Ignored)
	assert.Empty(t, tracker.LoseMachine(at(8), 2, nil), "it runs where it was submitted for")
	tracker.Finish(at(9), 0, 0, nil)
	assert.Equal(t, 4*time.Second, tracker.Ledger().Used)
	tracker.Begin(at(9), 0, 0, 2)
	assert.Equal(t, -1, tracker.Submit(at(9), 0, 2), "the task has ended")
	assert.Equal(t, -1, tracker.Submit(at(9), 2, 2))
	assert.Equal(t, 7, tracker.Ledger().Ignored)
}

// A lost machine takes along what was queued for it, and what began on it, but not what was to run there and did not.
func TestLoseMachineOfQueuedCopies(t *testing.T) {
	tracker := newTracker(t, restart.Config{Tasks: 4, Slots: 8, Machines: 4, Interval: time.Second})
	tracker.Submit(at(0), 0, 1)
	tracker.Submit(at(0), 1, -1)
	tracker.Submit(at(0), 2, 1)
	tracker.Begin(at(1), 2, 0, 3)
	tracker.Submit(at(0), 3, -1)
	tracker.Begin(at(1), 3, 0, 1)
	assert.Equal(t, []int{0, 3}, tracker.LoseMachine(at(2), 1, nil))
	assert.Equal(t, 2, tracker.Phase().Waiting)
	l := tracker.Ledger()
	assert.Equal(t, 2, l.Failed)
	assert.Equal(t, time.Second, l.Used, "of task 3; nothing was used in the queue")
	// The machine was tried by both, so another task goes first on it; elsewhere the lowest index does.
	tracker.Kill(at(3), 1, 0)
	task, _ := tracker.Next(at(3), 1)
	assert.Equal(t, 1, task)
	task, _ = tracker.Next(at(3), 2)
	assert.Equal(t, 0, task)
}

// An attempt that never began may end in every way. Its time is no sample of anything, and costs nothing.
func TestEndsOfACopyThatNeverBegan(t *testing.T) {
	factors, err := estimate.NewMachines(4, estimate.MachinesConfig{})
	require.NoError(t, err)
	budget := newBudget(t, restart.BudgetConfig{Slots: 10})
	tracker := newTracker(t, restart.Config{
		Tasks: 6, Slots: 8, Machines: 4, Interval: time.Second, Factors: factors, Budget: budget,
		Policy: everything{restart.Mantri{}},
	})
	tracker.Start(at(0), 0, 0)
	tracker.Finish(at(10), 0, 0, nil)
	before := tracker.Phase().Peers
	for task := 1; task < 6; task++ {
		tracker.Submit(at(10), task, 3)
	}
	tracker.Submit(at(10), 1, 2)
	assert.Equal(t, 1, budget.Running())
	assert.Equal(t, []int{1}, tracker.Finish(at(50), 1, 0, nil))
	assert.Zero(t, budget.Running())
	tracker.Fail(at(50), 2, 0)
	tracker.Kill(at(50), 3, 0)
	tracker.Restart(at(50), 4, 0)
	assert.Equal(t, []int{5}, tracker.LoseMachine(at(50), 3, nil))

	after := tracker.Phase().Peers
	assert.Equal(t, 1, after.Durations.(*estimate.Empirical).Len())
	assert.Equal(t, 1, after.Rates.(*estimate.Empirical).Len())
	assert.Equal(t, 1, after.ProgressRates.(*estimate.Empirical).Len())
	assert.Equal(t, before.Throughput, after.Throughput)
	assert.Equal(t, 1, tracker.Rates().Samples())
	assert.Equal(t, 1., factors.Factor(3))
	assert.Equal(t, restart.Ledger{
		Started: 7, Finished: 2, Copies: 1, Lost: 1, Failed: 2, Pruned: 1, Restarts: 1, Used: 10 * time.Second,
	}, tracker.Ledger())
	p := tracker.Phase()
	assert.Equal(t, [3]int{2, 4, 8}, [3]int{p.Finished, p.Waiting, p.FreeSlots})
}

// The first wave are the tasks that run first, not those that are queued first: of a job array these are all.
func TestFirstWaveIsOfTasksThatRun(t *testing.T) {
	tracker := newTracker(t, restart.Config{Tasks: 3, Slots: 1, Rates: estimate.RatesConfig{MinSamples: 1}})
	for task := range 3 {
		tracker.Submit(at(0), task, -1)
	}
	tracker.Begin(at(0), 2, 0, 0)
	tracker.Finish(at(30), 2, 0, nil) // warming up
	tracker.Begin(at(30), 0, 0, 0)
	tracker.Finish(at(40), 0, 0, nil)
	assert.Equal(t, 1, tracker.Rates().Samples(), "the later task takes the place of the first")
	assert.Equal(t, 10., tracker.Rates().Mean())
}

// eager duplicates whatever it is asked about.
type eager struct{}

func (eager) Decide(restart.Task, restart.Phase) restart.Decision {
	return restart.Decision{Action: restart.Duplicate, Reason: restart.IdleSlot}
}

// A task that is left with a queued copy alone is no candidate for a slot, nor after the begin until it is judged.
func TestQueuedTaskIsNoCandidate(t *testing.T) {
	tracker := newTracker(t, restart.Config{Tasks: 1, Slots: 4, Interval: time.Second, Policy: eager{}})
	tracker.Start(at(0), 0, 0)
	tracker.Submit(at(0), 0, 1)
	require.Equal(t, restart.Duplicate, tracker.Decide(at(1), 0).Action)
	next := func() int {
		task, _ := tracker.Next(at(2), 2)
		return task
	}
	require.Equal(t, 0, next())
	tracker.Fail(at(2), 0, 0)
	assert.Equal(t, -1, next())
	tracker.Begin(at(2), 0, 1, -1)
	assert.Equal(t, -1, next())
	tracker.Decide(at(2), 0)
	assert.Equal(t, 0, next())
}
