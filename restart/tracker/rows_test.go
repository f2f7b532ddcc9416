package tracker_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// The tests below check that facts of a host reach the decision. They run phases in simulated time for which the
// right answer is known.

// The host's clock steps back by an hour while a slow task runs. The task gets its copy after a minute all the same.
func TestAStepOfTheClockDelaysNoCopy(t *testing.T) {
	for _, step := range []time.Duration{0, time.Hour} {
		tr := newTracker(t, tracker.Config{Tasks: 4, Slots: 8, Interval: time.Second, Policy: rules.Flink{}})
		now, copied := start, -1
		for task := range 4 {
			tr.Start(now, task, task)
		}
		for second := 1; copied < 0 && second < 5000; second++ {
			if now = now.Add(time.Second); second == 4 {
				now = now.Add(-step)
			}
			if second == 3 {
				for task := range 3 {
					tr.Finish(now, task, 0)
				}
			}
			if tr.Decide(now, 3).Action == restart.Copy {
				copied = second
			}
		}
		assert.InDelta(t, 60, copied, 1, "with a step of %v the copy comes too early or too late", step)
		assert.Equal(t, step > 0, tr.Ledger().ClockSteps == 1)
	}
}

// An attempt begins 30 s after its submission, and Config.Lag is 0. The tracker learns this delay, and the phase
// takes as long as with a correct Lag.
func TestDispatchDelayIsLearned(t *testing.T) {
	run := func(lag time.Duration) (end time.Duration, l tracker.Ledger, learned time.Duration) {
		s := newSim(t, tracker.Config{
			Tasks: 64, Machines: 4, Slots: 16, Interval: time.Second, Lag: lag, Policy: restart.Mantri{},
		}, func(_, _, machine int) time.Duration {
			if machine == 0 {
				return 80 * time.Second
			}
			return 40 * time.Second
		})
		s.dispatch = 30 * time.Second
		s.watch = func(_ time.Duration, a tracker.Answer) {
			if a.Fresh > 0 {
				learned = a.Fresh
			}
		}
		end = s.run(t)
		return end, s.tracker.Ledger(), learned
	}
	unknown, l, fresh := run(0)
	known, _, _ := run(30 * time.Second)
	t.Logf("%v without Lag, %v with it; %+v", unknown, known, l)
	assert.InEpsilon(t, known.Seconds(), unknown.Seconds(), 0.02)
	assert.GreaterOrEqual(t, fresh, 70*time.Second, "t_new is 30 s of dispatch and at least 40 s of work")
}

// Every fifth partition is empty. An empty partition differs from a partition of unknown size. So nothing is
// restarted and nothing is wasted.
func TestAnEmptyPartitionIsNotOfUnknownSize(t *testing.T) {
	work := make([]float64, 100)
	for i := range work {
		if i%5 > 0 {
			work[i] = 1000
		}
	}
	s := newSim(t, tracker.Config{Work: work, Machines: 10, Interval: time.Second}, func(task, _, _ int) time.Duration {
		if work[task] == 0 {
			return 4 * time.Second // it starts, and finds nothing to do
		}
		return 24 * time.Second
	})
	s.run(t)
	l := s.tracker.Ledger()
	assert.Zero(t, l.Restarts)
	assert.Zero(t, l.Copies)
	assert.Zero(t, l.Wasted)
}

// An attempt is restarted, and its success comes afterwards. It is accepted as a success.
func TestALateSuccessCounts(t *testing.T) {
	for _, runsAgain := range []bool{false, true} {
		tr := newTracker(t, tracker.Config{Tasks: 2, Slots: 2, Interval: time.Second})
		tr.Start(at(0), 0, 0)
		tr.Restart(at(10), 0, 0)
		var want []int
		if runsAgain {
			tr.Start(at(11), 0, 1)
			want = []int{1}
		}
		assert.ElementsMatch(t, want, tr.Finish(at(12), 0, 0))
		assert.Equal(t, 1, tr.Phase().Finished)
		assert.Equal(t, 1, tr.Phase().Waiting, "only the other task waits")
		assert.Equal(t, 2, tr.Phase().FreeSlots)
		l := tr.Ledger()
		assert.Equal(t, 1, l.Finished)
		assert.Equal(t, 1, l.Late)
		assert.Zero(t, l.Ignored)
		assert.Equal(t, 1, tr.Next(at(13), 0).Task)
		tr.Finish(at(14), 0, 0)
		assert.Equal(t, 1, tr.Ledger().Ignored, "once")
	}
}

