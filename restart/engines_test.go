package restart_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// The rules of the engines and of the papers' other schemes: defaults, and each boundary on both sides. The sources are
// Spark 4's TaskSetManager and PercentileHeap, Flink's ExecutionTimeBasedSlowTaskDetector, and the papers.

func values(v ...float64) *estimate.Empirical {
	e := new(estimate.Empirical)
	for _, x := range v {
		e.Insert(x)
	}
	return e
}

// aged is a task with one copy of the given age.
func aged(s float64) restart.Task {
	return restart.Task{Copies: []restart.Copy{{Machine: 3, Elapsed: seconds(s)}}}
}

// onBothSides wants a copy at the given age, and none a nanosecond below; strict asks for one a nanosecond above instead.
func onBothSides(t *testing.T, policy restart.Policy, p restart.Phase, age float64, strict bool) {
	t.Helper()
	at, above, below := aged(age), aged(age), aged(age)
	above.Copies[0].Elapsed++
	below.Copies[0].Elapsed--
	assert.Equal(t, restart.Keep, policy.Decide(below, p).Action, "below %v s: %v", age, policy.Decide(below, p))
	want := restart.Duplicate
	if strict {
		want = restart.Keep
	}
	assert.Equal(t, want, policy.Decide(at, p).Action, "at %v s: %v", age, policy.Decide(at, p))
	assert.Equal(t, restart.Duplicate, policy.Decide(above, p).Action, "above %v s: %v", age, policy.Decide(above, p))
}

func TestPublishedDefaults(t *testing.T) {
	assert.Equal(t, restart.LATE{SpeculativeCap: 0.1, SlowNode: 0.25, SlowTask: 0.25, MinAge: time.Minute}, restart.LATE{}.Effective())
	assert.Equal(t, restart.Hadoop{ScoreLag: 0.2, MinAge: time.Minute}, restart.Hadoop{}.Effective())
	assert.Equal(t, restart.Dryad{Percentile: 0.75, MinFinished: 4}, restart.Dryad{}.Effective())
	assert.Equal(t, restart.MapReduce{NearEnd: 0.9}, restart.MapReduce{}.Effective())
	assert.Equal(t, restart.Spark{
		Quantile: 0.9, Multiplier: 3, MinRuntime: 100 * time.Millisecond, ExecutorSlots: 1, SlowRate: 0.75, LongRun: 2,
	}, restart.Spark{}.Effective())
	assert.Equal(t, restart.Flink{Ratio: 0.75, Multiplier: 1.5, LowerBound: time.Minute}, restart.Flink{}.Effective())
	assert.Equal(t, restart.Decision{Reason: restart.Disabled}, restart.Never{}.Decide(aged(1e6), idle))
}

// What all rules share that allow one copy beside the original.
func TestOneCopyRules(t *testing.T) {
	p := restart.Phase{
		Tasks: 10, Finished: 9, Slots: 10, FreeSlots: 1,
		Peers: restart.Peers{
			Durations: values(1, 1, 1, 1), ProgressRates: values(1, 1), MeanScore: 0.9,
		},
	}
	for name, policy := range map[string]restart.Policy{
		"late": restart.LATE{}, "hadoop": restart.Hadoop{}, "mapreduce": restart.MapReduce{}, "dryad": restart.Dryad{},
		"spark": restart.Spark{}, "flink": restart.Flink{},
	} {
		task := aged(600)
		task.Tried = []int{5}
		d := policy.Decide(task, p)
		require.Equal(t, restart.Duplicate, d.Action, "%s: %v", name, d)
		assert.True(t, d.Avoid.Len() == 2 && d.Avoid.At(0) == 3 && d.Avoid.At(1) == 5, "%s: %v", name, d)
		task.Copies = append(task.Copies, task.Copies[0])
		assert.Equal(t, restart.EnoughCopies, policy.Decide(task, p).Reason, name)
		assert.Equal(t, restart.NotRunning, policy.Decide(restart.Task{}, p).Reason, name)
		task = aged(600)
		task.NoDuplicate = true
		assert.Equal(t, restart.NotEligible, policy.Decide(task, p).Reason, name)
		full, busy := p, p
		full.FreeSlots = 0
		assert.Equal(t, restart.NoFreeSlot, policy.Decide(aged(600), full).Reason, name)
		busy.Waiting = 1
		switch name {
		case "dryad", "flink": // neither asks whether tasks wait
			assert.Equal(t, restart.Duplicate, policy.Decide(aged(600), busy).Action, name)
		default:
			assert.Equal(t, restart.TasksWaiting, policy.Decide(aged(600), busy).Reason, name)
		}
	}
}

