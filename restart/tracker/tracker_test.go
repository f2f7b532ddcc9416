package tracker_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

func newTracker(t *testing.T, c tracker.Config) *tracker.Tracker {
	t.Helper()
	tr, err := tracker.New(c)
	require.NoError(t, err)
	return tr
}

func at(s float64) time.Time { return start.Add(seconds(s)) }

func TestAConfigIsValidatedAndFilled(t *testing.T) {
	for want, c := range map[string]tracker.Config{
		"restart/tracker: Config.Tasks is -1, want 1 to 2^30, or 0 if Work is given": {Tasks: -1},
		"restart/tracker: Config.Tasks is 3, want 0 or len(Work), which is 2":        {Tasks: 3, Work: []float64{1, 2}},
		"restart/tracker: Config.Slots is -1":                                        {Slots: -1},
		"restart/tracker: Config.Machines is -1":                                     {Machines: -1},
		"restart/tracker: Config.Interval is -1ns":                                   {Interval: -1},
		"restart/tracker: Config.Lag is -1ns":                                        {Lag: -1},
		"restart/tracker: Config.Model: estimate: ":                                  {Model: estimate.Linear{Window: -1}},
		"restart/tracker: Config.UnitTimes: estimate: ":                              {UnitTimes: estimate.UnitTimesConfig{MinSamples: -1}},
		"restart/rules: Dryad.Percentile is 2, want a share in (0, 1], or 0 for":     {Policy: rules.Dryad{Percentile: 2}},
	} {
		if c.Tasks == 0 && c.Work == nil {
			c.Tasks = 1
		}
		if c.Interval == 0 {
			c.Interval = time.Second
		}
		_, err := tracker.New(c)
		assert.ErrorContains(t, err, want)
	}
	_, err := tracker.New(tracker.Config{Interval: 1e9})
	assert.ErrorContains(t, err, "restart/tracker: Config.Tasks is 0, want a positive number, or Work")
	_, err = tracker.New(tracker.Config{Tasks: 1})
	assert.ErrorContains(t, err, "restart/tracker: Config.Interval is 0s, want a positive duration")
	_, err = tracker.New(tracker.Config{Tasks: 1, Policy: rules.Spark{}})
	assert.NoError(t, err, "Spark needs no interval")
	_, err = tracker.New(tracker.Config{Work: []float64{}, Interval: 1e9})
	assert.NoError(t, err, "an empty Work makes a phase without tasks")
	// Unknown works count as the mean of the others. The floor is a tenth of the mean.
	c := newTracker(t, tracker.Config{Work: []float64{10, math.NaN(), 30, -1}, Interval: time.Second}).Config()
	assert.Equal(t, restart.LeastCost{}, c.Policy)
	assert.Equal(t, 4, c.Tasks)
	assert.Equal(t, 2., c.UnitTimes.Floor)
	assert.Equal(t, 3, c.UnitTimes.MinSamples)
	assert.Equal(t, 10*time.Second, c.Model.Window)
	assert.Equal(t, 2*time.Second, c.Model.Grace)
	work := []float64{5, 10, math.Inf(1), 30}
	tr := newTracker(t, tracker.Config{Work: work, Slots: 9, Interval: time.Second})
	work[0] = 1000 // New has copied the slice
	var order []int
	for range work {
		task := tr.Next(start, -1).Task
		order = append(order, task)
		tr.Start(start, task, -1)
	}
	assert.Equal(t, []int{3, 2, 1, 0}, order, "task 2 counts as the mean, 15")
}

// The first report of a third attempt comes a moment late. The attempt is not killed as the slowest; otherwise it
// would be killed and started anew for ever.
func TestASilentThirdAttemptGetsItsTime(t *testing.T) {
	tr := newTracker(t, tracker.Config{
		Tasks: 1, Slots: 9, Interval: 10 * time.Second, UnitTimes: estimate.UnitTimesConfig{Prior: policytest.Certain(20)},
	})
	for attempt, s := range []float64{0, 30, 60} {
		require.Equal(t, attempt, tr.Start(at(s), 0, attempt))
		tr.Report(at(s+10), 0, attempt, tracker.Report{Done: 0.01})
	}
	tr.Start(at(80), 0, 3)
	for s := 80.; s < 100; s += 0.5 {
		for attempt := range 3 {
			if d := tr.Report(at(s), 0, attempt, tracker.Report{Done: s / 10000}); d.Action == restart.Kill {
				require.NotEqual(t, 3, d.Attempt, "at %v s", s)
			}
		}
	}
}

