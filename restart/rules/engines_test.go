package rules_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// These tests check the defaults of each rule and both sides of each threshold. The sources are Spark 4's
// TaskSetManager and PercentileHeap, Flink's ExecutionTimeBasedSlowTaskDetector, and the papers.

func values(v ...float64) *estimate.Empirical {
	e := new(estimate.Empirical)
	for _, x := range v {
		e.Insert(x)
	}
	return e
}

// aged is a task with one attempt of the given age.
func aged(s float64) restart.Task {
	return restart.Task{Attempts: []restart.Attempt{{Machine: 3, Elapsed: seconds(s)}}}
}

// onBothSides wants a copy at the given age, and none a nanosecond below. With strict it wants the copy only a
// nanosecond above.
func onBothSides(t *testing.T, policy restart.Policy, p restart.Phase, age float64, strict bool) {
	t.Helper()
	at, above, below := aged(age), aged(age), aged(age)
	above.Attempts[0].Elapsed++
	below.Attempts[0].Elapsed--
	assert.Equal(t, restart.Keep, policy.Decide(below, p).Action, "below %v s: %v", age, policy.Decide(below, p))
	want := restart.Copy
	if strict {
		want = restart.Keep
	}
	assert.Equal(t, want, policy.Decide(at, p).Action, "at %v s: %v", age, policy.Decide(at, p))
	assert.Equal(t, restart.Copy, policy.Decide(above, p).Action, "above %v s: %v", age, policy.Decide(above, p))
}

func TestPublishedDefaults(t *testing.T) {
	assert.Equal(t, rules.LATE{SpeculativeCap: 0.1, SlowNode: 0.25, SlowTask: 0.25, MinAge: time.Minute}, rules.LATE{}.Effective())
	assert.Equal(t, rules.Hadoop{ScoreLag: 0.2, MinAge: time.Minute}, rules.Hadoop{}.Effective())
	assert.Equal(t, rules.Dryad{Percentile: 0.75, MinFinished: 4}, rules.Dryad{}.Effective())
	assert.Equal(t, rules.MapReduce{NearEnd: 0.9}, rules.MapReduce{}.Effective())
	assert.Equal(t, rules.Spark{
		Quantile: 0.9, Multiplier: 3, MinRuntime: 100 * time.Millisecond, ExecutorSlots: 1, SlowRate: 0.75, LongRun: 2,
	}, rules.Spark{}.Effective())
	assert.Equal(t, rules.Flink{Ratio: 0.75, Multiplier: 1.5, LowerBound: time.Minute}, rules.Flink{}.Effective())
	assert.Equal(t, rules.SDA{Multiplier: 1 + math.Sqrt2/2}, rules.SDA{}.Effective())
	assert.Equal(t, rules.ESE{Multiplier: 1 + math.Sqrt2/2}, rules.ESE{}.Effective())
	assert.Equal(t, restart.Decision{Reason: restart.Disabled}, restart.Never{}.Decide(aged(1e6), idle))
}