// Attempts report progress in per cent, but the works are shares. The first report shows it, and is counted.
func TestTooLargeUnitsAreDetected(t *testing.T) {
	for _, policy := range []restart.Policy{restart.Mantri{}, rules.LATE{MinAge: restart.Off}, rules.Hadoop{MinAge: restart.Off}} {
		tr := newTracker(t, tracker.Config{Tasks: 4, Slots: 4, Interval: time.Second, Policy: policy})
		for task := range 4 {
			tr.Start(at(0), task, task)
		}
		for task := range 4 {
			a := tr.Report(at(5), task, 0, tracker.Report{Done: 7})
			assert.Equal(t, restart.BadUnits, a.Reason, "%T: %v", policy, a)
		}
		assert.Equal(t, 4, tr.Ledger().BadUnits)
		assert.NotEqual(t, restart.BadUnits, tr.Report(at(6), 0, 0, tracker.Report{Done: 1.001}).Reason, "a last block may exceed the work by a little")
	}
}

// Under Mantri a phase without reports has the reason no-progress, and not no-estimate.
func TestAPhaseWithoutReportsSaysSo(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 2, Slots: 2, Interval: time.Second, Policy: restart.Mantri{}})
	tr.Start(at(0), 0, 0)
	tr.Start(at(0), 1, 1)
	assert.Equal(t, restart.NoProgress, tr.Decide(at(100), 0).Reason)
	tr.Report(at(100), 1, 0, tracker.Report{Done: 0.5})
	assert.Equal(t, restart.NoEstimate, tr.Decide(at(100), 0).Reason, "once an attempt has reported, an estimate is missing")
}

// In a phase without progress, LATE judges the oldest attempt to be the slowest, and not the attempt of the task with
// the lowest number.
func TestLATETakesTheOldestWithoutProgress(t *testing.T) {
	tr := newTracker(t, tracker.Config{
		Tasks: 10, Slots: 20, Machines: 20, Interval: time.Second, Policy: rules.LATE{SlowTask: 1}, Limits: published,
	})
	for task := range 8 {
		tr.Start(at(0), task, task)
	}
	for task := range 8 {
		tr.Finish(at(30), task, 0)
	}
	tr.Start(at(100), 9, 9)
	tr.Start(at(150), 8, 8)
	tr.Sweep(at(300), func(tracker.Answer) {})
	a := tr.Next(at(300), 15)
	assert.Equal(t, 9, a.Task, "%v", a)
	assert.Equal(t, 200*time.Second, a.Remaining)
}

// answers is a policy that a host has written, and that always gives the same answer.
type answers restart.Decision

func (d answers) Decide(restart.Task, restart.Phase) restart.Decision { return restart.Decision(d) }

// An impossible answer of a policy is counted and kills nothing.
func TestAnswersOutOfRangeAreCounted(t *testing.T) {
	for _, d := range []restart.Decision{
		{Action: restart.Restart, Attempt: 1}, {Action: restart.Kill, Attempt: -1}, {Action: restart.Start}, {Action: 99},
	} {
		tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 1, Policy: answers(d)})
		tr.Start(at(0), 0, 0)
		a := tr.Decide(at(1), 0)
		assert.Equal(t, restart.Decision{Reason: restart.BadAnswer}, a.Decision)
		assert.Equal(t, 1, tr.Ledger().BadAnswers)
	}
	odd := answers{Reason: restart.NotSlow}
	odd.Measure, odd.Value, odd.Threshold = restart.SlotSeconds, math.NaN(), math.Inf(1)
	tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 1, Policy: odd})
	tr.Start(at(0), 0, 0)
	assert.Equal(t, restart.Decision{Reason: restart.NotSlow}, tr.Decide(at(1), 0).Decision)
}

