package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// silentPhase is a phase without progress reports. Ten tasks have ended after 100 s each, and two tasks run on.
func silentPhase(t *testing.T) (tr *tracker.Tracker, now func(seconds int) time.Time) {
	t.Helper()
	c := tracker.Config{Tasks: 12, Slots: 14, Machines: 14, Interval: 10 * time.Second, Policy: restart.LeastCost{}}
	tr, err := tracker.New(c)
	require.NoError(t, err)
	now = func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	for i := range c.Tasks {
		tr.Start(now(0), i, i)
	}
	for i := range 10 {
		tr.Finish(now(95+i), i, 0)
	}
	return tr, now
}

// tried returns the number of won trials, the number of all trials that were won or lost, and the seconds at risk.
func tried(tr *tracker.Tracker) [3]int {
	p := tr.Phase()
	return [3]int{int(p.Trials.Won), int(p.Trials.Won + p.Trials.Lost), int(atRisk(tr).Seconds())}
}

// atRisk returns the slot time that trials have lost or may lose.
func atRisk(tr *tracker.Tracker) time.Duration {
	trials := tr.Phase().Trials
	return trials.Cost + trials.AtRisk
}

// A copy is a trial. The slot time that it puts at risk is its stake. The trial is won if the copy ends first, and
// lost if the copy is overtaken or killed.
func TestCopiesAreTrials(t *testing.T) {
	tr, now := silentPhase(t)
	assert.Equal(t, [3]int{}, tried(tr))
	tr.Start(now(200), 10, 12)
	assert.Equal(t, [3]int{0, 0, 147}, tried(tr), "the stake is one and a half typical times")
	tr.Start(now(200), 11, 13)
	assert.Equal(t, [3]int{0, 0, 294}, tried(tr))
	tr.Finish(now(310), 11, 0)
	assert.Equal(t, [3]int{0, 1, 257}, tried(tr), "the lost copy has cost 110 s")
	tr.Finish(now(320), 10, 1)
	assert.Equal(t, 2, tried(tr)[1])
	assert.InDelta(t, 110-680, atRisk(tr).Seconds(), 5, "the copy has saved 680 s of the 800 s that the task was expected to need")

	tr, now = silentPhase(t)
	tr.Start(now(200), 10, 12)
	tr.Kill(now(220), 10, 1)
	assert.Equal(t, [3]int{0, 1, 20}, tried(tr))
}

// After a lost trial, the computed cost of an action is higher than after a won trial.
func TestALostTrialRaisesTheCostOfActions(t *testing.T) {
	var cost [2]float64
	for winner := range cost {
		tr, now := silentPhase(t)
		tr.Start(now(160), 10, 12)
		tr.Finish(now(260), 10, winner)
		a := tr.Decide(now(260), 11)
		assert.Equal(t, 1, a.Tried)
		assert.Contains(t, a.String(), " tried=1")
		cost[winner] = a.Threshold
	}
	assert.Greater(t, cost[0], cost[1]+5)
}

// No task waits, and slots are idle. A copy that shows no progress is killed when it has run for as long as the old
// attempt had run when the copy began. The cause is probably that the task is long.
func TestASilentCopyRunsForAsLongAsItsOriginalHad(t *testing.T) {
	tr, now := silentPhase(t)
	tr.Start(now(200), 10, 12)
	killed := 0
	for at := 210; at < 700 && killed == 0; at += 10 {
		tr.Sweep(now(at), func(a tracker.Answer) {
			if a.Action == restart.Kill {
				assert.Equal(t, 10, a.Task)
				assert.Equal(t, 1, a.Attempt)
				killed = at
				tr.Kill(now(at), a.Task, a.Attempt)
			}
		})
	}
	assert.Equal(t, 400, killed)
	assert.InDelta(t, 200, atRisk(tr).Seconds(), 1, "the copy has cost its age")
}

// A restart puts the run time of the old attempt at risk, until the restart is won or lost. The restart is won if the
// new attempt takes less than half of the time that the old attempt would have taken. Then the time that the old attempt
// was expected to need, 533 s, less the time of the new attempt, is counted as saved.
func TestRestartsAreTrials(t *testing.T) {
	for _, of := range []struct {
		lasts     float64
		won, cost int
	}{{100, 1, -433}, {700, 0, 60}} {
		c := tracker.Config{Tasks: 40, Slots: 10, Machines: 10, Interval: 10 * time.Second, Policy: restart.LeastCost{}}
		tr, err := tracker.New(c)
		require.NoError(t, err)
		clock, attempt := start, 0
		run := func(task, attempt, machine, until int, lasts float64) {
			for at := 10; at <= until; at += 10 {
				tr.Record(clock.Add(time.Duration(at)*time.Second), task, attempt, tracker.Report{Done: float64(at) / lasts})
			}
		}
		for i := range 20 { // one after another, each evenly within 100 s
			tr.Start(clock, i, i%9)
			run(i, 0, i%9, 90, 100)
			clock = clock.Add(100 * time.Second)
			tr.Finish(clock, i, 0)
		}
		attempt = tr.Start(clock, 30, 9)
		run(30, attempt, 9, 60, 800)
		clock = clock.Add(60 * time.Second)
		tr.Restart(clock, 30, attempt)
		assert.Equal(t, [3]int{0, 0, 60}, tried(tr))
		attempt = tr.Start(clock, 30, 3)
		run(30, attempt, 3, 40, of.lasts)
		tr.Finish(clock.Add(time.Duration(of.lasts)*time.Second), 30, attempt)
		assert.Equal(t, of.won, tried(tr)[0])
		assert.InDelta(t, of.cost, atRisk(tr).Seconds(), 5)
	}
}