// Several attempts lose to one. Lost counts the copies among them, but not the original.
func TestLostCountsCopiesOnly(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 3, Interval: time.Second})
	for machine := range 3 {
		tr.Start(at(0), 0, machine)
	}
	assert.Equal(t, []int{1, 0}, tr.Finish(at(12), 0, 2))
	l := tr.Ledger()
	assert.Equal(t, 1, l.Won)
	assert.Equal(t, 1, l.Lost)
	assert.Equal(t, 24*time.Second, l.Wasted)
}

// The score of a killed or failed attempt counts neither in the mean score nor in its machine's total [LATE §4: "all
// succeeded and in-progress tasks"].
func TestScoresOfKilledAttemptsDoNotCount(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 4, Slots: 4, Machines: 4, Interval: time.Second, Policy: rules.Hadoop{}})
	for i := range 3 {
		tr.Start(at(0), i, i)
		tr.Report(at(10), i, 0, tracker.Report{Score: 0.5})
	}
	assert.Equal(t, 0.5, tr.Phase().Peers.MeanScore)
	tr.Fail(at(20), 0, 0)
	assert.Equal(t, 0.5, tr.Phase().Peers.MeanScore)
	tr.Start(at(20), 0, 3)
	assert.InDelta(t, 1./3, tr.Phase().Peers.MeanScore, 1e-15)
	tr.Finish(at(30), 1, 0)
	assert.InDelta(t, 0.5, tr.Phase().Peers.MeanScore, 1e-15)
	tr.LoseOutput(at(40), 1)
	assert.InDelta(t, 0.25, tr.Phase().Peers.MeanScore, 1e-15)
}

// Machines with the same progress compare equal, in whatever steps the reports came.
func TestMachineTotalsAreExact(t *testing.T) {
	tr := newTracker(t, tracker.Config{
		Tasks: 8, Slots: 8, Machines: 4, Interval: time.Second, Policy: rules.LATE{SlowTask: restart.Off, MinAge: restart.Off, SpeculativeCap: 1},
	})
	for i := range 8 {
		tr.Start(at(0), i, i%4)
	}
	for i := range 4 {
		for step := 1; step < 7+i; step++ {
			tr.Report(at(float64(step)), i, 0, tracker.Report{Score: float64(step) / 100 * float64(i+1)})
		}
		tr.Finish(at(20), i, 0)
	}
	for i := 4; i < 8; i++ {
		tr.Report(at(21), i, 0, tracker.Report{Score: 0.3})
	}
	for machine := range 4 {
		d := tr.Next(at(21), machine)
		assert.NotEqual(t, restart.SlowMachine, d.Reason, "machine %d", machine)
	}
}

func TestASpentBudgetRefusesACopy(t *testing.T) {
	budget := newBudget(t, tracker.BudgetConfig{Slots: 10, Floor: 1, Rate: 0.001})
	tr := newTracker(t, tracker.Config{
		Tasks: 2, Slots: 10, Interval: time.Second, Policy: restart.Mantri{}, Budget: budget, UnitTimes: estimate.UnitTimesConfig{Prior: policytest.Certain(1)},
	})
	for i := range 2 {
		tr.Start(at(0), i, i)
	}
	slow := tracker.Report{Done: 0.01}
	assert.Equal(t, restart.Copy, tr.Report(at(10), 0, 0, slow).Action)
	tr.Start(at(10), 0, 5)
	assert.Equal(t, 1, budget.Running())
	d := tr.Report(at(10), 1, 0, slow)
	assert.Equal(t, restart.BudgetSpent, d.Reason)
	assert.NotZero(t, d.Bar, "the refusal keeps the bar of the decision")
	d = tr.Next(at(11), 6)
	assert.Equal(t, restart.BudgetSpent, d.Reason)
	tr.Kill(at(12), 0, 1)
	assert.Zero(t, budget.Running())
}

// Sweep ends even if the policy always acts and every decision is carried out.
func TestSweepEnds(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 3, Slots: 3, Policy: everything{more{}}})
	for i := range 3 {
		tr.Start(at(0), i, 0)
	}
	visits := 0
	tr.Sweep(at(1), func(a tracker.Answer) {
		visits++
		tr.Start(at(1), a.Task, 1)
	})
	assert.Equal(t, 3, visits)
}

type more struct{}

func (more) Decide(restart.Task, restart.Phase) restart.Decision {
	return restart.Decision{Action: restart.Copy, Reason: restart.NearEnd}
}

