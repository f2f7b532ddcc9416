package restart_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

func newTracker(t *testing.T, c restart.Config) *restart.Tracker {
	t.Helper()
	tracker, err := restart.NewTracker(c)
	require.NoError(t, err)
	return tracker
}

func at(s float64) time.Time { return start.Add(seconds(s)) }

func TestTrackerConfig(t *testing.T) {
	for want, c := range map[string]restart.Config{
		"restart: Config.Tasks is -1, want 0 to 2^30":                      {Tasks: -1},
		"restart: Config.Tasks is 3, want 0 or len(Work), which is 2":      {Tasks: 3, Work: []float64{1, 2}},
		"restart: Config.Slots is -1":                                      {Slots: -1},
		"restart: Config.Machines is -1":                                   {Machines: -1},
		"restart: Config.Interval is -1ns":                                 {Interval: -1},
		"restart: Config.Lag is -1ns":                                      {Lag: -1},
		"restart: Config.Model: estimate: ":                                {Model: estimate.Linear{Window: -1}},
		"restart: Config.Rates: estimate: ":                                {Rates: estimate.RatesConfig{MinSamples: -1}},
		"restart: Dryad.Percentile is 2, want a share in (0, 1], or 0 for": {Policy: restart.Dryad{Percentile: 2}},
	} {
		_, err := restart.NewTracker(c)
		assert.ErrorContains(t, err, want)
	}
	// Works that are not known count as the mean of the others; a tenth of it is the floor.
	c := newTracker(t, restart.Config{Work: []float64{10, 0, 30, -1}, Interval: time.Second}).Config()
	assert.Equal(t, restart.Mantri{}, c.Policy)
	assert.Equal(t, 4, c.Tasks)
	assert.Equal(t, 2., c.Rates.Floor)
	assert.Equal(t, 10*time.Second, c.Model.Window)
	assert.Equal(t, 2*time.Second, c.Model.Grace)
	work := []float64{5, 10, 0, 30}
	tracker := newTracker(t, restart.Config{Work: work, Slots: 9})
	work[0] = 1000 // the slice was copied
	var order []int
	for range work {
		task, _ := tracker.Next(start, -1)
		order = append(order, task)
		tracker.Start(start, task, -1)
	}
	assert.Equal(t, []int{3, 2, 1, 0}, order, "task 2 has the mean, 15")
}

// A third copy whose first report is a moment late was killed as the slowest and made anew after the pause, for ever.
func TestTrackerGivesASilentCopyItsTime(t *testing.T) {
	tracker := newTracker(t, restart.Config{
		Tasks: 1, Slots: 9, Interval: 10 * time.Second, Rates: estimate.RatesConfig{Prior: certain(20)},
	})
	for attempt, s := range []float64{0, 30, 60} {
		require.Equal(t, attempt, tracker.Start(at(s), 0, attempt))
		tracker.Report(at(s+10), 0, attempt, restart.Progress{Done: 0.01})
	}
	tracker.Start(at(80), 0, 3)
	for s := 80.; s < 100; s += 0.5 {
		for attempt := range 3 {
			if d := tracker.Report(at(s), 0, attempt, restart.Progress{Done: s / 10000}); d.Action == restart.Kill {
				require.NotEqual(t, 3, d.Copy, "at %v s", s)
			}
		}
	}
}

// A lost output opens a new account: the time until then is not held against the rerun.
func TestTrackerSavedAfterLostOutput(t *testing.T) {
	tracker := newTracker(t, restart.Config{Tasks: 1, Slots: 2, Interval: time.Second})
	tracker.Start(at(0), 0, 0)
	tracker.Report(at(10), 0, 0, restart.Progress{Done: 0.1}) // ends at 100
	tracker.Restart(at(10), 0, 0)
	tracker.Start(at(10), 0, 1)
	tracker.Finish(at(30), 0, 1, nil)
	assert.Equal(t, 70*time.Second, tracker.Ledger().Saved)
	tracker.LoseOutput(at(1000), 0)
	assert.Equal(t, 1, tracker.Phase().Waiting)
	tracker.Start(at(1000), 0, 1)
	tracker.Finish(at(1020), 0, 2, nil)
	assert.Equal(t, 70*time.Second, tracker.Ledger().Saved)
}

// Saved is held against the original, not against the slowest of the copies that lose.
func TestTrackerSavedAgainstTheOriginal(t *testing.T) {
	tracker := newTracker(t, restart.Config{Tasks: 1, Slots: 3, Interval: time.Second})
	tracker.Start(at(0), 0, 0)
	tracker.Start(at(0), 0, 1)
	tracker.Start(at(0), 0, 2)
	tracker.Report(at(10), 0, 0, restart.Progress{Done: 0.5, Remaining: 10 * time.Second})
	tracker.Report(at(10), 0, 1, restart.Progress{Done: 0.1, Remaining: 1000 * time.Second})
	assert.Equal(t, []int{1, 0}, tracker.Finish(at(12), 0, 2, nil))
	l := tracker.Ledger()
	assert.Equal(t, 8*time.Second, l.Saved)
	assert.Equal(t, 1, l.Won)
	assert.Equal(t, 1, l.Lost)
	assert.Equal(t, 24*time.Second, l.Wasted)
}

