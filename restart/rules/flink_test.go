package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

func TestFlinkBaseline(t *testing.T) {
	p := restart.Phase{Tasks: 8, Finished: 6, FreeSlots: 1}
	// k = round(8 x 0.75) = 6, so the baseline is at index 3 of the sorted times, x 1.5. At 120 s the task is
	// slow: the test is not strict.
	p.Peers.Durations = values(60, 70, 75, 80, 90, 1000)
	onBothSides(t, rules.Flink{}, p, 120, false)
	// Only the k smallest values are used. If seven of the eight tasks have finished, the index is the same.
	p.Finished, p.Peers.Durations = 7, values(60, 70, 75, 80, 90, 1000, 2000)
	onBothSides(t, rules.Flink{}, p, 120, false)
	// k is rounded half up, as Java does: 0.75 x 6 = 4.5 gives 5, and index 2.
	p.Tasks, p.Finished, p.Peers.Durations = 6, 5, values(60, 70, 80, 100, 100)
	onBothSides(t, rules.Flink{}, p, 120, false)
	p.Peers.Durations = struct{ estimate.Distribution }{values(60, 70, 80, 100, 100)}
	onBothSides(t, rules.Flink{}, p, 120, false)
	// If fewer or more run times are recorded, the same share of them is used: here the 4 smallest of 5.
	p.Tasks, p.Finished = 5, 5
	for _, c := range []struct {
		took []float64
		want float64
	}{{[]float64{40, 80}, 60}, {[]float64{60, 80, 90}, 120}, {[]float64{50, 60, 70, 80, 90, 95, 96, 97, 98, 99}, 135}} {
		p.Peers.Durations = values(c.took...)
		onBothSides(t, rules.Flink{}, p, c.want, false)
	}
	p.Tasks, p.Finished, p.Peers.Durations = 6, 5, values(50, 60, 70, 80, 100, 101, 102, 103, 104) // k is 5, so all count
	onBothSides(t, rules.Flink{}, p, 150, false)
	// Below a minute no task is slow; at a minute it may be.
	p.Peers.Durations = values(1, 1, 1, 1, 1)
	onBothSides(t, rules.Flink{}, p, 60, false)
	assert.Equal(t, restart.TooYoung, rules.Flink{}.Decide(aged(59), p).Reason)
	onBothSides(t, rules.Flink{LowerBound: restart.Off}, p, 1.5, false)
	p.Peers.Durations = nil
	assert.Equal(t, restart.NoEstimate, rules.Flink{}.Decide(aged(59), p).Reason)
}

func TestFlinkRatio(t *testing.T) {
	for _, c := range []struct {
		ratio       float64
		tasks, need int
	}{{0, 4, 3}, {0, 5, 4}, {0, 8, 6}, {0.07, 100, 7}, {0.55, 100, 55}, {0.29, 100, 29}} {
		p := restart.Phase{Tasks: c.tasks, Finished: c.need, FreeSlots: 1, Peers: restart.Peers{Durations: values(1)}}
		f := rules.Flink{Ratio: c.ratio}
		assert.Equal(t, restart.Copy, f.Decide(aged(600), p).Action, "%+v", c)
		p.Finished--
		assert.Equal(t, restart.TooFewFinished, f.Decide(aged(600), p).Reason, "%+v", c)
	}
}

func TestFlinkWeighsByWork(t *testing.T) {
	p := restart.Phase{Tasks: 4, Finished: 3, FreeSlots: 1, Peers: restart.Peers{
		Durations: values(60, 60, 60), UnitTimes: values(2, 2, 2), // 30 units each
	}}
	task := aged(300)
	assert.Equal(t, restart.Copy, rules.Flink{}.Decide(task, p).Action, "without a known work the run time counts")
	task.Work = 100
	assert.Equal(t, restart.Copy, rules.Flink{}.Decide(task, p).Action, "3 s a unit is 1.5 x 2: the test is not strict")
	task.Work = 101
	assert.Equal(t, restart.NotSlow, rules.Flink{}.Decide(task, p).Reason, "a task with more data is not slow")

	// Tasks are ranked by time, not by work: this task was slow from 90 s on.
	task.Work = 30
	assert.Equal(t, 210*time.Second, rules.Flink{}.Decide(task, p).Gain)
	task.Work, p.Peers.UnitTimes = 30e9, values(2e-9, 2e-9, 2e-9)
	assert.InDelta(t, 210, rules.Flink{}.Decide(task, p).Gain.Seconds(), 1e-6)
}