// One of several attempts is restarted. The task gets no copy during the pause, because the others go on.
func TestARestartOfOneOfSeveralPausesCopies(t *testing.T) {
	tr := newTracker(t, tracker.Config{
		Tasks: 2, Work: []float64{1, 1}, Slots: 2, Interval: time.Second, UnitTimes: estimate.UnitTimesConfig{Prior: policytest.Certain(1)},
		Policy: restart.Mantri{},
	})
	tr.Start(at(0), 0, 0)
	tr.Start(at(0), 0, 1)
	tr.Report(at(10), 0, 0, tracker.Report{Done: 0.02})
	d := tr.Report(at(10), 0, 1, tracker.Report{Done: 0.01})
	require.Equal(t, restart.Restart, d.Action)
	require.Equal(t, 1, d.Attempt)
	tr.Restart(at(10), 0, 1)
	assert.Equal(t, 1, tr.Phase().Waiting, "only the other task waits")
	assert.Equal(t, restart.CopyTooRecent, tr.Decide(at(10), 0).Reason)
	assert.Equal(t, restart.CopyTooRecent, tr.Decide(at(11.9), 0).Reason)
	assert.Equal(t, restart.Restart, tr.Decide(at(12), 0).Action)
}

// A machine number beyond 31 bits names one machine, and no machine of a smaller number.
func TestHugeMachineNumbersAreDistinct(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 2, Slots: 2, Interval: time.Second})
	tr.Start(at(0), 0, 0)
	tr.Fail(at(1), 0, 0)
	task := tr.Next(at(1), math.MaxInt).Task
	assert.Equal(t, 0, task, "task 0 was tried on machine 0 and on no other")
	task = tr.Next(at(1), 0).Task
	assert.Equal(t, 1, task)
}

// The first waiting task was tried on the machine. A task that was not tried there goes first, if it is among the
// first eight.
func TestTrackerPassesOverTriedTasks(t *testing.T) {
	for tried, want := range map[int]int{1: 1, 7: 7, 8: 0, 9: 0} {
		tr := newTracker(t, tracker.Config{Tasks: 12, Slots: 1, Interval: time.Second})
		for task := range tried {
			tr.Fail(at(1), task, tr.Start(at(0), task, 5))
		}
		task := tr.Next(at(2), 5).Task
		assert.Equal(t, want, task, "%d tasks were tried here", tried)
		task = tr.Next(at(2), 5).Task
		assert.Equal(t, want, task, "a second question must give the same answer")
		task = tr.Next(at(2), 6).Task
		assert.Equal(t, 0, task, "no task was tried on that machine")
	}
}

// A host ignores decisions, and starts and kills attempts without a decision. The tracker goes by the events.
func TestTheTrackerGoesByEvents(t *testing.T) {
	tr := newTracker(t, tracker.Config{
		Tasks: 2, Slots: 1, Interval: time.Second, Policy: restart.Mantri{}, UnitTimes: estimate.UnitTimesConfig{Prior: policytest.Certain(1)},
	})
	tr.Start(at(0), 0, 0)
	said := tr.Report(at(10), 0, 0, tracker.Report{Done: 0.02})
	require.Equal(t, restart.Restart, said.Action)
	for range 5 {
		assert.Equal(t, said, tr.Decide(at(10), 0), "a restart that is not carried out must not count")
		next := tr.Next(at(10), 1)
		assert.Equal(t, 1, next.Task)
		assert.Equal(t, restart.Start, next.Action, "Next must not start the task")
	}
	assert.Zero(t, tr.Ledger().Restarts)
	assert.Equal(t, 1, tr.Phase().Waiting)

	tr.Start(at(10), 0, 1) // a copy without a decision, beyond the slots
	assert.Equal(t, 1, tr.Phase().Copies)
	assert.Zero(t, tr.Phase().FreeSlots)
	assert.Equal(t, restart.CopyTooRecent, tr.Decide(at(11), 0).Reason)
	tr.Kill(at(12), 0, 0) // kills without a decision
	tr.Kill(at(12), 0, 1)
	assert.Equal(t, 2, tr.Phase().Waiting)
	assert.Equal(t, restart.NotRunning, tr.Decide(at(12), 0).Reason)
	tr.Start(at(13), 1, 0) // not the task that Next names
	assert.Equal(t, 1, tr.Phase().Waiting)
	task := tr.Next(at(13), -1).Task
	assert.Equal(t, 0, task)
	assert.Zero(t, tr.Ledger().Ignored)
}