// Spark and Flink use the median of the recorded run times. Tasks that finished without a run time, or twice, do not
// change it.
func TestMediansUseRecordedRunTimes(t *testing.T) {
	for policy, want := range map[restart.Policy]float64{rules.Spark{Quantile: 0.5}: 6, rules.Flink{LowerBound: restart.Off}: 3} {
		tr := newTracker(t, tracker.Config{Tasks: 10, Slots: 10, Interval: time.Second, Policy: policy})
		for i := range 10 {
			if i < 6 {
				tr.Submit(at(0), i, i)
			} else {
				tr.Start(at(0), i, i)
			}
		}
		for i := range 7 {
			tr.Finish(at(1), i, 0) // six of them never began
		}
		tr.Finish(at(2), 7, 0)
		tr.Finish(at(50), 8, 0)
		a := tr.Report(at(60), 9, 0, tracker.Report{Score: .1})
		assert.Equal(t, want, a.Threshold, "%v", a)
	}
	tr := newTracker(t, tracker.Config{Tasks: 11, Slots: 11, Interval: time.Second, Policy: rules.Spark{}})
	for i := range 11 {
		tr.Start(at(0), i, i)
	}
	for i := range 10 {
		tr.Finish(at(10+float64(i)), i, 0)
	}
	for i := range 10 {
		tr.LoseOutput(at(20), i)
	}
	for i := range 10 {
		tr.Start(at(20), i, i)
	}
	for i := range 10 {
		tr.Finish(at(30+float64(i)), i, 1)
	}
	assert.Equal(t, 45., tr.Report(at(44), 10, 0, tracker.Report{Score: .1}).Threshold, "tasks that lost their outputs must not change the median")
}

// evenProgress lets 50 phases of the kind "even" run, in which the progress of tasks is even.
func evenProgress(t *testing.T, know *tracker.Knowledge) {
	for range 50 {
		tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 1, Interval: 2 * time.Second, Knowledge: know, Kind: "even"})
		tr.Start(at(0), 0, -1)
		for age := 2.; age <= 20; age += 2 {
			tr.Report(at(age), 0, 0, tracker.Report{Score: age / 20})
		}
		tr.Finish(at(20), 0, 0)
	}
}

// cluster is the host of the tests about machines. It has ten machines of one slot, or only the nine good machines.
// The first of the ten is eight times slower. A share of the attempts takes four times as long on every machine.
type cluster struct {
	bad, record bool
	tasks       int
	seed        uint64
	odd         float64
	policy      restart.Policy
}

func (c cluster) run(t *testing.T) (end time.Duration, s *sim, r *machines.Record) {
	config := tracker.Config{Tasks: c.tasks, Machines: 9, Interval: 2 * time.Second, Policy: c.policy} // ten reports a task
	knows := tracker.KnowledgeConfig{Keep: restart.Off, Machines: noMachines}
	if c.bad {
		config.Machines = 10
	}
	if c.record {
		knows.Machines = machines.Config{}
	}
	config.Knowledge, config.Kind = knowing(t, knows), "even"
	evenProgress(t, config.Knowledge)
	good := make([]uint64, c.tasks) // attempts on good machines: the same luck in both clusters
	s = newSim(t, config, func(task, _, machine int) time.Duration {
		rng := rand.New(rand.NewPCG(c.seed, uint64(task)<<8|good[task]))
		if machine < 9 {
			good[task]++
		}
		d := 19 + 2*rng.Float64()
		if rng.Float64() < c.odd {
			d *= 4
		}
		if c.bad && machine == 9 {
			d *= 8
		}
		return seconds(d)
	})
	return s.run(t), s, config.Knowledge.Machines()
}

// One of ten machines is eight times slower. This is known after a few attempts, although none ever finished there.
// Then the machine gets no more attempts. Attempts that were killed there do not make the time of a new attempt
// (t_new) longer.
func TestOneSlowMachineIsKnown(t *testing.T) {
	for seed := range cases(3, 6) {
		_, s, r := cluster{bad: true, record: true, tasks: 800, seed: seed}.run(t)
		l, fresh := s.tracker.Ledger(), s.tracker.UnitTimes().Mean()
		if seed == 0 {
			t.Logf("restarts %d, E(t_new) %.1f s, factor %.2f", l.Restarts, fresh, r.Factor(9))
		}
		assert.LessOrEqual(t, l.Restarts, 20, "seed %d", seed)
		assert.GreaterOrEqual(t, fresh, 18., "seed %d", seed)
		assert.LessOrEqual(t, fresh, 22., "seed %d", seed)
		assert.InEpsilon(t, 8, r.Factor(9), 0.2, "seed %d", seed)
	}
}

