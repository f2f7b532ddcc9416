package laxity

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

func TestBadInputIsNamed(t *testing.T) {
	lof := func(values []float64, l int, floor float64) error {
		_, err := new(Scorer).Score(nil, values, l, floor)
		return err
	}
	detector := func(c DetectorConfig) error { _, err := NewDetector(c); return err }
	policy := func(p Policy) error { _, err := NewQueue(p); return err }
	overloaded := func(l int, laxities ...time.Duration) error { _, err := Overloaded(laxities, l); return err }
	perJob := func(tasks []Task, n int) error { _, err := PerJob(tasks, n); return err }
	perWorker := func(tasks []Task, n int) error { _, err := PerWorker(tasks, n); return err }
	nan, inf := math.NaN(), math.Inf(1)
	for want, err := range map[string]error{
		"l is 0, want 1 to 2, less than the number of values": lof([]float64{1, 2, 3}, 0, 0),
		"l is 3, want 1 to 2, less than the number of values": lof([]float64{1, 2, 3}, 3, 0),
		"values[1] is NaN":    lof([]float64{1, nan, 3}, 1, 0),
		"values[2] is +Inf":   lof([]float64{1, 2, inf}, 1, 0),
		"values[0] is 1e+300": lof([]float64{1e300, 2}, 1, 0),
		"floor is NaN":        lof([]float64{1, 2}, 1, nan),
		"floor is -1":         lof([]float64{1, 2}, 1, -1),
		"the number of known laxities is 1, want 2 or more":           overloaded(1, 1, estimate.Unknown, NoDeadline),
		"l is 2, want 1 to 1, less than the number of known laxities": overloaded(2, 1, 2, estimate.Unknown, NoDeadline),
		"Neighbours is -1":                                       detector(DetectorConfig{Neighbours: -1}),
		"Threshold is 0.5":                                       detector(DetectorConfig{Threshold: .5}),
		"Threshold is NaN":                                       detector(DetectorConfig{Threshold: nan}),
		"Spread is -2":                                           detector(DetectorConfig{Spread: -2}),
		"Spread is +Inf":                                         detector(DetectorConfig{Spread: inf}),
		"Resolution is -2ns":                                     detector(DetectorConfig{Resolution: -2}),
		"Rule is 3":                                              policy(Policy{Rule: 3}),
		"Margin is -1ns":                                         policy(Policy{Margin: -1}),
		"tasks[1].Job is 2, want 0 to 1":                         perJob([]Task{{}, {Job: 2}}, 2),
		"tasks[0].Worker is -1, want 0 to 1":                     perWorker([]Task{{Worker: -1}}, 2),
		"the number of Workers is -1":                            perWorker(nil, -1),
		"tasks[0].Job is 0, want 0 to -1":                        perJob([]Task{{}}, 0),
		"values[0] is -1e+300, want -1e+290 to 1e+290":           lof([]float64{-1e300, 2}, 1, 0),
		"the number of values is 1, want 2 or more":              lof([]float64{1}, 1, 0),
		"the number of values is 0, want 2 or more":              lof(nil, 1, 0),
		"Resolution is -1h0m0s, want 0 or more, or NoResolution": detector(DetectorConfig{Resolution: -time.Hour}),
		"Threshold is +Inf, want a finite number of 1 or more, or 0 for the default": detector(DetectorConfig{Threshold: inf}),
		"Spread is NaN, want a finite number of 0 or more, or AnySpread":             detector(DetectorConfig{Spread: nan}),
	} {
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
		assert.Contains(t, err.Error(), "laxity: ")
	}
}

func TestDetectorDefaults(t *testing.T) {
	d, err := NewDetector(DetectorConfig{})
	require.NoError(t, err)
	assert.Equal(t, DetectorConfig{Threshold: 2, Spread: 7.5, Resolution: time.Millisecond}, d.Config())
	// One of three workers, one neighbour each.
	assert.True(t, d.Judge(nil, []time.Duration{time.Second, 900 * time.Millisecond, time.Second})[1].Overloaded)
	for _, v := range d.Judge(nil, []time.Duration{time.Second, 1, estimate.Unknown}) {
		assert.False(t, v.Overloaded)
		assert.Contains(t, []Reason{TooFewWorkers, NoLaxity}, v.Reason)
	}
	assert.Empty(t, d.Judge(nil, nil))
}

