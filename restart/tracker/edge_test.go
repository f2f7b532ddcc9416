package tracker_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// The tests below give extreme inputs: numbers that no host means, but that a host may send.

// A task with 65,537 attempts never uses the key of another task.
func TestManyAttemptsUseNoKeyOfAnotherTask(t *testing.T) {
	know, keys := new(tracker.Knowledge), map[uint64]bool{}
	tr := newTracker(t, tracker.Config{Tasks: 2, Slots: 2, Interval: time.Second, Knowledge: know})
	run := func(task int) {
		attempt := tr.Start(at(1), task, 0)
		tr.Report(at(3), task, attempt, tracker.Report{Done: .1})
		found := running(know)
		if len(found) != 1 {
			require.Len(t, found, 1)
		}
		keys[found[0]] = true
		tr.Fail(at(3), task, attempt)
	}
	run(1)
	clear(keys)
	for range 1<<16 + 1 {
		run(0)
	}
	assert.Len(t, keys, 1<<16)
	before := len(keys)
	run(1)
	assert.Len(t, keys, before+1)
}

// A Tracker that New did not make gives answers, and has no snapshot.
func TestAZeroTrackerAnswers(t *testing.T) {
	var tr tracker.Tracker
	_, err := tr.MarshalBinary()
	assert.ErrorContains(t, err, "New")
	for k := tracker.Started; k <= tracker.Swept; k++ {
		tr.Apply(tracker.Event{Kind: k, Time: start})
	}
}

// A snapshot can be restored even if the sum of the works is infinite, or if all works are almost zero.
func TestExtremeReportsCanBeRestored(t *testing.T) {
	huge := newTracker(t, tracker.Config{Tasks: 2, Slots: 2, Interval: time.Second, Policy: rules.Spark{}, Limits: published})
	for task := range 2 {
		huge.Start(at(0), task, task)
		huge.Report(at(1), task, 0, tracker.Report{Done: 1.7e308})
		huge.Finish(at(2), task, 0)
	}
	assert.Equal(t, math.MaxFloat64/4, huge.Phase().Peers.Throughput, "the two tasks took 4 s together")
	tiny := newTracker(t, tracker.Config{Work: []float64{5e-324, 1}, Slots: 2, Interval: time.Second})
	tiny.Start(at(0), 0, 0)
	tiny.Report(at(1), 0, 0, tracker.Report{Done: 5e-324, Saved: 5e-324})
	tiny.Fail(at(2), 0, 0)
	tiny.Start(at(2), 0, 0)
	tiny.Report(at(3), 0, 1, tracker.Report{Done: 5e-324, Score: 0.9})
	for _, tr := range []*tracker.Tracker{huge, tiny} {
		text, err := tr.MarshalBinary()
		require.NoError(t, err)
		_, err = tracker.Restore(tracker.Config{}, text)
		assert.NoError(t, err)
	}
}

// A report with a negative remaining time is ignored. An unknown remaining time is treated as if it were not given.
func TestANegativeRemainingIsIgnored(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 1, Interval: time.Second})
	tr.Start(at(0), 0, 0)
	assert.True(t, tr.Apply(tracker.Event{Kind: tracker.Reported, Time: at(1), Report: tracker.Report{Remaining: -1}}).Ignored)
	assert.Equal(t, 1, tr.Ledger().Ignored)
	tr.Report(at(2), 0, 0, tracker.Report{Done: 0.5, Remaining: estimate.Unknown})
	assert.Equal(t, 1, tr.Ledger().Ignored)
}

// An Interval that was meant in another unit is an error.
func TestAnIntervalOfNanosecondsIsAnError(t *testing.T) {
	_, err := tracker.New(tracker.Config{Tasks: 1, Interval: 10})
	assert.ErrorContains(t, err, "Config.Interval is 10ns, want at least 1µs")
	_, err = tracker.New(tracker.Config{Tasks: 1, Interval: time.Microsecond})
	assert.NoError(t, err)
}

// Many tasks run on the machine that asks for work, and have fewer clones than they should. Another task that also
// needs a clone is found all the same. Each task gets its clones only once, even a task that may be copied again
// later.
func TestManyTasksHideNoMissingClone(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 60, Slots: 200, Machines: 3, Interval: time.Second, Clones: 2})
	for task := range 60 {
		tr.Start(start, task, task/40) // 40 tasks on machine 0, 20 on machine 1
	}
	tr.SetEligible(59, false, true)
	var cloned []int
	for {
		a := tr.Next(start, 0)
		if a.Action != restart.Start {
			break
		}
		assert.Equal(t, restart.Cloned, a.Reason)
		cloned = append(cloned, a.Task)
		tr.Start(start, a.Task, 0)
	}
	assert.Equal(t, 19, len(cloned), "%v", cloned)
	assert.True(t, slices.IsSorted(cloned) && cloned[0] == 40, "%v", cloned)
	tr.SetEligible(59, true, true)
	assert.Equal(t, 59, tr.Next(start, 0).Task)
	text, _ := tr.MarshalBinary()
	restored, err := tracker.Restore(tracker.Config{}, text)
	require.NoError(t, err)
	for _, tr := range []*tracker.Tracker{tr, restored} {
		n := 0
		for ; tr.Next(start, 2).Reason == restart.Cloned; n++ {
			tr.Start(start, tr.Next(start, 2).Task, 2)
		}
		assert.Equal(t, 41, n)
	}
}

// One byte of a snapshot is changed to another value. The snapshot is rejected, or the restored tracker works without
// a panic. Each byte gets one of four values, and all four if STRAGGLER_LIVES is set.
func TestADamagedSnapshotDoesNotPanic(t *testing.T) {
	for seed, policy := range []restart.Policy{nil, rules.LATE{}, rules.Spark{}} {
		d := driver{t: t, rng: rand.New(rand.NewPCG(uint64(seed), 3)), now: start, n: 6}
		c := d.config(policy)
		c.Clones, c.Slots = 3, 8
		tr := newTracker(t, c)
		for range 60 {
			if e := d.event(); e.Kind != tracker.Closed {
				tr.Apply(e)
			}
		}
		text, err := tr.MarshalBinary()
		require.NoError(t, err)
		body := snapshottest.Body(text)
		for i := range body {
			for k, v := range []byte{0, 1, 0x7f, 0xff} {
				if uint64(k+4-i%4)%4 >= cases(1, 4) {
					continue
				}
				damaged := slices.Clone(body)
				damaged[i] = v
				tr, err := tracker.Restore(tracker.Config{}, snapshot.Seal(damaged, 0))
				if err != nil {
					continue
				}
				d := driver{t: t, rng: rand.New(rand.NewPCG(uint64(i), 4)), now: start, n: tr.Phase().Tasks}
				tr.SetSlots(20)
				for range 30 {
					tr.Apply(d.event())
					if a := tr.Next(d.now, i%9); a.Action == restart.Start || a.Action == restart.Copy {
						tr.Start(d.now, a.Task, i%9)
					}
				}
			}
		}
	}
}