// One of ten machines is eight times slower, and every twentieth attempt takes four times as long. The ten machines
// together are no slower than the nine good machines. The remaining difference is the choice of the last task.
func TestTenMachinesAreNeverSlowerThanNine(t *testing.T) {
	t.Parallel()
	var ten, nine time.Duration
	for seed := range cases(3, 6) {
		with, _, _ := cluster{bad: true, record: true, tasks: 800, seed: seed, odd: 0.05}.run(t)
		without, _, _ := cluster{record: true, tasks: 800, seed: seed, odd: 0.05}.run(t)
		ten, nine = ten+with, nine+without
		assert.LessOrEqual(t, with.Seconds(), without.Seconds()*1.01, "seed %d", seed)
	}
	t.Logf("ten %v, nine %v", ten, nine)
	assert.LessOrEqual(t, ten.Seconds(), nine.Seconds()*1.001)
}

// Every eighth of 48 tasks is slow on every machine, because of the way to its data. The host says so by Config.Path,
// and the tracker restarts and copies none of them in vain.
func TestTasksWithASlowPathAreLeftAlone(t *testing.T) {
	run := func(policy restart.Policy, knows bool) (time.Duration, tracker.Ledger) {
		config := tracker.Config{Tasks: 48, Machines: 6, Slots: 12, Interval: time.Second, Policy: policy}
		slow := func(task int) float64 {
			if task%8 == 0 {
				return 5
			}
			return 1
		}
		if knows {
			config.Path = func(task, _ int) float64 { return slow(task) }
		}
		s := newSim(t, config, func(task, _, _ int) time.Duration { return seconds(20 * slow(task)) })
		return s.run(t), s.tracker.Ledger()
	}
	never, base := run(restart.Never{}, true)
	blind, before := run(restart.Mantri{}, false)
	knowing, after := run(restart.Mantri{}, true)
	t.Logf("no policy %v, used %v; blind %v, %v; with the path %v, %v", never, base.Used, blind, before, knowing, after)
	assert.LessOrEqual(t, knowing, never)
	assert.InEpsilon(t, base.Used.Seconds(), after.Used.Seconds(), 0.02)
	assert.Zero(t, after.Restarts)
}

// The only other machine is too slow for a copy.
func TestNoCopyIfOnlyASlowMachineIsLeft(t *testing.T) {
	know := new(tracker.Knowledge)
	record := know.Machines()
	for i := range 8 {
		usual := 10 * time.Second
		record.End(start, 0, uint64(i), machines.Attempt{Ran: usual, Usual: usual}, machines.Finished)
		record.End(start, 1, uint64(i), machines.Attempt{Ran: usual * 87 / 10, Usual: usual}, machines.Finished)
	}
	for known, want := range map[bool]restart.Action{false: restart.Restart, true: restart.Keep} {
		c := tracker.Config{
			Tasks: 2, Slots: 1, Machines: 2, Interval: time.Second, Policy: restart.Mantri{},
			UnitTimes: estimate.UnitTimesConfig{Prior: policytest.Certain(10)},
		}
		if known {
			c.Knowledge = know
		}
		tr := newTracker(t, c)
		tr.Start(at(0), 0, 0)
		a := tr.Report(at(10), 0, 0, tracker.Report{Done: 0.2}) // 40 s left
		assert.Equal(t, want, a.Action, "%v", a)
		if known {
			assert.Equal(t, restart.NotSlow, a.Reason)
			assert.InDelta(t, 87, a.Fresh.Seconds(), 1, "t_new counts the slow machine: %v", a)
		}
	}
}

// A slow machine gets no waiting task while other attempts run. If nothing runs, it gets a task.
func TestASlowMachineGetsNoWaitingTask(t *testing.T) {
	know := new(tracker.Knowledge)
	record := know.Machines()
	for machine := range 4 {
		for i := range 8 {
			usual := 10 * time.Second
			ran := usual
			if machine == 3 {
				ran *= 5
			}
			record.End(start, 2e9+machine, uint64(i), machines.Attempt{Ran: ran, Usual: usual}, machines.Finished)
		}
	}
	tr := newTracker(t, tracker.Config{Tasks: 3, Slots: 4, Machines: 4, Interval: time.Second, Knowledge: know})
	assert.Equal(t, restart.Start, tr.Next(at(0), 2e9+3).Action, "while nothing runs, a slow machine gets a task")
	tr.Start(at(0), 0, 2e9)
	a := tr.Next(at(0), 2e9+3)
	assert.Equal(t, -1, a.Task)
	assert.Equal(t, restart.Decision{Reason: restart.SlowMachine, Comparison: restart.Compare(restart.SlowFactor, 5, 2)}, a.Decision)
	assert.Equal(t, restart.Start, tr.Next(at(0), 2e9+1).Action)
	assert.Equal(t, restart.Start, tr.Next(at(0), -1).Action)
}