func TestSparkThreshold(t *testing.T) {
	p := restart.Phase{Tasks: 10, Finished: 9, FreeSlots: 1, Peers: restart.Peers{Durations: values(1, 2, 3, 4, 5, 6, 7, 8, 9)}}
	onBothSides(t, restart.Spark{}, p, 15, true) // 3 x median 5, strictly

	// Of an even number it is the upper of the two middle ones, not their mean: index n/2.
	p.Tasks, p.Finished, p.Peers.Durations = 5, 4, values(1, 2, 6, 7)
	onBothSides(t, restart.Spark{}, p, 18, true)
	// A distribution that is not empirical is asked for the same order statistic.
	p.Peers.Durations = struct{ estimate.Distribution }{values(1, 2, 6, 7)}
	onBothSides(t, restart.Spark{}, p, 18, true)

	p.Peers.Durations = values(0.01, 0.01, 0.01, 0.01)
	onBothSides(t, restart.Spark{}, p, 0.1, true) // the minimum runtime, 100 ms
	onBothSides(t, restart.Spark{MinRuntime: restart.Off}, p, 0.03, true)
	p.Peers.Durations = nil
	assert.Equal(t, restart.NoEstimate, restart.Spark{}.Decide(aged(100), p).Reason)
}

func TestSparkQuantile(t *testing.T) {
	phase := func(tasks, finished int) restart.Phase {
		return restart.Phase{Tasks: tasks, Finished: finished, FreeSlots: 1, Peers: restart.Peers{Durations: values(1)}}
	}
	for _, c := range []struct{ tasks, need int }{
		{10, 9}, {11, 9}, {19, 17}, {20, 18}, {100, 90}, {2, 1}, // max(floor(0.9 n), 1)
	} {
		assert.Equal(t, restart.Duplicate, restart.Spark{}.Decide(aged(10), phase(c.tasks, c.need)).Action, "%+v", c)
		if c.need > 1 {
			d := restart.Spark{}.Decide(aged(10), phase(c.tasks, c.need-1))
			assert.Equal(t, restart.TooFewFinished, d.Reason, "%+v", c)
			assert.Equal(t, float64(c.need), d.Threshold)
		}
	}
	assert.Equal(t, restart.TooFewFinished, restart.Spark{Quantile: 0.1}.Decide(aged(10), phase(5, 0)).Reason, "at least one")
	assert.Equal(t, restart.TooFewFinished, restart.Spark{}.Decide(aged(10), phase(math.MaxInt, 5)).Reason)
}

func TestSparkSingleTaskAndDuration(t *testing.T) {
	p := restart.Phase{Tasks: 1, FreeSlots: 1}
	assert.Equal(t, restart.TooFewFinished, restart.Spark{}.Decide(aged(1e6), p).Reason, "a single task is left alone")
	again := restart.Phase{Tasks: 1, Finished: 1, FreeSlots: 1, Peers: restart.Peers{Durations: values(1)}}
	assert.Equal(t, restart.TooFewFinished, restart.Spark{}.Decide(aged(1e6), again).Reason, "even if it has run before")
	set := restart.Spark{Duration: time.Minute}
	onBothSides(t, set, p, 60, true)
	p.Tasks = 2
	assert.Equal(t, restart.TooFewFinished, set.Decide(aged(61), p).Reason, "more tasks than an executor has slots")
	set.ExecutorSlots = 2
	onBothSides(t, set, p, 60, true)
	// The set duration asks for no efficiency, and gives way once enough tasks have finished.
	p.Peers.Throughput = 1e-9
	onBothSides(t, set, p, 60, true)
	p.Finished, p.Peers.Durations, p.Peers.Throughput = 1, values(100), 0
	onBothSides(t, set, p, 300, true)
}

