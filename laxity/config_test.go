package laxity

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

func TestBadInputIsNamed(t *testing.T) {
	policy := func(p Policy) error { _, err := NewQueue(p); return err }
	perWorker := func(tasks []Task, n int) error { _, err := PerWorker(tasks, n); return err }
	for want, err := range map[string]error{
		"Policy.Rule is Rule(3)":             policy(Policy{Rule: 3}),
		"Policy.Margin is -1ns":              policy(Policy{Margin: -1}),
		"tasks[0].Worker is -1, want 0 to 1": perWorker([]Task{{Worker: -1}}, 2),
		"the number of Workers is -1":        perWorker(nil, -1),
	} {
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
		assert.Contains(t, err.Error(), "laxity: ")
	}
}

func TestUnknownAndEndless(t *testing.T) {
	assert.Equal(t, NoDeadline, Job{TimeLeft: NoDeadline, Projected: 5}.Laxity())
	assert.Equal(t, estimate.Unknown, Job{TimeLeft: 7, Projected: estimate.Unknown}.Laxity())
	assert.Equal(t, time.Duration(7), Job{TimeLeft: 7, Projected: -3}.Laxity())
	assert.Equal(t, estimate.Unknown+1, Job{TimeLeft: math.MinInt64, Projected: 5}.Laxity(), "saturates short of Unknown")
	// What has no estimate is ordered by its deadline; what has no deadline comes after it and before what is lost.
	jobs := []Job{
		{TimeLeft: NoDeadline}, {TimeLeft: 9, Projected: estimate.Unknown}, {TimeLeft: 9, Projected: 1},
		{TimeLeft: 1, Projected: 2},
	}
	assert.Equal(t, []int{2, 1, 0, 3}, Order(jobs))
	assert.Equal(t, num63, Projected([]time.Duration{num63 - 1}, []time.Duration{num63 - 1}), "saturates")
}

func TestMargin(t *testing.T) {
	p := Policy{Margin: 10}
	for _, c := range []struct {
		waiting, running Job
		want             bool
	}{
		{Job{TimeLeft: 90}, Job{TimeLeft: 100}, false},                           // within the margin
		{Job{TimeLeft: 89}, Job{TimeLeft: 100}, true},                            // beyond it
		{Job{TimeLeft: 5}, Job{TimeLeft: -1}, true},                              // what is lost yields at once
		{Job{TimeLeft: -50}, Job{TimeLeft: 5}, false},                            // and never takes over
		{Job{TimeLeft: 100, Projected: 10}, Job{TimeLeft: 100}, false},           // a tie
		{Job{TimeLeft: 100, Projected: 11}, Job{TimeLeft: 100}, true},            // just beyond
		{Job{TimeLeft: NoDeadline}, Job{TimeLeft: NoDeadline}, false},            // nothing is urgent
		{Job{TimeLeft: 3, Projected: estimate.Unknown}, Job{TimeLeft: 9}, false}, // counts as 3
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

// Two equal jobs of a second each on one slot, looked at each millisecond: they take turns without a margin, and
// hardly with.
func TestMarginLimitsSwitching(t *testing.T) {
	for margin, most := range map[time.Duration]int{0: 1000, 100 * time.Millisecond: 11, 2 * time.Second: 1} {
		q, err := NewQueue(Policy{Margin: margin})
		require.NoError(t, err)
		now := time.Unix(0, 0)
		left, needs, runs, switches := 5*time.Second, [2]time.Duration{time.Second, time.Second}, 0, 0
		q.Push(now, Job{TimeLeft: left, Projected: needs[1]})
		for q.Len() > 0 {
			needs[runs] -= time.Millisecond
			left -= time.Millisecond
			now = now.Add(time.Millisecond)
			running := Job{TimeLeft: left, Projected: needs[runs], Running: true}
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
	a := q.Push(now, Job{TimeLeft: 5})
	b := q.Push(now, Job{TimeLeft: 6})
	assert.True(t, q.Remove(a))
	assert.False(t, q.Remove(a))
	assert.False(t, q.Update(now, a, Job{}))
	assert.False(t, q.Update(now, -1, Job{}))
	assert.False(t, q.Remove(99))
	_, ok = q.Get(now, a)
	assert.False(t, ok)
	assert.Equal(t, a, q.Push(now, Job{TimeLeft: 6}), "a ticket is used again")
	c, _ := q.Pop(now)
	assert.Equal(t, b, c.Ticket, "among equals the first to come, not the lowest ticket")
	look, ok := q.Get(now.Add(2), a)
	assert.True(t, ok)
	assert.Equal(t, Choice{Ticket: a, Laxity: 4, TimeLeft: 4}, look)
	// A clock that steps back counts as standing still.
	look, _ = q.Get(now.Add(-time.Hour), a)
	assert.Equal(t, time.Duration(4), look.Laxity)
	// What is late when it comes in has nothing left to turn.
	late := new(Queue)
	late.Push(now.Add(9), Job{TimeLeft: 1})
	late.Push(now.Add(10), Job{TimeLeft: -1})
	turns, ok := late.NextLate()
	assert.True(t, ok)
	assert.Equal(t, now.Add(10), turns)
	late.Remove(0)
	_, ok = late.NextLate()
	assert.False(t, ok)
	_, ok = (&Queue{policy: Policy{Rule: LeastFirst}}).NextLate()
	assert.False(t, ok)
}

func TestNames(t *testing.T) {
	assert.Equal(t, "started", Started.String())
	assert.Equal(t, "Reason(99)", Reason(99).String())
	assert.Equal(t, "deadline-first", DeadlineFirst.String())
	assert.Equal(t, "Rule(9)", Rule(9).String())
	assert.Equal(t, "no-job", Choice{Ticket: -1, Reason: NoJob}.String())
	assert.Equal(t, "only-late ticket=0 laxity=? time-left=inf",
		Choice{Reason: OnlyLate, Laxity: estimate.Unknown, TimeLeft: NoDeadline}.String())
	assert.Equal(t, "[reason=least-laxity ticket=3 laxity=0.001 time-left=9.223372036854776e+09]",
		Choice{3, LeastLaxity, 1e6, NoDeadline}.LogValue().String())
	assert.Equal(t, "[move=true reason=makes-room laxity=1e-09]", Transfer{true, MakesRoom, 1}.LogValue().String())
	text, err := json.Marshal([]any{NegativeLast, OnlyLate})
	require.NoError(t, err)
	assert.Equal(t, `["negative-last","only-late"]`, string(text))
	var rule Rule
	var reason Reason
	require.NoError(t, rule.UnmarshalText([]byte("least-first")))
	require.NoError(t, reason.UnmarshalText([]byte("started")))
	assert.Equal(t, LeastFirst, rule)
	assert.Equal(t, Started, reason)
	assert.ErrorContains(t, rule.UnmarshalText([]byte("no")), "laxity: Rule is")
	assert.ErrorContains(t, reason.UnmarshalText([]byte("no")), "laxity: Reason is")
}
