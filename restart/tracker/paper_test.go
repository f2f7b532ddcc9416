package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// late543 is the example of LATE §5.4.3: 32 tasks on twelve machines with one slot each. Ten machines need a minute
// for a task, X needs 2.9 minutes, and Y needs 10.
func late543(t *testing.T, policy restart.Policy) time.Duration {
	s := newSim(t, tracker.Config{Tasks: 32, Machines: 12, Interval: 6 * time.Second, Policy: policy, Limits: published},
		func(_, _, machine int) time.Duration {
			switch machine {
			case 10:
				return 174 * time.Second
			case 11:
				return 10 * minute
			}
			return minute
		})
	return s.run(t)
}

func TestLATE543SlowNodeThreshold(t *testing.T) {
	without := late543(t, rules.LATE{SlowNode: restart.Off})
	with := late543(t, rules.LATE{})
	assert.Equal(t, 348*time.Second, without, "X, free at 2.9 min, takes the copy of the task on Y: 5.8 min")
	assert.Equal(t, 4*minute, with, "a fast machine, free at 3 min, takes the copy: 4.0 min")
	assert.InDelta(t, 0.45, without.Minutes()/with.Minutes()-1, 0.005, "the phase must be 45 % faster")
	assert.Equal(t, 10*minute, late543(t, restart.Never{}))
}

// reducers is a phase of 100 reducers. Some have finished, and their slots are free. The others are about to end the
// copy subphase, which is a third of the progress score.
func reducers(t *testing.T, finished int, policy restart.Policy) (tr *tracker.Tracker, copies int) {
	tr, err := tracker.New(tracker.Config{
		Tasks: 100, Slots: 100, Machines: 200, Interval: 10 * time.Second, Policy: policy, Limits: published,
	})
	require.NoError(t, err)
	for i := range 100 {
		require.Zero(t, tr.Start(start, i, i))
	}
	now := start.Add(2 * minute)
	for i := range finished {
		tr.Finish(now, i, 0)
	}
	for i := finished; i < 100; i++ {
		tr.Report(now, i, 0, tracker.Report{Score: 1. / 3})
	}
	tr.Sweep(now, func(tracker.Answer) {})
	for range 100 {
		machine := 100 + copies
		a := tr.Next(now, machine)
		if a.Action != restart.Copy || tr.Phase().FreeSlots == 0 {
			break
		}
		tr.Start(now, a.Task, machine)
		copies++
	}
	return tr, copies
}

// With 30 of 100 reducers finished, the mean score is 0.3 + 0.7/3 = 53 %, and a score of a third is 20 % below the
// mean. From then on, Hadoop judges every reducer in the copy subphase to be slow, until the slots are full. LATE
// stops at its cap.
func TestLATE32NativeRuleSpeculatesOnAll(t *testing.T) {
	tr, copies := reducers(t, 29, rules.Hadoop{})
	assert.InDelta(t, 0.527, tr.Phase().Peers.MeanScore, 0.001)
	assert.Zero(t, copies)
	_, copies = reducers(t, 30, rules.Hadoop{})
	assert.Equal(t, 30, copies, "copies must take all free slots")
	_, copies = reducers(t, 31, rules.LATE{SlowTask: 1, SlowNode: restart.Off})
	assert.Equal(t, 10, copies, "copies must take 10 % of the slots")
}

// LATE §4 measures a machine by its total progress. Without a Knowledge, only the progress in this phase is included,
// and machine 4 has as much as the others. With a Knowledge, the progress in all phases is included, and machine 4 has
// the least.
func TestLATE4SlowNodesOfAllPhases(t *testing.T) {
	for _, shared := range []bool{false, true} {
		c := tracker.Config{
			Tasks: 10, Slots: 20, Machines: 5, Interval: time.Second, Policy: rules.LATE{SlowTask: 1}, Limits: published,
		}
		if shared {
			c.Knowledge = new(tracker.Knowledge)
		}
		before := newTracker(t, c)
		for task := range 9 {
			before.Start(at(0), task, task%5)
			before.Finish(at(60), task, 0) // two on each machine, and one on machine 4
		}
		tr := newTracker(t, c)
		for task := range 10 {
			tr.Start(at(60), task, task%5)
			tr.Report(at(200), task, 0, tracker.Report{Score: .1})
		}
		a := tr.Report(at(201), 0, 0, tracker.Report{Score: .1})
		require.Equal(t, restart.Copy, a.Action, "%v", a)
		assert.Equal(t, shared, a.Avoid.Has(4), "%v", a)
		assert.False(t, a.Avoid.Has(3), "%v", a)
		assert.Equal(t, shared, tr.Next(at(201), 4).Reason == restart.SlowMachine)
	}
}