// What a killed or failed copy has shown counts neither in the mean score nor in its machine's total [LATE §4: "all
// succeeded and in-progress tasks"].
func TestTrackerScoresOfEndedCopies(t *testing.T) {
	tracker := newTracker(t, restart.Config{Tasks: 4, Slots: 4, Machines: 4, Interval: time.Second, Policy: restart.Hadoop{}})
	for i := range 3 {
		tracker.Start(at(0), i, i)
		tracker.Report(at(10), i, 0, restart.Progress{Score: 0.5})
	}
	assert.Equal(t, 0.5, tracker.Phase().Peers.MeanScore)
	tracker.Fail(at(20), 0, 0)
	assert.Equal(t, 0.5, tracker.Phase().Peers.MeanScore)
	tracker.Start(at(20), 0, 3)
	assert.InDelta(t, 1./3, tracker.Phase().Peers.MeanScore, 1e-15)
	tracker.Finish(at(30), 1, 0, nil)
	assert.InDelta(t, 0.5, tracker.Phase().Peers.MeanScore, 1e-15)
	tracker.LoseOutput(at(40), 1)
	assert.InDelta(t, 0.25, tracker.Phase().Peers.MeanScore, 1e-15)
}

// Machines that have done the same are equal, whatever steps their reports took.
func TestTrackerMachineTotalsAreExact(t *testing.T) {
	tracker := newTracker(t, restart.Config{
		Tasks: 8, Slots: 8, Machines: 4, Interval: time.Second, Policy: restart.LATE{SlowTask: restart.Off, MinAge: restart.Off, SpeculativeCap: 1},
	})
	for i := range 8 {
		tracker.Start(at(0), i, i%4)
	}
	for i := range 4 {
		for step := 1; step < 7+i; step++ {
			tracker.Report(at(float64(step)), i, 0, restart.Progress{Score: float64(step) / 100 * float64(i+1)})
		}
		tracker.Finish(at(20), i, 0, nil)
	}
	for i := 4; i < 8; i++ {
		tracker.Report(at(21), i, 0, restart.Progress{Score: 0.3})
	}
	for machine := range 4 {
		_, d := tracker.Next(at(21), machine)
		assert.NotEqual(t, restart.SlowMachine, d.Reason, "machine %d", machine)
	}
}

func TestTrackerBudgetSpent(t *testing.T) {
	budget := newBudget(t, restart.BudgetConfig{Slots: 10, Floor: 1, Rate: 0.001})
	tracker := newTracker(t, restart.Config{
		Tasks: 2, Slots: 10, Interval: time.Second, Budget: budget, Rates: estimate.RatesConfig{Prior: certain(1)},
	})
	for i := range 2 {
		tracker.Start(at(0), i, i)
	}
	slow := restart.Progress{Done: 0.01}
	assert.Equal(t, restart.Duplicate, tracker.Report(at(10), 0, 0, slow).Action)
	tracker.Start(at(10), 0, 5)
	assert.Equal(t, 1, budget.Running())
	d := tracker.Report(at(10), 1, 0, slow)
	assert.Equal(t, restart.BudgetSpent, d.Reason)
	assert.NotZero(t, d.Bar, "what it would have done stays in sight")
	_, d = tracker.Next(at(11), 6)
	assert.Equal(t, restart.BudgetSpent, d.Reason)
	tracker.Kill(at(12), 0, 1)
	assert.Zero(t, budget.Running())
}

// A slow machine's factor makes a copy there worth less; a free slot on no machine in particular is average.
func TestTrackerMachineFactors(t *testing.T) {
	factors, err := estimate.NewMachines(4, estimate.MachinesConfig{Trust: 0.01})
	require.NoError(t, err)
	factors.Observe(2, 9)
	tracker := newTracker(t, restart.Config{
		Tasks: 1, Slots: 4, Machines: 4, Interval: time.Second, Factors: factors, Rates: estimate.RatesConfig{Prior: certain(10)},
	})
	tracker.Start(at(0), 0, 0)
	tracker.Report(at(10), 0, 0, restart.Progress{Done: 0.2}) // 40 s left
	_, d := tracker.Next(at(10), 2)
	assert.Equal(t, restart.Keep, d.Action, "%v", d)
	tracker.Report(at(10), 0, 0, restart.Progress{Done: 0.2})
	for _, machine := range []int{-1, 1} {
		_, d = tracker.Next(at(10), machine)
		assert.Equal(t, restart.Duplicate, d.Action)
		assert.InDelta(t, 10, d.Fresh.Seconds(), 0.1)
	}
}

