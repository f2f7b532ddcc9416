package rules_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

func TestSparkThreshold(t *testing.T) {
	p := restart.Phase{Tasks: 10, Finished: 9, FreeSlots: 1, Peers: restart.Peers{Durations: values(1, 2, 3, 4, 5, 6, 7, 8, 9)}}
	onBothSides(t, rules.Spark{}, p, 15, true) // 3 x median 5, strictly

	// For an even number of run times the median is the upper of the two middle ones, at index n/2, not their
	// mean.
	p.Tasks, p.Finished, p.Peers.Durations = 5, 4, values(1, 2, 6, 7)
	onBothSides(t, rules.Spark{}, p, 18, true)
	// A distribution that is not empirical gives the same order statistic.
	p.Peers.Durations = struct{ estimate.Distribution }{values(1, 2, 6, 7)}
	onBothSides(t, rules.Spark{}, p, 18, true)

	// The middle value of the recorded run times is used, even if there are fewer or more run times than finished
	// tasks.
	p.Tasks, p.Finished = 10, 9
	for _, c := range []struct {
		took []float64
		want float64
	}{
		{[]float64{1, 9}, 27}, {[]float64{1, 5, 9}, 15}, {[]float64{2}, 6},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 90, 90, 90, 90}, 21},
	} {
		p.Peers.Durations = values(c.took...)
		onBothSides(t, rules.Spark{}, p, c.want, true)
	}
	p.Tasks, p.Finished, p.Peers.Durations = 2, 1, values(1, 1, 1, 1, 1, 5, 5, 5, 5, 5)
	onBothSides(t, rules.Spark{}, p, 15, true) // an output was lost and made again nine times
	p.Tasks, p.Finished = 5, 4

	p.Peers.Durations = values(0.01, 0.01, 0.01, 0.01)
	onBothSides(t, rules.Spark{}, p, 0.1, true) // the minimum runtime, 100 ms
	onBothSides(t, rules.Spark{MinRuntime: restart.Off}, p, 0.03, true)
	p.Peers.Durations = nil
	assert.Equal(t, restart.NoEstimate, rules.Spark{}.Decide(aged(100), p).Reason)
}

func TestSparkQuantile(t *testing.T) {
	phase := func(tasks, finished int) restart.Phase {
		return restart.Phase{Tasks: tasks, Finished: finished, FreeSlots: 1, Peers: restart.Peers{Durations: values(1)}}
	}
	for _, c := range []struct{ tasks, need int }{
		{10, 9}, {11, 9}, {19, 17}, {20, 18}, {100, 90}, {2, 1}, // max(floor(0.9 n), 1)
	} {
		assert.Equal(t, restart.Copy, rules.Spark{}.Decide(aged(10), phase(c.tasks, c.need)).Action, "%+v", c)
		if c.need > 1 {
			d := rules.Spark{}.Decide(aged(10), phase(c.tasks, c.need-1))
			assert.Equal(t, restart.TooFewFinished, d.Reason, "%+v", c)
			assert.Equal(t, float64(c.need), d.Threshold)
		}
	}
	assert.Equal(t, restart.TooFewFinished, rules.Spark{Quantile: 0.1}.Decide(aged(10), phase(5, 0)).Reason, "at least one task must have finished")
	assert.Equal(t, restart.TooFewFinished, rules.Spark{}.Decide(aged(10), phase(math.MaxInt, 5)).Reason)
}

func TestSparkSingleTaskAndDuration(t *testing.T) {
	p := restart.Phase{Tasks: 1, FreeSlots: 1}
	assert.Equal(t, restart.TooFewFinished, rules.Spark{}.Decide(aged(1e6), p).Reason, "a single task is left alone")
	again := restart.Phase{Tasks: 1, Finished: 1, FreeSlots: 1, Peers: restart.Peers{Durations: values(1)}}
	assert.Zero(t, rules.Spark{}.Decide(aged(10), again).Comparison, "a phase of one task never has enough finished tasks")
	assert.Equal(t, restart.TooFewFinished, rules.Spark{}.Decide(aged(1e6), again).Reason, "a task that ran before is no peer of itself")
	set := rules.Spark{Duration: time.Minute}
	onBothSides(t, set, p, 60, true)
	p.Tasks = 2
	assert.Equal(t, restart.TooFewFinished, set.Decide(aged(61), p).Reason, "Duration needs a phase of at most ExecutorSlots tasks")
	set.ExecutorSlots = 2
	onBothSides(t, set, p, 60, true)
	// Duration applies without the efficiency test, and only until enough tasks have finished.
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
	}{{120, restart.Keep}, {119.9, restart.Copy}, {0, restart.Copy}} { // 40 s x 4/s x 0.75, strictly less
		task.Attempts[0].Done = c.done
		assert.Equal(t, c.want, rules.Spark{}.Decide(task, p).Action, "%+v", c)
		assert.Equal(t, restart.Copy, rules.Spark{SlowRate: restart.Off}.Decide(task, p).Action)
	}
	// An efficient task is left alone up to twice the threshold.
	task.Attempts[0].Done = 1e6
	task.Attempts[0].Elapsed = 60 * time.Second
	assert.Equal(t, restart.NotSlow, rules.Spark{}.Decide(task, p).Reason)
	task.Attempts[0].Elapsed++
	assert.Equal(t, restart.Copy, rules.Spark{}.Decide(task, p).Action)
	// If no work is known, every task is treated as inefficient.
	p.Peers.Throughput = 0
	task.Attempts[0].Elapsed = 30*time.Second + 1
	assert.Equal(t, restart.Copy, rules.Spark{}.Decide(task, p).Action)
}