// LATE §4 ignores where a task's data is, both when it chooses a task and when it chooses a machine. A path to a
// machine that is eight times slower changes no answer of LATE. It changes the time of a new attempt (t_new) for
// Mantri.
func TestLATE4CopiesDisregardLocality(t *testing.T) {
	answers := func(policy restart.Policy, path func(task, machine int) float64) (all []restart.Decision) {
		tr := newTracker(t, tracker.Config{
			Tasks: 8, Slots: 20, Machines: 10, Interval: time.Second, Policy: policy, Limits: published, Path: path,
		})
		for task := range 8 {
			tr.Start(at(0), task, task)
		}
		for task := range 6 {
			tr.Finish(at(60), task, 0)
		}
		for task := 6; task < 8; task++ {
			all = append(all, tr.Report(at(100+float64(task)), task, 0, tracker.Report{Score: .1, Done: .1}).Decision)
		}
		return append(all, tr.Next(at(120), 9).Decision)
	}
	far := func(task, machine int) float64 { return map[bool]float64{false: 1, true: 8}[task == 7 || machine == 9] }
	late := rules.LATE{SlowTask: 1, SlowNode: restart.Off}
	got := answers(late, far)
	assert.Equal(t, answers(late, nil), got)
	assert.Equal(t, restart.Copy, got[2].Action)
	assert.NotEqual(t, answers(restart.Mantri{}, nil), answers(restart.Mantri{}, far))
}

// Mantri §5: "even when Mantri cannot ascertain the cause of an outlier, it experimentally starts copies". Task 0
// takes ten times as long as the others, either only in its first attempt or in every attempt. No fact tells which
// case it is.
func TestMantri5ClosedLoop(t *testing.T) {
	run := func(policy restart.Policy, repeats bool) (time.Duration, tracker.Ledger) {
		s := newSim(t, tracker.Config{
			Tasks: 12, Machines: 12, Slots: 12, Interval: time.Second, Policy: policy, Limits: published,
		},
			func(task, attempt, _ int) time.Duration {
				if task == 0 && (attempt == 0 || repeats) {
					return 200 * time.Second
				}
				return 20 * time.Second
			})
		return s.run(t), s.tracker.Ledger()
	}
	took, l := run(restart.Mantri{}, false)
	assert.Equal(t, 40*time.Second, took, "the task waits 20 s for progress, and its copy takes 20 s")
	assert.Equal(t, [...]int{1, 1}, [...]int{l.Copies, l.Won})
	took, l = run(restart.Mantri{}, true)
	never, _ := run(restart.Never{}, true)
	assert.Equal(t, never, took, "no copy is faster, because the task is slow everywhere")
	assert.Equal(t, [...]int{8, 0, 7, 1}, [...]int{l.Copies, l.Won, l.Pruned, l.Lost}, "%v", l)
	assert.Less(t, l.Wasted, never, "eight copies must waste less than the task takes alone")
}

// Mantri §5.3: "Mantri proactively recomputes tasks whose output and replicas, if any, have been lost". The task
// waits as soon as the loss is known, even if no other task asks for its output.
func TestMantri53LostOutputIsRecomputed(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 2, Slots: 2, Machines: 2, Interval: time.Second})
	for task := range 2 {
		tr.Start(at(0), task, task)
		tr.Finish(at(10), task, 0)
	}
	require.Equal(t, restart.Keep, tr.Next(at(10), 0).Action)
	tr.LoseOutput(at(20), 1)
	assert.Equal(t, 1, tr.Phase().Waiting)
	a := tr.Next(at(20), 0)
	assert.Equal(t, restart.Start, a.Action)
	assert.Equal(t, 1, a.Task)
	assert.Equal(t, 1, tr.Start(at(20), 1, 0))
	tr.Finish(at(30), 1, 1)
	assert.Equal(t, 2, tr.Phase().Finished)
}

// Mantri §6.2 counts the copies and the copies that ended first, and sums the time that copies cost. Of three copies
// the first wins, the second loses, and the third fails.
func TestMantri62SuccessRateOfCopies(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 3, Slots: 6, Machines: 6, Interval: time.Second})
	for task := range 3 {
		tr.Start(at(0), task, task)
	}
	for task := range 3 {
		tr.Start(at(10), task, task+3)
	}
	tr.Finish(at(15), 0, 1)
	tr.Finish(at(20), 1, 0)
	tr.Fail(at(21), 2, 1)
	tr.Finish(at(22), 2, 0)
	l := tr.Ledger()
	assert.Equal(t, [...]int{3, 1, 1, 1}, [...]int{l.Copies, l.Won, l.Lost, l.Failed})
	assert.Equal(t, 83*time.Second, l.Used)
	assert.Equal(t, 36*time.Second, l.Wasted, "the three copies must waste 15 s, 10 s and 11 s")
}