// Sweep ends, even if every decision is carried out by a policy that never has enough.
func TestTrackerSweepEnds(t *testing.T) {
	tracker := newTracker(t, restart.Config{Tasks: 3, Slots: 3, Policy: everything{more{}}})
	for i := range 3 {
		tracker.Start(at(0), i, 0)
	}
	visits := 0
	tracker.Sweep(at(1), func(task int, _ restart.Decision) {
		visits++
		tracker.Start(at(1), task, 1)
	})
	assert.Equal(t, 3, visits)
}

type more struct{}

func (more) Decide(restart.Task, restart.Phase) restart.Decision {
	return restart.Decision{Action: restart.Duplicate, Reason: restart.NearEnd}
}

// A restart of one of several copies leaves the task to the others for the pause.
func TestTrackerRestartOfOneOfSeveral(t *testing.T) {
	tracker := newTracker(t, restart.Config{
		Tasks: 2, Work: []float64{1, 1}, Slots: 2, Interval: time.Second, Rates: estimate.RatesConfig{Prior: certain(1)},
	})
	tracker.Start(at(0), 0, 0)
	tracker.Start(at(0), 0, 1)
	tracker.Report(at(10), 0, 0, restart.Progress{Done: 0.02})
	d := tracker.Report(at(10), 0, 1, restart.Progress{Done: 0.01})
	require.Equal(t, restart.Restart, d.Action)
	require.Equal(t, 1, d.Copy)
	tracker.Restart(at(10), 0, 1)
	assert.Equal(t, 1, tracker.Phase().Waiting, "only the other task waits")
	assert.Equal(t, restart.CopyTooRecent, tracker.Decide(at(10), 0).Reason)
	assert.Equal(t, restart.CopyTooRecent, tracker.Decide(at(11.9), 0).Reason)
	assert.Equal(t, restart.Restart, tracker.Decide(at(12), 0).Action)
}

// Machine numbers beyond 31 bits are one machine, not another one of those below.
func TestTrackerHugeMachineNumbers(t *testing.T) {
	tracker := newTracker(t, restart.Config{Tasks: 2, Slots: 2})
	tracker.Start(at(0), 0, 0)
	tracker.Fail(at(1), 0, 0)
	task, _ := tracker.Next(at(1), math.MaxInt)
	assert.Equal(t, 0, task, "task 0 was tried on machine 0 and on no other")
	task, _ = tracker.Next(at(1), 0)
	assert.Equal(t, 1, task)
}

// A waiting task that was tried on the machine gives way to one that was not, if there is one among the first eight.
func TestTrackerPassesOverTriedTasks(t *testing.T) {
	for tried, want := range map[int]int{1: 1, 7: 7, 8: 0, 9: 0} {
		tracker := newTracker(t, restart.Config{Tasks: 12, Slots: 1})
		for task := range tried {
			tracker.Fail(at(1), task, tracker.Start(at(0), task, 5))
		}
		task, _ := tracker.Next(at(2), 5)
		assert.Equal(t, want, task, "%d were tried here", tried)
		task, _ = tracker.Next(at(2), 5)
		assert.Equal(t, want, task, "asking changes nothing")
		task, _ = tracker.Next(at(2), 6)
		assert.Equal(t, 0, task, "none was tried there")
	}
}

// A host may leave a decision where it is, and do what nobody told it to: the tracker goes by what has happened.
func TestTrackerWhoseDecisionsAreIgnored(t *testing.T) {
	tracker := newTracker(t, restart.Config{
		Tasks: 2, Slots: 1, Interval: time.Second, Rates: estimate.RatesConfig{Prior: certain(1)},
	})
	tracker.Start(at(0), 0, 0)
	said := tracker.Report(at(10), 0, 0, restart.Progress{Done: 0.02})
	require.Equal(t, restart.Restart, said.Action)
	for range 5 {
		assert.Equal(t, said, tracker.Decide(at(10), 0), "restarts that are not carried out do not count")
		task, d := tracker.Next(at(10), 1)
		assert.Equal(t, 1, task)
		assert.Equal(t, restart.Start, d.Action, "asking for a slot starts nothing")
	}
	assert.Zero(t, tracker.Ledger().Restarts)
	assert.Equal(t, 1, tracker.Phase().Waiting)

	tracker.Start(at(10), 0, 1) // a copy that nobody asked for, beyond the slots
	assert.Equal(t, 1, tracker.Phase().Speculative)
	assert.Zero(t, tracker.Phase().FreeSlots)
	assert.Equal(t, restart.CopyTooRecent, tracker.Decide(at(11), 0).Reason)
	tracker.Kill(at(12), 0, 0) // and kills that nobody asked for
	tracker.Kill(at(12), 0, 1)
	assert.Equal(t, 2, tracker.Phase().Waiting)
	assert.Equal(t, restart.NotRunning, tracker.Decide(at(12), 0).Reason)
	tracker.Start(at(13), 1, 0) // not the task that Next names
	assert.Equal(t, 1, tracker.Phase().Waiting)
	task, _ := tracker.Next(at(13), -1)
	assert.Equal(t, 0, task)
	assert.Zero(t, tracker.Ledger().Ignored)
}