// A laxity a millisecond below a block of equal ones is no outlier at the default resolution, and is one without.
func TestResolution(t *testing.T) {
	laxities := []time.Duration{5e6, 5e6, 5e6, 5e6, 4e6, 5e6, 5e6}
	fine, _ := NewDetector(DetectorConfig{Spread: AnySpread})
	assert.False(t, fine.Judge(nil, laxities)[4].Overloaded)
	paper, _ := NewDetector(DetectorConfig{Spread: AnySpread, Resolution: NoResolution})
	v := paper.Judge(nil, laxities)[4]
	assert.True(t, v.Overloaded)
	assert.True(t, math.IsInf(v.Factor, 1))
	assert.Equal(t, time.Duration(5e6), v.Bar)
}

// Strict at a tie: a laxity at the bar is not low, and a factor at the threshold does not exceed it.
func TestTiesAtTheBars(t *testing.T) {
	var v Verdict
	v.judge(3, 2, 10, 10)
	assert.Equal(t, NotLow, v.Reason)
	v.judge(2, 2, 9, 10)
	assert.Equal(t, AmongPeers, v.Reason)
	v.judge(2.1, 2, 9, 10)
	assert.Equal(t, StandsApart, v.Reason)
}

func TestUnknownAndEndless(t *testing.T) {
	assert.Equal(t, NoDeadline, Job{Left: NoDeadline, Projected: 5}.Laxity())
	assert.Equal(t, estimate.Unknown, Job{Left: 7, Projected: estimate.Unknown}.Laxity())
	assert.Equal(t, time.Duration(7), Job{Left: 7, Projected: -3}.Laxity())
	assert.Equal(t, estimate.Unknown+1, Job{Left: math.MinInt64, Projected: 5}.Laxity(), "saturates short of Unknown")
	// What has no estimate is ordered by its deadline; what has no deadline comes after it and before what is lost.
	jobs := []Job{{Left: NoDeadline}, {Left: 9, Projected: estimate.Unknown}, {Left: 9, Projected: 1}, {Left: 1, Projected: 2}}
	assert.Equal(t, []int{2, 1, 0, 3}, Order(jobs))
	assert.Equal(t, num63, Projected([]time.Duration{num63 - 1}, []time.Duration{num63 - 1}), "saturates")
}

func TestMargin(t *testing.T) {
	p := Policy{Margin: 10}
	for _, c := range []struct {
		waiting, running Job
		want             bool
	}{
		{Job{Left: 90}, Job{Left: 100}, false},                           // within the margin
		{Job{Left: 89}, Job{Left: 100}, true},                            // beyond it
		{Job{Left: 5}, Job{Left: -1}, true},                              // what is lost yields at once
		{Job{Left: -50}, Job{Left: 5}, false},                            // and never takes over
		{Job{Left: 100, Projected: 10}, Job{Left: 100}, false},           // a tie
		{Job{Left: 100, Projected: 11}, Job{Left: 100}, true},            // just beyond
		{Job{Left: NoDeadline}, Job{Left: NoDeadline}, false},            // nothing is urgent
		{Job{Left: 3, Projected: estimate.Unknown}, Job{Left: 9}, false}, // counts as 3
	} {
		q, err := NewQueue(p)
		require.NoError(t, err)
		now := time.Unix(9, 0)
		q.Push(now, c.waiting)
		choice, got := q.Preempt(now, c.running)
		assert.Equal(t, c.want, got, "%+v", c)
		assert.Equal(t, c.want, choice.Reason != RunningFirst)
		running := c.running
		running.Running = true
		assert.Equal(t, c.want, p.Order(nil, []Job{running, c.waiting})[0] == 1, "%+v", c)
	}
}