// Clones are first attempts of a task that run at the same time. No clone is killed as the third attempt, clones use
// nothing of a shared budget, and each task gets the same number of clones.
func TestClonesAreFirstCopies(t *testing.T) {
	budget := newBudget(t, tracker.BudgetConfig{Slots: 100})
	clones := newTracker(t, tracker.Config{
		Tasks: 4, Slots: 12, Machines: 12, Interval: time.Second, Clones: 3, Budget: budget,
	})
	launched := map[int]int{}
	for machine := range 12 {
		a := clones.Next(at(0), machine)
		require.Equal(t, restart.Start, a.Action, "machine %d: %v", machine, a)
		clones.Start(at(0), a.Task, machine)
		launched[a.Task]++
	}
	assert.Equal(t, map[int]int{0: 3, 1: 3, 2: 3, 3: 3}, launched)
	assert.Equal(t, restart.Keep, clones.Next(at(0), 12).Action)
	assert.Zero(t, clones.Phase().Copies)
	assert.Zero(t, budget.Running())
	assert.True(t, budget.Allows(), "clones take nothing from the budget")
	for s := 1.; s < 20; s++ {
		for task := range 4 {
			for attempt := range 3 {
				speed := []float64{20, 20.5, 21}[attempt]
				a := clones.Report(at(s), task, attempt, tracker.Report{Done: s / speed})
				assert.Equal(t, restart.Keep, a.Action, "%v", a)
			}
		}
	}
	assert.Len(t, clones.Finish(at(20), 0, 0), 2)
	l := clones.Ledger()
	assert.Equal(t, 8, l.Clones)
	assert.Zero(t, l.Copies+l.Won+l.Lost+l.Pruned)
}

// A machine will leave at a known time. Tasks that would not end by then are copied elsewhere, and only tasks that
// end in time start there.
func TestTasksLeaveAMachineInTime(t *testing.T) {
	tr := newTracker(t, tracker.Config{
		Tasks: 4, Slots: 6, Machines: 6, Interval: time.Second, UnitTimes: estimate.UnitTimesConfig{Prior: policytest.Certain(40)},
	})
	for task := range 3 {
		tr.Start(at(0), task, task)
	}
	for task := range 3 {
		tr.Report(at(20), task, 0, tracker.Report{Done: 0.5}) // 20 s left
	}
	tr.Leave(at(20), 0, at(30))
	tr.Leave(at(20), 1, at(60))
	a := tr.Decide(at(20), 0)
	assert.Equal(t, restart.Leaving, a.Reason, "%v", a)
	assert.Equal(t, restart.Copy, a.Action)
	assert.True(t, a.Avoid.Has(0) && a.Avoid.Has(1), "the copy avoids both machines that leave: %v", a)
	assert.Equal(t, restart.Keep, tr.Decide(at(20), 1).Action, "the task ends in time")
	assert.Equal(t, restart.Leaving, tr.Next(at(20), 0).Reason)
	assert.Equal(t, 0, tr.Next(at(20), 5).Task)
	tr.Leave(at(21), 0, time.Time{})
	assert.Equal(t, restart.Keep, tr.Decide(at(21), 0).Action, "the machine stays after all")
}

// If a report is answered with Copy, the slow machines in the sense of LATE are in the Avoid of the decision, too.
func TestLATEAvoidsSlowNodesAtAReport(t *testing.T) {
	tr := newTracker(t, tracker.Config{
		Tasks: 12, Slots: 20, Machines: 5, Interval: time.Second, Policy: rules.LATE{SlowTask: 1}, Limits: published,
	})
	for task := range 8 {
		tr.Start(at(0), task, task%4)
		tr.Finish(at(0).Add(time.Minute), task, 0)
	}
	tr.Start(at(60), 8, 0)
	tr.Start(at(60), 9, 4)
	tr.Start(at(60), 10, 1)
	tr.Start(at(60), 11, 2)
	a := tr.Report(at(200), 8, 0, tracker.Report{Score: 0.1})
	require.Equal(t, restart.Copy, a.Action, "%v", a)
	assert.True(t, a.Avoid.Has(4), "nothing has finished on machine 4, so a copy avoids it: %v", a)
	assert.Equal(t, restart.SlowMachine, tr.Next(at(200), 4).Reason)
}