func TestSparkEfficiency(t *testing.T) {
	p := restart.Phase{Tasks: 10, Finished: 9, FreeSlots: 1, Peers: restart.Peers{Durations: values(10), Throughput: 4}}
	task := aged(40) // beyond 30 s, not beyond 60 s
	for _, c := range []struct {
		done float64
		want restart.Action
	}{{120, restart.Keep}, {119.9, restart.Duplicate}, {0, restart.Duplicate}} { // 40 s x 4/s x 0.75, strictly less
		task.Copies[0].Done = c.done
		assert.Equal(t, c.want, restart.Spark{}.Decide(task, p).Action, "%+v", c)
		assert.Equal(t, restart.Duplicate, restart.Spark{SlowRate: restart.Off}.Decide(task, p).Action)
	}
	// An efficient task is left alone for twice the threshold.
	task.Copies[0].Done = 1e6
	task.Copies[0].Elapsed = 60 * time.Second
	assert.Equal(t, restart.NotSlow, restart.Spark{}.Decide(task, p).Reason)
	task.Copies[0].Elapsed++
	assert.Equal(t, restart.Duplicate, restart.Spark{}.Decide(task, p).Action)
	// Without a record of work every task counts as inefficient.
	p.Peers.Throughput = 0
	task.Copies[0].Elapsed = 30*time.Second + 1
	assert.Equal(t, restart.Duplicate, restart.Spark{}.Decide(task, p).Action)
}

func TestFlinkBaseline(t *testing.T) {
	p := restart.Phase{Tasks: 8, Finished: 6, FreeSlots: 1}
	// k = round(8 x 0.75) = 6; index 3 of the sorted times, x 1.5: at 120 s it is slow, not strictly beyond.
	p.Peers.Durations = values(60, 70, 75, 80, 90, 1000)
	onBothSides(t, restart.Flink{}, p, 120, false)
	// Only the k smallest count: with all 8 but one finished, the index stays.
	p.Finished, p.Peers.Durations = 7, values(60, 70, 75, 80, 90, 1000, 2000)
	onBothSides(t, restart.Flink{}, p, 120, false)
	// k is rounded half up, as Java does: 0.75 x 6 = 4.5 gives 5, and index 2.
	p.Tasks, p.Finished, p.Peers.Durations = 6, 5, values(60, 70, 80, 100, 100)
	onBothSides(t, restart.Flink{}, p, 120, false)
	p.Peers.Durations = struct{ estimate.Distribution }{values(60, 70, 80, 100, 100)}
	onBothSides(t, restart.Flink{}, p, 120, false)
	// Never below a minute, and at a minute.
	p.Peers.Durations = values(1, 1, 1, 1, 1)
	onBothSides(t, restart.Flink{}, p, 60, false)
	assert.Equal(t, restart.TooYoung, restart.Flink{}.Decide(aged(59), p).Reason)
	onBothSides(t, restart.Flink{LowerBound: restart.Off}, p, 1.5, false)
	p.Peers.Durations = nil
	assert.Equal(t, restart.NoEstimate, restart.Flink{}.Decide(aged(59), p).Reason)
}

