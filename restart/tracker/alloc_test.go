package tracker_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

func TestATrackerDoesNotAllocateInSteadyState(t *testing.T) {
	for name, policy := range policytest.Policies() {
		s := newSteady(t, 1000, policy)
		assert.Zero(t, testing.AllocsPerRun(2000, func() { sink = s.report() }), "%s: Report", name)
		assert.Zero(t, testing.AllocsPerRun(200, func() { sink = s.tracker.Decide(s.now, s.next) }), "%s: Decide", name)
		visit := func(a tracker.Answer) { sink = a }
		assert.Zero(t, testing.AllocsPerRun(3, func() { s.tracker.Sweep(s.now, visit) }), "%s: Sweep", name)
		machine := 0
		assert.Zero(t, testing.AllocsPerRun(200, func() {
			sink = s.tracker.Next(s.now, machine%100)
			machine++
		}), "%s: Next", name)
		s.tracker.SetSlots(1001) // a slot is free, and more copies run than a cap of a tenth allows
		for beside := range 200 {
			s.tracker.Start(s.now, 700+beside, 99)
		}
		s.tracker.Sweep(s.now, visit)
		assert.Zero(t, testing.AllocsPerRun(200, func() { sink = s.tracker.Next(s.now, machine%100) }), "%s: Next, refused", name)
		for beside := range 200 {
			s.tracker.Kill(s.now, 700+beside, 1)
		}
		s.tracker.SetSlots(1000)
		task := 0
		assert.Zero(t, testing.AllocsPerRun(200, func() { // a copy that is killed, and a restart
			s.now = s.now.Add(time.Second)
			attempt := s.tracker.Start(s.now, task, machine%100)
			s.tracker.Kill(s.now, task, attempt)
			attempt = s.tracker.Start(s.now, task, machine%100)
			s.tracker.Fail(s.now, task, attempt)
			task++
		}), "%s: Start, Kill, Fail", name)
		assert.Zero(t, testing.AllocsPerRun(200, func() { // a copy that is queued for a while, and a copy that never begins
			s.now = s.now.Add(time.Second)
			attempt := s.tracker.Submit(s.now, task, -1)
			s.tracker.Begin(s.now.Add(time.Second/2), task, attempt, machine%100)
			s.tracker.Kill(s.now, task, attempt)
			s.tracker.Kill(s.now, task, s.tracker.Submit(s.now, task, machine%100))
			task++
		}), "%s: Submit, Begin, Kill", name)
		assert.Zero(t, testing.AllocsPerRun(200, func() {
			s.now = s.now.Add(time.Second)
			s.tracker.Finish(s.now, task, 0)
			task++
		}), "%s: Finish", name)
		assert.Zero(t, testing.AllocsPerRun(200, func() {
			s.now = s.now.Add(time.Second)
			s.tracker.Restart(s.now, task, 0)
			a := s.tracker.Next(s.now, -1)
			if a.Action == restart.Start {
				s.tracker.Start(s.now, a.Task, machine%100)
			}
			task++
		}), "%s: Restart, Next, Start", name)
		assert.Zero(t, s.tracker.Ledger().Ignored, name)
	}
}

// liveBytes returns how many bytes of memory are in use. It keeps its arguments in memory until it returns.
func liveBytes(keep ...any) uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(keep)
	return m.HeapAlloc
}

// A tracker of a phase of ten tasks takes 5.7 kB while five of the tasks run. This matters to a host with many open
// phases.
func TestAnOpenPhaseIsSmall(t *testing.T) {
	const phases = 1000
	var before, after runtime.MemStats
	open := make([]*tracker.Tracker, phases)
	runtime.ReadMemStats(&before)
	for i := range open {
		open[i] = newTracker(t, tracker.Config{Tasks: 10, Slots: 10, Interval: time.Second})
		for task := range 5 {
			open[i].Start(start, task, task)
		}
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/phases, uint64(5800))
	runtime.KeepAlive(open)
}

// A tracker of a million tasks takes less than 240 bytes for each task, even if all tasks run and report. At the sizes of this test
// it takes less than 250. At some other sizes lists have just grown, and it takes up to 257.
func TestATaskTakesLessThan250Bytes(t *testing.T) {
	few := int(cases(10_000, 30_000))
	for _, c := range []struct {
		policy restart.Policy
		tasks  int
	}{{restart.Mantri{}, int(cases(40_000, 60_000))}, {rules.LATE{}, few}, {rules.Spark{}, few}, {rules.Hadoop{}, few}} {
		name := fmt.Sprintf("%T", c.policy)
		before := liveBytes()
		s := newSteady(t, c.tasks, c.policy)
		perTask := (float64(liveBytes(s)) - float64(before)) / float64(c.tasks)
		t.Logf("%s: %.1f bytes a task, %d running", name, perTask, c.tasks)
		assert.Less(t, perTask, 250., name) // for a million tasks, less than 240

		for i := range c.tasks { // and when all tasks have finished
			s.now = s.now.Add(time.Millisecond)
			s.tracker.Finish(s.now, i, 0)
		}
		perTask = (float64(liveBytes(s)) - float64(before)) / float64(c.tasks)
		t.Logf("%s: %.1f bytes a task, all finished", name, perTask)
		assert.Less(t, perTask, 250., name) // for a million tasks, less than 240
	}
	tasks := int(cases(20_000, 60_000))
	before := liveBytes()
	tr, err := tracker.New(tracker.Config{Tasks: tasks, Slots: 1000, Interval: 10 * time.Second})
	require.NoError(t, err)
	created := liveBytes(tr)
	for i := range tasks {
		now := start.Add(time.Duration(i) * time.Second)
		tr.Start(now, i, i%1000)
		tr.Report(now, i, 0, tracker.Report{Done: 0.5})
		if i >= 1000 {
			tr.Finish(now, i-1000, 0)
		}
	}
	after := liveBytes(tr)
	t.Logf("1000 slots: %.1f bytes a task at the start, %.1f at the end", float64(created-before)/float64(tasks), float64(after-before)/float64(tasks))
	assert.Less(t, float64(after-before)/float64(tasks), 120.)
}
