package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// silentPhase is a phase without progress in which ten tasks have ended after 100 s each and two run on.
func silentPhase(t *testing.T) (tr *tracker.Tracker, now func(seconds int) time.Time) {
	t.Helper()
	c := tracker.Config{Tasks: 12, Slots: 14, Machines: 14, Interval: 10 * time.Second, Policy: restart.Guarded{}}
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

// tried is how many trials were won and tried, and what is at risk.
func tried(tr *tracker.Tracker) [3]int {
	p := tr.Phase()
	return [3]int{p.Won, p.Tried, int(p.AtRisk.Seconds())}
}

// A copy is a trial: at risk until it is won by ending first, or lost because it is overtaken or killed.
func TestCopiesAreTrials(t *testing.T) {
	tr, now := silentPhase(t)
	assert.Equal(t, [3]int{}, tried(tr))
	tr.Start(now(200), 10, 12)
	assert.Equal(t, [3]int{0, 0, 153}, tried(tr), "one and a half usual times")
	tr.Start(now(200), 11, 13)
	assert.Equal(t, [3]int{0, 0, 306}, tried(tr))
	tr.Finish(now(310), 11, 0)
	assert.Equal(t, [3]int{0, 1, 263}, tried(tr), "it has cost 110 s")
	tr.Finish(now(320), 10, 1)
	p := tr.Phase()
	assert.Equal(t, [2]int{1, 2}, [2]int{p.Won, p.Tried})
	assert.InDelta(t, 110-205, p.AtRisk.Seconds(), 5, "the other would have needed so much more")

	tr, now = silentPhase(t)
	tr.Start(now(200), 10, 12)
	tr.Kill(now(220), 10, 1)
	assert.Equal(t, [3]int{0, 1, 20}, tried(tr))
}

// What fails makes the next less worth while: E(t_new) is longer than where the copy has won.
func TestLostTrialsLengthenFresh(t *testing.T) {
	var fresh [2]time.Duration
	for winner := range fresh {
		tr, now := silentPhase(t)
		tr.Start(now(160), 10, 12)
		tr.Finish(now(260), 10, winner)
		a := tr.Decide(now(260), 11)
		assert.Equal(t, 1, a.Tried)
		assert.Contains(t, a.String(), " tried=1")
		fresh[winner] = a.Fresh
	}
	assert.Greater(t, fresh[0], fresh[1]+5*time.Second)
}

// A copy that shows nothing is killed once it has taken what was at risk: the task is long.
func TestCopiesThatShowNothingEnd(t *testing.T) {
	tr, now := silentPhase(t)
	tr.Start(now(200), 10, 12)
	risk, killed := tr.Phase().AtRisk.Seconds(), 0
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
	assert.InDelta(t, 200+risk, killed, 10)
	assert.InDelta(t, risk, tr.Phase().AtRisk.Seconds(), 10, "it has cost no more")
}

// A restart is won by an attempt that takes less than two thirds of what the old one would have, and puts at risk what
// the old one had run; unless by its progress it looks as if it were won. Then what it saves counts, and at most four
// usual times of it.
func TestRestartsAreTrials(t *testing.T) {
	for _, of := range []struct {
		lasts            float64
		under, won, cost int
	}{{100, -400, 1, -400}, {700, 60, 0, 60}} {
		c := tracker.Config{Tasks: 40, Slots: 10, Machines: 10, Interval: 10 * time.Second, Policy: restart.Guarded{}}
		tr, err := tracker.New(c)
		require.NoError(t, err)
		clock, attempt := start, 0
		run := func(task, attempt, machine, until int, lasts float64) {
			for at := 10; at <= until; at += 10 {
				tr.Record(clock.Add(time.Duration(at)*time.Second), task, attempt, tracker.Report{Done: float64(at) / lasts})
			}
		}
		for i := range 20 { // one after the other, each evenly within 100 s
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
		tr.Decide(clock.Add(40*time.Second), 30)
		assert.Equal(t, [3]int{0, 0, of.under}, tried(tr))
		tr.Finish(clock.Add(time.Duration(of.lasts)*time.Second), 30, attempt)
		p := tr.Phase()
		assert.Equal(t, [2]int{of.won, 1}, [2]int{p.Won, p.Tried})
		assert.InDelta(t, of.cost, p.AtRisk.Seconds(), 5)
	}
}