func TestFlinkRatio(t *testing.T) {
	for _, c := range []struct {
		ratio       float64
		tasks, need int
	}{{0, 4, 3}, {0, 5, 4}, {0, 8, 6}, {0.07, 100, 7}, {0.55, 100, 55}, {0.29, 100, 29}} {
		p := restart.Phase{Tasks: c.tasks, Finished: c.need, FreeSlots: 1, Peers: restart.Peers{Durations: values(1)}}
		f := restart.Flink{Ratio: c.ratio}
		assert.Equal(t, restart.Duplicate, f.Decide(aged(600), p).Action, "%+v", c)
		p.Finished--
		assert.Equal(t, restart.TooFewFinished, f.Decide(aged(600), p).Reason, "%+v", c)
	}
}

func TestFlinkWeighsByWork(t *testing.T) {
	p := restart.Phase{Tasks: 4, Finished: 3, FreeSlots: 1, Peers: restart.Peers{
		Durations: values(60, 60, 60), Rates: values(2, 2, 2), // 30 units each
	}}
	task := aged(300)
	assert.Equal(t, restart.Duplicate, restart.Flink{}.Decide(task, p).Action, "work not known")
	task.Work = 100
	assert.Equal(t, restart.Duplicate, restart.Flink{}.Decide(task, p).Action, "3 s a unit is 1.5 x 2, not strictly beyond")
	task.Work = 101
	assert.Equal(t, restart.NotSlow, restart.Flink{}.Decide(task, p).Reason, "it has more data")

	// Tasks are ranked by time, whatever the unit of their work: this one would have been slow after 90 s.
	task.Work = 30
	assert.Equal(t, 210*time.Second, restart.Flink{}.Decide(task, p).Gain)
	task.Work, p.Peers.Rates = 30e9, values(2e-9, 2e-9, 2e-9)
	assert.InDelta(t, 210, restart.Flink{}.Decide(task, p).Gain.Seconds(), 1e-6)
}

func TestDryadPercentile(t *testing.T) {
	p := restart.Phase{Tasks: 8, Finished: 4, FreeSlots: 1, Peers: restart.Peers{Durations: values(10, 20, 30, 40)}}
	onBothSides(t, restart.Dryad{}, p, 30, true) // the smallest that 75% do not exceed, strictly
	onBothSides(t, restart.Dryad{Percentile: 1}, p, 40, true)
	p.Finished = 3
	assert.Equal(t, restart.TooFewFinished, restart.Dryad{}.Decide(aged(100), p).Reason)
	onBothSides(t, restart.Dryad{MinFinished: 3}, p, 30, true)
	p.Peers.Durations = nil
	assert.Equal(t, restart.NoEstimate, restart.Dryad{MinFinished: 3}.Decide(aged(100), p).Reason)
}

func TestMapReduceNearEnd(t *testing.T) {
	for _, c := range []struct {
		share       float64
		tasks, need int
	}{{0, 10, 9}, {0, 11, 10}, {0, 1000, 900}, {0.07, 100, 7}, {0.55, 100, 55}, {1, 7, 7}} {
		p := restart.Phase{Tasks: c.tasks, Finished: c.need, FreeSlots: 1}
		m := restart.MapReduce{NearEnd: c.share}
		assert.Equal(t, restart.Duplicate, m.Decide(aged(0), p).Action, "%+v", c)
		p.Finished--
		assert.Equal(t, restart.TooFewFinished, m.Decide(aged(0), p).Reason, "%+v", c)
	}
	assert.Equal(t, restart.TooFewFinished, restart.MapReduce{}.Decide(aged(0), restart.Phase{FreeSlots: 1}).Reason)
}