// Two equal jobs of a second each on one slot, looked at each millisecond: they take turns without a margin, and hardly with.
func TestMarginLimitsSwitching(t *testing.T) {
	for margin, most := range map[time.Duration]int{0: 1000, 100 * time.Millisecond: 11, 2 * time.Second: 1} {
		q, err := NewQueue(Policy{Margin: margin})
		require.NoError(t, err)
		now := time.Unix(0, 0)
		left, needs, runs, switches := 5*time.Second, [2]time.Duration{time.Second, time.Second}, 0, 0
		q.Push(now, Job{Left: left, Projected: needs[1]})
		for q.Len() > 0 {
			needs[runs] -= time.Millisecond
			left -= time.Millisecond
			now = now.Add(time.Millisecond)
			running := Job{Left: left, Projected: needs[runs], Running: true}
			_, preempts := q.Preempt(now, running)
			if !preempts && needs[runs] > 0 {
				continue
			}
			q.Pop(now)
			if needs[runs] > 0 {
				q.Push(now, running)
			}
			runs, switches = 1-runs, switches+1
		}
		require.LessOrEqual(t, switches, most, margin)
		require.Greater(t, 2*switches, most, margin)
	}
}

func TestQueueForgetsTickets(t *testing.T) {
	q, now := new(Queue), time.Unix(0, 0)
	_, ok := q.Preempt(now, Job{})
	assert.False(t, ok)
	a := q.Push(now, Job{Left: 5})
	b := q.Push(now, Job{Left: 6})
	assert.True(t, q.Remove(a))
	assert.False(t, q.Remove(a))
	assert.False(t, q.Update(now, a, Job{}))
	assert.False(t, q.Update(now, -1, Job{}))
	assert.False(t, q.Remove(99))
	_, ok = q.Look(now, a)
	assert.False(t, ok)
	assert.Equal(t, a, q.Push(now, Job{Left: 6}), "a ticket is used again")
	c, _ := q.Pop(now)
	assert.Equal(t, b, c.Ticket, "among equals the first to come, not the lowest ticket")
	look, ok := q.Look(now.Add(2), a)
	assert.True(t, ok)
	assert.Equal(t, Choice{Ticket: a, Laxity: 4, Left: 4}, look)
	// A clock that steps back counts as standing still.
	look, _ = q.Look(now.Add(-time.Hour), a)
	assert.Equal(t, time.Duration(4), look.Laxity)
	// What is late when it comes in has nothing left to turn.
	late := new(Queue)
	late.Push(now.Add(9), Job{Left: 1})
	late.Push(now.Add(10), Job{Left: -1})
	turns, ok := late.Turns()
	assert.True(t, ok)
	assert.Equal(t, now.Add(10), turns)
	late.Remove(0)
	_, ok = late.Turns()
	assert.False(t, ok)
	_, ok = (&Queue{policy: Policy{Rule: LeastFirst}}).Turns()
	assert.False(t, ok)
}

func TestNames(t *testing.T) {
	assert.Equal(t, "started", Started.String())
	assert.Equal(t, "Reason(99)", Reason(99).String())
	assert.Equal(t, "deadline-first", DeadlineFirst.String())
	assert.Equal(t, "Rule(9)", Rule(9).String())
	assert.Equal(t, "no-job", Choice{Ticket: -1, Reason: NoJob}.String())
	assert.Equal(t, "ticket=0 only-late laxity=unknown left=none", Choice{Reason: OnlyLate, Laxity: estimate.Unknown, Left: NoDeadline}.String())
	assert.Equal(t, "fine no-laxity", Verdict{Reason: NoLaxity, Laxity: NoDeadline}.String())
	assert.Equal(t, "[overloaded=true reason=stands-apart laxity=1ms bar=2ms factor=5 threshold=2]",
		Verdict{true, StandsApart, 1e6, 2e6, 5, 2}.LogValue().String())
	assert.Equal(t, "[ticket=3 reason=least-laxity laxity=1ms left=none]", Choice{3, LeastLaxity, 1e6, NoDeadline}.LogValue().String())
	assert.Equal(t, "[move=true reason=makes-room laxity=1ns]", Transfer{true, MakesRoom, 1}.LogValue().String())
}
