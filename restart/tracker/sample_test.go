package tracker_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// watcher is a policy that keeps every task. It stores the facts of the last task that it decided about.
type watcher struct{ saw *restart.Task }

func (w watcher) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	*w.saw = t
	w.saw.Attempts = append([]restart.Attempt(nil), t.Attempts...)
	return restart.Decision{}
}

func (w watcher) Describe() rules.Description { return rules.Description{} }

// A task without work, such as a task with nothing to read, reports a score. Its remaining time follows from the
// score.
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

// lastObserved returns the time of the latest observation of the only attempt that runs by a record of machines, since the
// record's first event. The record shows it to nobody, so lastObserved reads its fields.
func lastObserved(know *tracker.Knowledge) time.Duration {
	all := reflect.ValueOf(know.Machines()).Elem().FieldByName("machines")
	if all.Len() == 0 {
		return 0
	}
	return time.Duration(all.Index(0).FieldByName("present").Index(0).FieldByName("at").Int())
}

// A record of machines gets the first observation of a running attempt after an interval. It gets the next observation
// when the attempt is older by half an interval and an eighth of its age at the last observation. This is often enough
// for a judgement of the machine, and only O(log age) times.
func TestARecordGetsObservationsEverLessOften(t *testing.T) {
	know := new(tracker.Knowledge)
	tr := newTracker(t, tracker.Config{Tasks: 2, Slots: 2, Machines: 2, Interval: 10 * time.Second, Knowledge: know})
	tr.Start(at(0), 0, 1)
	var ages []float64
	last := time.Duration(0)
	for s := 1.; s <= 45; s++ {
		tr.Report(at(s), 0, 0, tracker.Report{Done: s / 1000})
		if is := lastObserved(know); is != last {
			ages, last = append(ages, s), is
		}
	}
	assert.Equal(t, []float64{10, 17, 25, 34, 44}, ages) // 17 >= 10 + 10/8 + 5, 25 >= 17 + 17/8 + 5, ...
}

// The sample of a running attempt is corrected by the errors of earlier predictions.
func TestSamplesAreCorrectedByEarlierErrors(t *testing.T) {
	c := tracker.Config{Tasks: 8, Slots: 8, Interval: time.Second, Knowledge: knowing(t, tracker.KnowledgeConfig{Keep: restart.Off, Machines: noMachines}), Kind: "a"}
	first := newTracker(t, c)
	for i := range 8 {
		first.Start(at(0), i, i)
		first.Report(at(10), i, 0, tracker.Report{Done: 0.2})
		first.Finish(at(100), i, 0) // and not at 50 s
	}
	var kind survival.Shape
	of := kind.Phase()
	for range 8 {
		var trail survival.Trail
		trail.Report(seconds(10), 0.2)
		of.Finish(&trail, seconds(100), first.Config().Model)
	}
	phase := kind.Phase()
	require.Greater(t, phase.Bias(2), 1.2)

	next := newTracker(t, c)
	for i := range 4 {
		next.Start(at(200), i, i)
		next.Report(at(210), i, 0, tracker.Report{Done: 0.2})
	}
	assert.InEpsilon(t, 10/phase.Time(0.2)*phase.Bias(2), next.UnitTimes().Mean(), 1e-3)
}