func TestHadoopBehindAverage(t *testing.T) {
	p := restart.Phase{FreeSlots: 1, Peers: restart.Peers{MeanScore: 0.9}}
	task := aged(60)
	for _, c := range []struct {
		score float64
		want  restart.Reason
	}{
		{0.69, restart.BehindAverage}, {0.699999, restart.BehindAverage},
		{0.7, restart.NotSlow}, // 0.9-0.2 is 0.7, though not in float64
		{0.71, restart.NotSlow}, {math.NaN(), restart.NoEstimate}, {math.Inf(-1), restart.NoEstimate},
	} {
		task.Copies[0].Score = c.score
		assert.Equal(t, c.want, restart.Hadoop{}.Decide(task, p).Reason, "%v", c.score)
	}
	task.Copies[0].Score = 0.5
	task.Copies[0].Elapsed--
	assert.Equal(t, restart.TooYoung, restart.Hadoop{}.Decide(task, p).Reason, "a minute, at least")
	assert.Equal(t, restart.Duplicate, restart.Hadoop{MinAge: restart.Off}.Decide(task, p).Action)
	// LATE §2.2: beyond 0.8 there is no speculation, since the mean cannot exceed 1.
	task = aged(60)
	task.Copies[0].Score, p.Peers.MeanScore = 0.8, 1
	assert.Equal(t, restart.NotSlow, restart.Hadoop{}.Decide(task, p).Reason)
}

func TestLATEThresholds(t *testing.T) {
	p := restart.Phase{Slots: 100, FreeSlots: 1, Speculative: 9, Peers: restart.Peers{ProgressRates: values(1, 2, 3, 4, 5, 6, 7, 8)}}
	task := aged(100)
	rate := func(r float64) restart.Task {
		task.Copies[0].Score = r / 8
		task.Copies[0].Elapsed = 125 * time.Millisecond
		return task
	}
	l := restart.LATE{MinAge: restart.Off}
	assert.Equal(t, restart.NotSlow, l.Decide(rate(2), p).Reason, "the 25th percentile itself is not below it")
	d := l.Decide(rate(1.99), p)
	assert.Equal(t, restart.LongestToEnd, d.Reason)
	assert.Equal(t, 2., d.Threshold)
	assert.Equal(t, restart.LongestToEnd, restart.LATE{MinAge: restart.Off, SlowTask: restart.Off}.Decide(rate(7), p).Reason)

	// SpeculativeCap: while fewer run than 10% of the slots.
	p.Speculative = 10
	assert.Equal(t, restart.CapReached, l.Decide(rate(1), p).Reason)
	for _, c := range []struct {
		share float64
		cap   int
	}{{0.07, 7}, {0.29, 29}, {0.55, 55}, {0.2, 20}} {
		l := restart.LATE{MinAge: restart.Off, SpeculativeCap: c.share}
		p.Speculative = c.cap
		assert.Equal(t, restart.CapReached, l.Decide(rate(1), p).Reason, "%+v", c)
		p.Speculative--
		assert.Equal(t, restart.Duplicate, l.Decide(rate(1), p).Action, "%+v", c)
	}
	p.Slots, p.Speculative = 0, 0
	assert.Equal(t, restart.CapReached, l.Decide(rate(1), p).Reason)
	p.Slots = 100

	// SlowNodeThreshold: a machine below the 25th percentile of total progress gets nothing; one at it does.
	p.Peers.Machine = restart.MachineProgress{Total: 1, Of: values(0, 1, 2, 3, 4, 5, 6, 7)}
	assert.Equal(t, restart.Duplicate, l.Decide(rate(1), p).Action)
	p.Peers.Machine.Total = 0.99
	assert.Equal(t, restart.SlowMachine, l.Decide(rate(1), p).Reason)
	assert.Equal(t, restart.Duplicate, restart.LATE{MinAge: restart.Off, SlowNode: restart.Off}.Decide(rate(1), p).Action)
}

