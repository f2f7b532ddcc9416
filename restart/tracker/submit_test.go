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

// queued returns a tracker of four tasks. Two have finished after 10 s each, and task 2 is far slower.
func queued(t *testing.T, policy restart.Policy) *tracker.Tracker {
	t.Helper()
	tr := newTracker(t, tracker.Config{Tasks: 4, Slots: 4, Machines: 4, Interval: 5 * time.Second, Policy: policy})
	for task := range 4 {
		require.Zero(t, tr.Start(at(0), task, task))
	}
	for _, task := range []int{0, 1, 3} {
		tr.Report(at(5), task, 0, tracker.Report{Done: 0.5})
	}
	for _, task := range []int{0, 1, 3} {
		tr.Finish(at(10), task, 0)
	}
	return tr
}

// A copy waits in the engine's queue. It occupies its slot, is not judged, and the task gets no second copy. Its age
// is 0 until its begin.
func TestASubmittedTaskGetsNoSecondCopy(t *testing.T) {
	tr := queued(t, restart.Mantri{})
	require.Equal(t, restart.Copy, tr.Report(at(20), 2, 0, tracker.Report{Done: 0.02}).Action)
	require.Equal(t, 1, tr.Submit(at(20), 2, -1))
	assert.Equal(t, 1, tr.Phase().Copies)
	assert.Equal(t, 2, tr.Phase().FreeSlots)
	for s := 25.; s <= 120; s += 5 {
		d := tr.Report(at(s), 2, 0, tracker.Report{Done: s / 1000})
		require.Equal(t, restart.Keep, d.Action, "%v s: %v", s, d)
		require.Equal(t, restart.CopyTooRecent, d.Reason, "%v s", s)
		d = tr.Next(at(s), 0)
		require.Equal(t, -1, d.Task, d)
	}
	tr.Begin(at(120), 2, 1, 3)
	tr.Report(at(125), 2, 1, tracker.Report{Done: 0.5, Remaining: 5 * time.Second})
	assert.Equal(t, 5*time.Second, tr.Decide(at(125), 2).Remaining)
	assert.Equal(t, []int{0}, tr.Finish(at(130), 2, 1))
	l := tr.Ledger()
	assert.Equal(t, 170*time.Second, l.Used, "the attempts took three times 10 s, 130 s, and the copy 10 s")
	assert.Equal(t, 1, l.Won)
	assert.Zero(t, l.Ignored)
}

// A task of which no attempt has begun is not judged, under any policy.
func TestASubmittedTaskIsNotJudged(t *testing.T) {
	for name, policy := range policytest.Policies() {
		tr := newTracker(t, tracker.Config{Tasks: 8, Slots: 8, Interval: time.Second, Policy: everything{policy}})
		for task := range 7 {
			tr.Start(at(0), task, -1)
		}
		assert.Equal(t, 0, tr.Submit(at(0), 7, 5), name)
		assert.Equal(t, 0, tr.Phase().Waiting, name)
		for task := range 7 {
			tr.Report(at(5), task, 0, tracker.Report{Done: 0.5})
			tr.Finish(at(10), task, 0)
		}
		assert.Equal(t, 1., tr.Phase().Peers.MeanScore, name)
		notRunning := restart.Decision{Reason: restart.NotRunning}
		assert.Equal(t, notRunning, tr.Decide(at(1000), 7).Decision, name)
		tr.Sweep(at(1000), func(a tracker.Answer) { t.Errorf("%s: the sweep acts on task %d: %v", name, a.Task, a) })
		d := tr.Next(at(1000), 2)
		assert.Equal(t, -1, d.Task, name)
		assert.Equal(t, restart.NothingToDo, d.Reason, name)
		assert.NotEqual(t, restart.NotRunning, tr.Report(at(1001), 7, 0, tracker.Report{Done: 0.1}).Reason, "%s: a report begins the attempt", name)
	}
}

// A Begin of an attempt that has begun, has ended or never existed changes nothing.
func TestAWrongBeginIsIgnored(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 2, Slots: 4, Machines: 4, Interval: time.Second})
	require.Zero(t, tr.Submit(at(0), 0, 1))
	tr.Begin(at(5), 0, 0, -1)
	assert.Zero(t, tr.Ledger().Ignored)
	tr.Begin(at(8), 0, 0, 2)  // it has begun
	tr.Begin(at(8), 0, 1, 2)  // there is no such attempt
	tr.Begin(at(8), 1, 0, 2)  // there is no such attempt
	tr.Begin(at(8), -1, 0, 2) // there is no such task
	assert.Equal(t, 4, tr.Ledger().Ignored)
	assert.Empty(t, tr.LoseMachine(at(8), 2), "the attempt runs elsewhere, so the machine loses nothing")
	tr.Finish(at(9), 0, 0)
	assert.Equal(t, 4*time.Second, tr.Ledger().Used)
	tr.Begin(at(9), 0, 0, 2)
	assert.Equal(t, -1, tr.Submit(at(9), 0, 2), "a task that has ended takes no attempt")
	assert.Equal(t, -1, tr.Submit(at(9), 2, 2))
	assert.Equal(t, 7, tr.Ledger().Ignored)
}

