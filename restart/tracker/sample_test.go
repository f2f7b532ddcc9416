package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// watcher keeps every task, and keeps the facts of the last task.
type watcher struct{ saw *restart.Task }

func (w watcher) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	*w.saw = t
	w.saw.Attempts = append([]restart.Attempt(nil), t.Attempts...)
	return restart.Decision{}
}

func (w watcher) Describe() rules.Description { return rules.Description{} }

// A task of no work, such as a task with nothing to read, reports a score. Its t_rem follows from the score.
func TestATaskWithoutWorkHasATimeLeft(t *testing.T) {
	var saw restart.Task
	tr := newTracker(t, tracker.Config{
		Work: []float64{0, 5}, Slots: 2, Interval: time.Second, Policy: watcher{&saw}, Limits: published,
	})
	tr.Start(at(0), 0, 0)
	tr.Report(at(10), 0, 0, tracker.Report{Score: 0.25})
	assert.InDelta(t, 30, saw.Attempts[0].Remaining.Seconds(), 0.1, "an attempt that did a quarter in 10 s needs 30 s more")
	assert.Equal(t, 0.25, saw.Attempts[0].Score)
}

// spyRecord notes the ages at which a record gets an observation of a running attempt.
type spyRecord struct {
	*machines.Record
	ages []float64
}

func (r *spyRecord) Running(now time.Time, machine int, key uint64, a machines.Attempt) bool {
	r.ages = append(r.ages, now.Sub(start).Seconds())
	return r.Record.Running(now, machine, key, a)
}

// A record gets the first observation of a running attempt after an interval. It gets the next when the attempt is
// older by half an interval and an eighth of its age at the last one: often enough for a verdict, and O(log age)
// times.
func TestARecordGetsObservationsEverLessOften(t *testing.T) {
	record, err := machines.New(machines.Config{})
	require.NoError(t, err)
	spy := &spyRecord{Record: record}
	tr := newTracker(t, tracker.Config{Tasks: 2, Slots: 2, Machines: 2, Interval: 10 * time.Second, Record: spy})
	tr.Start(at(0), 0, 1)
	for s := 1.; s <= 45; s++ {
		tr.Report(at(s), 0, 0, tracker.Report{Done: s / 1000})
	}
	assert.Equal(t, []float64{10, 17, 25, 34, 44}, spy.ages) // 17 >= 10 + 10/8 + 5, 25 >= 17 + 17/8 + 5, ...
}

// The sample of a running attempt is corrected by the errors of earlier predictions.
func TestSamplesAreCorrectedByEarlierErrors(t *testing.T) {
	kind := new(survival.Shape)
	first := newTracker(t, tracker.Config{Tasks: 8, Slots: 8, Interval: time.Second, Shape: kind})
	for i := range 8 {
		first.Start(at(0), i, i)
		first.Report(at(10), i, 0, tracker.Report{Done: 0.2})
		first.Finish(at(100), i, 0) // and not at 50 s
	}
	phase := kind.Phase()
	require.Greater(t, phase.Bias(2), 1.2)

	next := newTracker(t, tracker.Config{Tasks: 8, Slots: 8, Interval: time.Second, Shape: kind})
	for i := range 4 {
		next.Start(at(200), i, i)
		next.Report(at(210), i, 0, tracker.Report{Done: 0.2})
	}
	assert.InEpsilon(t, 10/phase.Time(0.2)*phase.Bias(2), next.UnitTimes().Mean(), 1e-3)
}