func TestLATEAgeAndRubbish(t *testing.T) {
	p := restart.Phase{Slots: 100, FreeSlots: 1, Peers: restart.Peers{ProgressRates: values(1, 1)}}
	task := aged(60)
	task.Copies[0].Score = 0.1
	assert.Equal(t, restart.Duplicate, restart.LATE{}.Decide(task, p).Action)
	assert.Equal(t, 9*time.Minute, restart.LATE{}.Decide(task, p).Gain, "(1-score)/rate")
	task.Copies[0].Elapsed--
	assert.Equal(t, restart.TooYoung, restart.LATE{}.Decide(task, p).Reason)
	young := restart.LATE{MinAge: restart.Off}
	task.Copies[0].Elapsed = 0
	assert.Equal(t, restart.NoEstimate, young.Decide(task, p).Reason, "no rate at age 0")
	assert.Equal(t, restart.NoEstimate, young.Decide(aged(0), p).Reason, "with or without a score")
	for _, score := range []float64{math.NaN(), math.Inf(1), -0.1} {
		task = aged(100)
		task.Copies[0].Score = score
		assert.Equal(t, restart.NoEstimate, restart.LATE{}.Decide(task, p).Reason, "%v", score)
	}
	p.Peers.ProgressRates = nil
	assert.Equal(t, restart.NoEstimate, restart.LATE{}.Decide(aged(100), p).Reason)
	// Early is the variant of Mantri §6.3, Figure 15.
	p.Peers.ProgressRates, p.Waiting = values(1, 1), 5
	assert.Equal(t, restart.TasksWaiting, restart.LATE{}.Decide(aged(100), p).Reason)
	assert.Equal(t, restart.Duplicate, restart.LATE{Early: true}.Decide(aged(100), p).Action)
}

// The same rules on the facts that a Tracker keeps. Ten tasks on ten slots; nine end after 10, 20, ..., 90 s; task 9 goes
// on. Each has 10 units of work.
func TestEnginesOnATrackersFacts(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy restart.Policy
		age    time.Duration // the first age at which task 9 is worth a copy, if a nanosecond earlier it is not
		rate   float64       // units per second of task 9
	}{
		{"spark, 3 x 50 s", restart.Spark{}, 150*time.Second + 1, 0.1},
		// The others did 90 units in 450 s; task 9, at 0.16/s, is beyond 0.75 of that, and is given twice the time.
		{"spark, efficient", restart.Spark{}, 300*time.Second + 1, 0.16},
		{"spark 3, 1.5 x 50 s", restart.Spark{Quantile: 0.75, Multiplier: 1.5}, 90 * time.Second, 0.1},
		// k = round(7.5) = 8, index 4: 50 s, x 1.5.
		{"flink", restart.Flink{}, 90 * time.Second, 0.1},
		{"flink, x 3", restart.Flink{Multiplier: 3}, 150 * time.Second, 0.1},
		// The 75th percentile of nine values is the seventh: 70 s. All nine have finished at 90 s.
		{"dryad", restart.Dryad{Percentile: 1}, 90*time.Second + 1, 0.1},
		{"mapreduce", restart.MapReduce{}, 90 * time.Second, 0.1},
		// A mean of (9 + 0.09)/10; the rate is 0.001 a second, and the 25th percentile of all that of the 70 s task.
		{"hadoop", restart.Hadoop{}, 90 * time.Second, 0.01},
		{"late", restart.LATE{}, 90 * time.Second, 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			work := make([]float64, 10)
			for i := range work {
				work[i] = 10
			}
			tracker, err := restart.NewTracker(restart.Config{
				Work: work, Slots: 10, Machines: 20, Interval: 10 * time.Second, Policy: c.policy,
			})
			require.NoError(t, err)
			for i := range work {
				tracker.Start(start, i, i)
			}
			for i := range 9 {
				tracker.Finish(start.Add(time.Duration(i+1)*10*time.Second), i, 0, nil)
			}
			report := func(age time.Duration) restart.Decision {
				return tracker.Report(start.Add(age), 9, 0, restart.Progress{Done: c.rate * age.Seconds()})
			}
			if c.age > 90*time.Second {
				d := report(c.age - 1)
				require.Equal(t, restart.Keep, d.Action, "%v", d)
			}
			d := report(c.age)
			require.Equal(t, restart.Duplicate, d.Action, "%v", d)
			task, next := tracker.Next(start.Add(c.age), 9)
			assert.Equal(t, -1, task)
			assert.Equal(t, restart.SameMachine, next.Reason, "its own machine is no place for a copy")
			task, next = tracker.Next(start.Add(c.age), 15)
			assert.Equal(t, 9, task)
			assert.Equal(t, restart.Duplicate, next.Action)
		})
	}
}

