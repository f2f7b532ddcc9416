package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// slowed is a phase of ten tasks. Nine took 100 s; the last runs on a slower machine, and has done 60 % by then.
func slowed(t *testing.T, policy restart.Policy, saved float64) (*tracker.Tracker, tracker.Answer) {
	t.Helper()
	tr := newTracker(t, tracker.Config{Tasks: 10, Slots: 10, Interval: 5 * time.Second, Policy: policy})
	for task := range 10 {
		tr.Start(at(0), task, task)
	}
	var a tracker.Answer
	for s := 5; s <= 100; s += 5 {
		for task := range 9 {
			tr.Report(at(float64(s)), task, 0, tracker.Report{Done: float64(s) / 100})
		}
		a = tr.Report(at(float64(s)), 9, 0, tracker.Report{Done: float64(s) * 0.006, Saved: min(saved, float64(s)*0.006)})
	}
	for task := range 9 {
		tr.Finish(at(100), task, 0)
	}
	return tr, a
}

// A checkpoint holds 60 % of a task. The old attempt still needs 67 s, a new one 40 s instead of 100 s, so the task
// gets a copy. The progress of the copy counts from the checkpoint.
func TestACopyResumesFromACheckpoint(t *testing.T) {
	tr, _ := slowed(t, restart.Mantri{}, 0)
	a := tr.Decide(at(100), 9)
	assert.Equal(t, restart.Keep, a.Action, "%v", a)
	assert.InDelta(t, 100, a.Fresh.Seconds(), 2)

	tr, _ = slowed(t, restart.Mantri{}, 0.6)
	a = tr.Decide(at(100), 9)
	assert.Equal(t, restart.Copy, a.Action, "%v", a)
	assert.Equal(t, restart.IdleSlot, a.Reason)
	assert.InDelta(t, 40, a.Fresh.Seconds(), 2)
	assert.InDelta(t, 66.7, a.Remaining.Seconds(), 5)
	tr.Start(at(100), 9, 0)
	for s := 105.; s < 140; s += 5 {
		tr.Report(at(s), 9, 0, tracker.Report{Done: s * 0.006, Saved: 0.6})
		a = tr.Report(at(s), 9, 1, tracker.Report{Done: 0.6 + (s-100)/100, Saved: 0.6})
		require.Equal(t, restart.Keep, a.Action, "%v", a)
		if s >= 115 {
			assert.InDelta(t, 140-s, a.Remaining.Seconds(), 6, "the copy is faster than the old attempt")
		}
	}
	assert.Equal(t, []int{0}, tr.Finish(at(140), 9, 1))
	assert.InDelta(t, 100, tr.UnitTimes().Quantile(0), 1, "40 s for 40 % of the work are 100 s for all of it")
}

// An attempt should resume from a checkpoint. Its first report shows less work than the checkpoint holds, so it has
// begun anew.
func TestAnAttemptMayMissItsCheckpoint(t *testing.T) {
	for saved, want := range map[float64]float64{0: 90, 0.6: 90} {
		tr, _ := slowed(t, rules.LATE{MinAge: restart.Off, SlowTask: restart.Off}, saved)
		tr.Kill(at(100), 9, 0)
		attempt := tr.Start(at(100), 9, 0)
		a := tr.Report(at(110), 9, attempt, tracker.Report{Done: 0.1})
		require.Equal(t, restart.LongestToEnd, a.Reason, "%v", a)
		assert.InDelta(t, want, a.Remaining.Seconds(), 1)
	}
	tr, _ := slowed(t, rules.LATE{MinAge: restart.Off, SlowTask: restart.Off}, 0.6)
	tr.Kill(at(100), 9, 0)
	attempt := tr.Start(at(100), 9, 0)
	// LATE's remaining time counts the 40 % that the attempt had to do.
	for _, r := range []tracker.Report{{Done: 0.61}, {Score: 0.62}} {
		a := tr.Report(at(120), 9, attempt, r)
		require.Equal(t, restart.LongestToEnd, a.Reason, "%v", a)
		done := (max(r.Done, r.Score) - 0.6) / 0.4
		assert.InDelta(t, 20*(1-done)/done, a.Remaining.Seconds(), 2)
	}
}

// looks is Mantri, and shows the facts of the last task that it was asked about.
type looks struct {
	restart.Mantri
	seen *restart.Task
}

func (l looks) Describe() rules.Description { return rules.Describe(l.Mantri) }

func (l looks) Decide(t restart.Task, p restart.Phase) restart.Decision {
	*l.seen = t
	return l.Mantri.Decide(t, p)
}

// The age of a resumed attempt counts for the work that it has to do: 30 s on a tenth of a task are as old as 300 s on
// the whole task.
func TestAgesCountForTheWorkBeyondACheckpoint(t *testing.T) {
	var seen restart.Task
	tr := newTracker(t, tracker.Config{Tasks: 13, Slots: 13, Interval: 5 * time.Second, Policy: looks{seen: &seen}})
	for task := range 13 {
		tr.Start(at(0), task, task)
	}
	tr.Report(at(50), 12, 0, tracker.Report{Done: 0.9, Saved: 0.9})
	tr.Kill(at(50), 12, 0)
	var want survival.Curve
	want.Observe(50, false)
	for task := range 10 {
		tr.Finish(at(float64(90+task)), task, 0)
		want.Observe(float64(90+task), true)
	}
	tr.Start(at(100), 12, 12)
	tr.Decide(at(130), 11)
	want.Observe(130, false)
	want.Observe(130, false)
	want.Observe(300, false)
	want.Fit()
	assert.InEpsilon(t, survival.Residual{Curve: &want, Age: 130}.Mean(), seen.Attempts[0].Left.Mean(), 0.01)
}

// Saved has the units of the work. A Saved that is too large is noticed, and a Saved that is no number makes the
// report invalid.
func TestSavedHasTheUnitsOfTheWork(t *testing.T) {
	tr := newTracker(t, tracker.Config{Work: []float64{0, 8}, Slots: 2, Interval: time.Second})
	tr.Start(at(0), 0, 0)
	tr.Start(at(0), 1, 1)
	tr.Report(at(2), 0, 0, tracker.Report{Score: 0.5, Saved: 0.5}) // a task of no work has nothing to save
	assert.Zero(t, tr.Ledger().BadUnits)
	tr.Report(at(2), 1, 0, tracker.Report{Done: 1, Saved: 60})
	assert.Equal(t, 1, tr.Ledger().BadUnits)
	tr.Report(at(2), 1, 0, tracker.Report{Done: 1, Saved: -1})
	assert.Equal(t, 1, tr.Ledger().Ignored)
	a := tr.Report(at(2), 1, 0, tracker.Report{Done: 8, Saved: 8}) // everything is saved; a new attempt still has to load it
	assert.Equal(t, restart.Keep, a.Action)
}