// All rules that allow one copy share these tests.
func TestOneCopyRules(t *testing.T) {
	p := restart.Phase{
		Tasks: 10, Finished: 9, Slots: 10, FreeSlots: 1,
		Peers: restart.Peers{
			Durations: values(1, 1, 1, 1), ProgressRates: values(1, 1), MeanScore: 0.9,
		},
	}
	slow := func() restart.Task {
		task := aged(600)
		task.Attempts[0].Remaining, task.Fresh = 600*time.Second, estimate.Fresh{UnitTime: values(1), Work: 1}
		return task
	}
	for name, policy := range map[string]restart.Policy{
		"late": rules.LATE{}, "hadoop": rules.Hadoop{}, "mapreduce": rules.MapReduce{}, "dryad": rules.Dryad{},
		"spark": rules.Spark{}, "flink": rules.Flink{}, "sda": rules.SDA{}, "ese": rules.ESE{},
	} {
		task := slow()
		task.PastMachines = []int{5}
		d := policy.Decide(task, p)
		require.Equal(t, restart.Copy, d.Action, "%s: %v", name, d)
		assert.True(t, d.Avoid.Len() == 2 && d.Avoid.At(0) == 3 && d.Avoid.At(1) == 5, "%s: %v", name, d)
		task.Attempts = append(task.Attempts, task.Attempts[0])
		assert.Equal(t, restart.EnoughAttempts, policy.Decide(task, p).Reason, name)
		assert.Equal(t, restart.NotRunning, policy.Decide(restart.Task{}, p).Reason, name)
		task = slow()
		task.NoCopy = true
		assert.Equal(t, restart.NotEligible, policy.Decide(task, p).Reason, name)
		full, busy := p, p
		full.FreeSlots = 0
		assert.Equal(t, restart.NoFreeSlot, policy.Decide(slow(), full).Reason, name)
		busy.Waiting = 1
		switch name {
		case "dryad", "flink", "ese": // these rules ignore waiting tasks
			assert.Equal(t, restart.Copy, policy.Decide(slow(), busy).Action, name)
		default:
			assert.Equal(t, restart.TasksWaiting, policy.Decide(slow(), busy).Reason, name)
		}
	}
}

func TestDryadPercentile(t *testing.T) {
	p := restart.Phase{Tasks: 8, Finished: 4, FreeSlots: 1, Peers: restart.Peers{Durations: values(10, 20, 30, 40)}}
	onBothSides(t, rules.Dryad{}, p, 30, true) // strict: the least run time that 75 % do not exceed
	onBothSides(t, rules.Dryad{Percentile: 1}, p, 40, true)
	p.Finished = 3
	assert.Equal(t, restart.TooFewFinished, rules.Dryad{}.Decide(aged(100), p).Reason)
	onBothSides(t, rules.Dryad{MinFinished: 3}, p, 30, true)
	p.Peers.Durations = nil
	assert.Equal(t, restart.NoEstimate, rules.Dryad{MinFinished: 3}.Decide(aged(100), p).Reason)
}

func TestMapReduceNearEnd(t *testing.T) {
	for _, c := range []struct {
		share       float64
		tasks, need int
	}{{0, 10, 9}, {0, 11, 10}, {0, 1000, 900}, {0.07, 100, 7}, {0.55, 100, 55}, {1, 7, 7}} {
		p := restart.Phase{Tasks: c.tasks, Finished: c.need, FreeSlots: 1}
		m := rules.MapReduce{NearEnd: c.share}
		assert.Equal(t, restart.Copy, m.Decide(aged(0), p).Action, "%+v", c)
		p.Finished--
		assert.Equal(t, restart.TooFewFinished, m.Decide(aged(0), p).Reason, "%+v", c)
	}
	assert.Equal(t, restart.TooFewFinished, rules.MapReduce{}.Decide(aged(0), restart.Phase{FreeSlots: 1}).Reason)
}

func TestHadoopBehindAverage(t *testing.T) {
	p := restart.Phase{FreeSlots: 1, Peers: restart.Peers{MeanScore: 0.9}}
	task := aged(60)
	for _, c := range []struct {
		score float64
		want  restart.Reason
	}{
		{0.69, restart.BehindAverage}, {0.699999, restart.BehindAverage},
		{0.7, restart.BehindAverage}, // 0.9-0.2 is 0.7, though not in float64
		{0.700001, restart.NotSlow},
		{0.71, restart.NotSlow}, {math.NaN(), restart.NoEstimate}, {math.Inf(-1), restart.NoEstimate},
	} {
		task.Attempts[0].Score = c.score
		assert.Equal(t, c.want, rules.Hadoop{}.Decide(task, p).Reason, "%v", c.score)
	}
	// The mean is 0.2, so the limit is exactly 0. A score of up to 1e-12 above it may be a rounding error.
	early := p
	early.Peers.MeanScore = 0.2
	for score, want := range map[float64]restart.Reason{1e-12: restart.BehindAverage, 1.1e-12: restart.NotSlow} {
		task.Attempts[0].Score = score
		assert.Equal(t, want, rules.Hadoop{}.Decide(task, early).Reason, "%v", score)
	}
	task.Attempts[0].Score = 0.5
	task.Attempts[0].Elapsed--
	assert.Equal(t, restart.TooYoung, rules.Hadoop{}.Decide(task, p).Reason, "an attempt must have run for a minute")
	assert.Equal(t, restart.Copy, rules.Hadoop{MinAge: restart.Off}.Decide(task, p).Action)
	two := aged(60)
	two.Attempts = append(two.Attempts, two.Attempts[0])
	assert.Equal(t, restart.EnoughAttempts, rules.Hadoop{}.Decide(two, p).Reason, "a task gets one copy at a time")
	// LATE §2.2: a task with a score above 0.8 gets no copy, because the mean cannot exceed 1.
	task = aged(60)
	task.Attempts[0].Score, p.Peers.MeanScore = 0.8+1e-9, 1
	assert.Equal(t, restart.NotSlow, rules.Hadoop{}.Decide(task, p).Reason)
}