// A lost machine ends the attempts that were queued for it and the attempts that began there. An attempt that was
// queued for it and began elsewhere goes on.
func TestALostMachineEndsItsQueuedAttempts(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 4, Slots: 8, Machines: 4, Interval: time.Second})
	tr.Submit(at(0), 0, 1)
	tr.Submit(at(0), 1, -1)
	tr.Submit(at(0), 2, 1)
	tr.Begin(at(1), 2, 0, 3)
	tr.Submit(at(0), 3, -1)
	tr.Begin(at(1), 3, 0, 1)
	assert.Equal(t, []int{0, 3}, tr.LoseMachine(at(2), 1))
	assert.Equal(t, 2, tr.Phase().Waiting)
	l := tr.Ledger()
	assert.Equal(t, 2, l.Failed)
	assert.Equal(t, time.Second, l.Used, "task 3 used a second; time in a queue is not used")
	// Tasks 0 and 1 were tried on the machine, so another task goes first there. Elsewhere the lowest index goes
	// first.
	tr.Kill(at(3), 1, 0)
	task := tr.Next(at(3), 1).Task
	assert.Equal(t, 1, task)
	task = tr.Next(at(3), 2).Task
	assert.Equal(t, 0, task)
}

// An attempt that never began may end in every way. Its time is no sample, and costs nothing.
func TestAnAttemptThatNeverBeganIsNoSample(t *testing.T) {
	know, err := tracker.NewKnowledge(tracker.KnowledgeConfig{})
	require.NoError(t, err)
	budget := newBudget(t, tracker.BudgetConfig{Slots: 10})
	tr := newTracker(t, tracker.Config{
		Tasks: 6, Slots: 8, Machines: 4, Interval: time.Second, Knowledge: know, Budget: budget,
		Policy: everything{restart.Mantri{}},
	})
	tr.Start(at(0), 0, 0)
	tr.Finish(at(10), 0, 0)
	before := tr.Phase().Peers
	for task := 1; task < 6; task++ {
		tr.Submit(at(10), task, 3)
	}
	tr.Submit(at(10), 1, 2)
	assert.Equal(t, 1, budget.Running())
	assert.Equal(t, []int{1}, tr.Finish(at(50), 1, 0))
	assert.Zero(t, budget.Running())
	tr.Fail(at(50), 2, 0)
	tr.Kill(at(50), 3, 0)
	tr.Restart(at(50), 4, 0)
	assert.Equal(t, []int{5}, tr.LoseMachine(at(50), 3))

	after := tr.Phase().Peers
	assert.Equal(t, 1, after.Durations.(*estimate.Empirical).Len())
	assert.Equal(t, 1, after.UnitTimes.(*estimate.Empirical).Len())
	assert.Equal(t, 1, after.ProgressRates.(*estimate.Empirical).Len())
	assert.Equal(t, before.Throughput, after.Throughput)
	assert.Equal(t, 1, tr.UnitTimes().Samples())
	assert.Equal(t, 1., know.Machines().Factor(3))
	assert.Equal(t, tracker.Ledger{
		Started: 7, Finished: 2, Copies: 1, Lost: 1, Failed: 2, Pruned: 1, Restarts: 1, Used: 10 * time.Second,
	}, tr.Ledger())
	p := tr.Phase()
	assert.Equal(t, [3]int{2, 4, 8}, [3]int{p.Finished, p.Waiting, p.FreeSlots})
}

// The first wave is the tasks that run first, and not the tasks that are queued first. The reason is that a job array
// queues all its tasks at the same time.
func TestTheFirstWaveAreTasksThatRun(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 3, Slots: 1, Interval: time.Microsecond, UnitTimes: estimate.UnitTimesConfig{MinSamples: 1}})
	for task := range 3 {
		tr.Submit(at(0), task, -1)
	}
	tr.Begin(at(0), 2, 0, 0)
	tr.Finish(at(30), 2, 0) // warming up
	tr.Begin(at(30), 0, 0, 0)
	tr.Finish(at(40), 0, 0)
	assert.Equal(t, 1, tr.UnitTimes().Samples(), "the sample of the first wave is replaced")
	assert.Equal(t, 10., tr.UnitTimes().Mean())
}

// eager is a policy that copies every task.
type eager struct{}

func (eager) Decide(restart.Task, restart.Phase) restart.Decision {
	return restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot}
}

// A task with only a queued attempt is no candidate for a copy. After the Begin it is no candidate until the policy
// has decided about it.
func TestAQueuedTaskIsNoCandidate(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 4, Interval: time.Second, Policy: eager{}})
	tr.Start(at(0), 0, 0)
	tr.Submit(at(0), 0, 1)
	require.Equal(t, restart.Copy, tr.Decide(at(1), 0).Action)
	next := func() int {
		task := tr.Next(at(2), 2).Task
		return task
	}
	require.Equal(t, 0, next())
	tr.Fail(at(2), 0, 0)
	assert.Equal(t, -1, next())
	tr.Begin(at(2), 0, 1, -1)
	assert.Equal(t, -1, next())
	tr.Decide(at(2), 0)
	assert.Equal(t, 0, next())
}