func TestValidateNamesFieldAndRange(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, policy := range map[string]interface{ Validate() error }{
		"restart: Mantri.MaxRestarts is -2, want a positive number, 0 for the default, or Off":  restart.Mantri{MaxRestarts: -2},
		"restart: Mantri.DuplicateThreshold is 1, want a probability in (0, 1), 0":              restart.Mantri{DuplicateThreshold: 1},
		"restart: Mantri.DuplicateThreshold is NaN":                                             restart.Mantri{DuplicateThreshold: nan},
		"restart: Mantri.IdleGain is +Inf, want a positive finite number, or 0 for the default": restart.Mantri{IdleGain: inf},
		"restart: Mantri.FastestKept is -1":                                                     restart.Mantri{FastestKept: -1},
		"restart: Mantri.CopyPause is -1":                                                       restart.Mantri{CopyPause: -1},
		"restart: Mantri.RaisedBar is NaN":                                                      restart.Mantri{RaisedBar: nan},
		"restart: LATE.SpeculativeCap is -1":                                                    restart.LATE{SpeculativeCap: -1},
		"restart: LATE.SlowNode is 1.5, want a share in (0, 1], 0 for the default, or Off":      restart.LATE{SlowNode: 1.5},
		"restart: LATE.SlowTask is NaN":                                                         restart.LATE{SlowTask: nan},
		"restart: LATE.MinAge is -2ns, want a positive duration, 0 for the default, or Off":     restart.LATE{MinAge: -2},
		"restart: Hadoop.ScoreLag is -1, want a share in (0, 1], or 0 for the default":          restart.Hadoop{ScoreLag: -1},
		"restart: Hadoop.MinAge is -1m0s":                                                       restart.Hadoop{MinAge: -minute},
		"restart: MapReduce.NearEnd is 2":                                                       restart.MapReduce{NearEnd: 2},
		"restart: Dryad.MinFinished is -1":                                                      restart.Dryad{MinFinished: -1},
		"restart: Dryad.Percentile is -1":                                                       restart.Dryad{Percentile: -1},
		"restart: Spark.Quantile is 1.1":                                                        restart.Spark{Quantile: 1.1},
		"restart: Spark.Multiplier is -1":                                                       restart.Spark{Multiplier: -1},
		"restart: Spark.SlowRate is -2":                                                         restart.Spark{SlowRate: -2},
		"restart: Spark.LongRun is NaN":                                                         restart.Spark{LongRun: nan},
		"restart: Spark.Duration is -1s":                                                        restart.Spark{Duration: -time.Second},
		"restart: Spark.ExecutorSlots is -1":                                                    restart.Spark{ExecutorSlots: -1},
		"restart: Spark.MinRuntime is -2ns":                                                     restart.Spark{MinRuntime: -2},
		"restart: Flink.Ratio is -0.5":                                                          restart.Flink{Ratio: -0.5},
		"restart: Flink.Multiplier is -1":                                                       restart.Flink{Multiplier: -1},
		"restart: Flink.LowerBound is -1s":                                                      restart.Flink{LowerBound: -time.Second},
	} {
		assert.ErrorContains(t, policy.Validate(), want)
		_, err := restart.NewTracker(restart.Config{Policy: policy.(restart.Policy)})
		assert.ErrorContains(t, err, want, "a Tracker validates its policy")
	}
	for _, policy := range policies() {
		if p, ok := policy.(interface{ Validate() error }); ok {
			assert.NoError(t, p.Validate())
		}
	}
}