// The same rules decide on the facts that a Tracker keeps. Ten tasks run on ten slots, each with 10 units of
// work. Nine end after 10, 20, ..., 90 s, and task 9 goes on.
func TestEnginesOnATrackersFacts(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy restart.Policy
		age    time.Duration // the first age at which task 9 gets a copy, to the nanosecond
		rate   float64       // units per second of task 9
	}{
		{"spark, 3 x 50 s", rules.Spark{}, 150*time.Second + 1, 0.1},
		// The others did 90 units in 450 s. Task 9 does 0.16 units a second, more than 0.75 of the others'
		// rate, so its threshold doubles.
		{"spark, efficient", rules.Spark{}, 300*time.Second + 1, 0.16},
		{"spark 3, 1.5 x 50 s", rules.Spark{Quantile: 0.75, Multiplier: 1.5}, 90 * time.Second, 0.1},
		// k = round(7.5) = 8, index 4: 50 s, x 1.5.
		{"flink", rules.Flink{}, 90 * time.Second, 0.1},
		{"flink, x 3", rules.Flink{Multiplier: 3}, 150 * time.Second, 0.1},
		// The 75th percentile of nine values is the seventh: 70 s. All nine have finished at 90 s.
		{"dryad", rules.Dryad{Percentile: 1}, 90*time.Second + 1, 0.1},
		{"mapreduce", rules.MapReduce{}, 90 * time.Second, 0.1},
		// The mean score is (9 + 0.09)/10. Task 9's rate is 0.001 a second, and the 25th percentile of all
		// rates is that of the 70 s task.
		{"hadoop", rules.Hadoop{}, 90 * time.Second, 0.01},
		{"late", rules.LATE{}, 90 * time.Second, 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			work := make([]float64, 10)
			for i := range work {
				work[i] = 10
			}
			tr, err := tracker.New(tracker.Config{
				Work: work, Slots: 10, Machines: 20, Interval: 10 * time.Second, Policy: c.policy, Limits: published,
			})
			require.NoError(t, err)
			for i := range work {
				tr.Start(start, i, i)
			}
			for i := range 9 {
				tr.Finish(start.Add(time.Duration(i+1)*10*time.Second), i, 0)
			}
			report := func(age time.Duration) tracker.Answer {
				return tr.Report(start.Add(age), 9, 0, tracker.Report{Done: c.rate * age.Seconds()})
			}
			if c.age > 90*time.Second {
				d := report(c.age - 1)
				require.Equal(t, restart.Keep, d.Action, "%v", d)
			}
			d := report(c.age)
			require.Equal(t, restart.Copy, d.Action, "%v", d)
			next := tr.Next(start.Add(c.age), 9)
			assert.Equal(t, -1, next.Task)
			assert.Equal(t, restart.SameMachine, next.Reason, "a copy must not run on the machine of the task")
			next = tr.Next(start.Add(c.age), 15)
			assert.Equal(t, 9, next.Task)
			assert.Equal(t, restart.Copy, next.Action)
		})
	}
}