// On a machine an attempt was overtaken by a copy on another machine. In the last wave no task starts there, until an
// attempt has ended there, or as much time has passed as the longest attempt took. Before the last wave a task starts
// there, because the slot is worth more than the possible loss.
func TestABeatenMachineWaitsInTheLastWave(t *testing.T) {
	for _, tasks := range []int{8, 12} {
		tr := newTracker(t, tracker.Config{Tasks: tasks, Slots: 4, Machines: 4, Interval: 10 * time.Second})
		for task := range 4 {
			tr.Start(at(0), task, task)
		}
		tr.Finish(at(100), 1, 0)
		tr.Start(at(100), 0, 1)
		tr.Finish(at(190), 0, 1)
		assert.True(t, tr.Phase().Waiting == tasks-4)
		a := tr.Next(at(190), 0)
		if tasks == 12 {
			assert.Equal(t, restart.Start, a.Action, "before the last wave a task starts there")
			continue
		}
		assert.Equal(t, "keep beaten-machine waiting-tasks=4 threshold=4", a.Decision.String())
		assert.Equal(t, restart.Start, tr.Next(at(190), 1).Action, "the attempt on this machine was not slower")
		data, err := tr.MarshalBinary()
		require.NoError(t, err)
		restored, err := tracker.Restore(tracker.Config{}, data)
		require.NoError(t, err)
		assert.Equal(t, restart.BeatenMachine, restored.Next(at(190), 0).Reason)
		assert.Equal(t, restart.BeatenMachine, tr.Next(at(289), 0).Reason)
		assert.Equal(t, restart.Start, tr.Next(at(290), 0).Action, "the attempt was overtaken as long ago as the longest attempt took")
		tr.Finish(at(300), 2, 0)
		assert.Equal(t, restart.Start, tr.Next(at(300), 0).Action, "a longer attempt does not make the machine beaten again")
		tr.Start(at(190), 4, 0)
		tr.Finish(at(280), 4, 0)
		assert.Equal(t, restart.Start, tr.Next(at(280), 0).Action, "an attempt has ended on the machine since then")
	}
}

// A machine that was lost is not beaten when it comes back, and a copy on the same machine does not beat it.
func TestALostMachineIsNotBeaten(t *testing.T) {
	for _, where := range []int{0, 1} {
		tr := newTracker(t, tracker.Config{Tasks: 8, Slots: 4, Machines: 4, Interval: 10 * time.Second})
		for task := range 4 {
			tr.Start(at(0), task, task)
		}
		tr.Finish(at(100), 1, 0)
		tr.Start(at(100), 0, where)
		tr.Finish(at(190), 0, 1)
		if where == 1 {
			require.Equal(t, restart.BeatenMachine, tr.Next(at(190), 0).Reason)
			tr.LoseMachine(at(200), 0)
		}
		assert.Equal(t, restart.Start, tr.Next(at(210), 0).Action, "copy on machine %d", where)
	}
}

// The account of trials is told which of the attempts was killed: the cost of a lost trial is the age of the copy.
func TestALostTrialCostsTheAgeOfItsCopy(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 20, Slots: 4, Machines: 4, Interval: 10 * time.Second})
	for task := range 4 {
		tr.Start(at(0), task, task)
		tr.Report(at(50), task, 0, tracker.Report{Score: .5 - .45*float64(task/3)})
	}
	for task := range 3 {
		tr.Finish(at(100), task, 0)
	}
	require.Equal(t, restart.Copy, tr.Report(at(100), 3, 0, tracker.Report{Score: .1}).Action)
	copied := tr.Start(at(100), 3, 0)
	tr.Start(at(120), 3, 1)
	tr.Kill(at(130), 3, copied)
	assert.Equal(t, 30*time.Second, tr.Phase().Trials.Cost, "the other copy is 10 s old")
}
