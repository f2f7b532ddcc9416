package rules_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

func TestLATEThresholds(t *testing.T) {
	p := restart.Phase{Slots: 100, FreeSlots: 1, Copies: 9, Peers: restart.Peers{ProgressRates: values(1, 2, 3, 4, 5, 6, 7, 8)}}
	task := aged(100)
	rate := func(r float64) restart.Task {
		task.Attempts[0].Score = r / 8
		task.Attempts[0].Elapsed = 125 * time.Millisecond
		return task
	}
	l := rules.LATE{MinAge: restart.Off}
	assert.Equal(t, restart.NotSlow, l.Decide(rate(2), p).Reason, "a rate at the 25th percentile is not below it")
	d := l.Decide(rate(1.99), p)
	assert.Equal(t, restart.LongestToEnd, d.Reason)
	assert.Equal(t, 2., d.Threshold)
	assert.Equal(t, restart.LongestToEnd, rules.LATE{MinAge: restart.Off, SlowTask: restart.Off}.Decide(rate(7), p).Reason)

	// SpeculativeCap: a copy is made while copies run in fewer than 10 % of the slots.
	p.Copies = 10
	assert.Equal(t, restart.CapReached, l.Decide(rate(1), p).Reason)
	for _, c := range []struct {
		share float64
		cap   int
	}{{0.07, 7}, {0.29, 29}, {0.55, 55}, {0.2, 20}} {
		l := rules.LATE{MinAge: restart.Off, SpeculativeCap: c.share}
		p.Copies = c.cap
		assert.Equal(t, restart.CapReached, l.Decide(rate(1), p).Reason, "%+v", c)
		p.Copies--
		assert.Equal(t, restart.Copy, l.Decide(rate(1), p).Action, "%+v", c)
	}
	assert.Equal(t, restart.Compare(restart.CopyShare, .1, .1), l.Decide(rate(1), restart.Phase{
		Slots: 100, FreeSlots: 1, Copies: 10, Peers: p.Peers,
	}).Comparison)
	for _, slots := range []int{0, -1} {
		p.Slots, p.Copies = slots, 0
		assert.Equal(t, restart.Decision{Reason: restart.CapReached, Remaining: d.Remaining}, l.Decide(rate(1.99), p), "without slots no copy is allowed")
	}
	p.Slots = 100

	// SlowNodeThreshold: a machine below the 25th percentile of total progress gets no copy. A machine at the
	// percentile gets a copy.
	p.Peers.Machine = restart.MachineProgress{Total: 1, Of: values(0, 1, 2, 3, 4, 5, 6, 7)}
	assert.Equal(t, restart.Copy, l.Decide(rate(1), p).Action)
	p.Peers.Machine.Total = 0.99
	assert.Equal(t, restart.SlowMachine, l.Decide(rate(1), p).Reason)
	assert.Equal(t, restart.Copy, rules.LATE{MinAge: restart.Off, SlowNode: restart.Off}.Decide(rate(1), p).Action)
}

func TestLATEAgeAndRubbish(t *testing.T) {
	p := restart.Phase{Slots: 100, FreeSlots: 1, Peers: restart.Peers{ProgressRates: values(1, 1)}}
	task := aged(60)
	task.Attempts[0].Score = 0.1
	assert.Equal(t, restart.Copy, rules.LATE{}.Decide(task, p).Action)
	assert.Equal(t, 9*time.Minute, rules.LATE{}.Decide(task, p).Gain, "(1-score)/rate")
	task.Attempts[0].Elapsed--
	assert.Equal(t, restart.TooYoung, rules.LATE{}.Decide(task, p).Reason)
	young := rules.LATE{MinAge: restart.Off}
	task.Attempts[0].Elapsed = 0
	assert.Equal(t, restart.NoEstimate, young.Decide(task, p).Reason, "no rate at age 0")
	assert.Equal(t, restart.NoEstimate, young.Decide(aged(0), p).Reason, "age 0 has no rate, with or without a score")
	for _, score := range []float64{math.NaN(), math.Inf(1), -0.1} {
		task = aged(100)
		task.Attempts[0].Score = score
		assert.Equal(t, restart.NoEstimate, rules.LATE{}.Decide(task, p).Reason, "%v", score)
	}
	p.Peers.ProgressRates = nil
	assert.Equal(t, restart.NoEstimate, rules.LATE{}.Decide(aged(100), p).Reason)
	// Early is the variant of Mantri §6.3, Figure 15.
	p.Peers.ProgressRates, p.Waiting = values(1, 1), 5
	assert.Equal(t, restart.TasksWaiting, rules.LATE{}.Decide(aged(100), p).Reason)
	assert.Equal(t, restart.Copy, rules.LATE{Early: true}.Decide(aged(100), p).Action)
}
