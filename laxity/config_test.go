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

func TestErrorsNameTheField(t *testing.T) {
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

func TestUnknownTimesAndMissingDeadlines(t *testing.T) {
	assert.Equal(t, NoDeadline, Job{UntilDeadline: NoDeadline, Projected: 5}.Laxity())
	assert.Equal(t, estimate.Unknown, Job{UntilDeadline: 7, Projected: estimate.Unknown}.Laxity())
	assert.Equal(t, time.Duration(7), Job{UntilDeadline: 7, Projected: -3}.Laxity())
	assert.Equal(t, estimate.Unknown+1, Job{UntilDeadline: math.MinInt64, Projected: 5}.Laxity(), "the laxity must saturate above Unknown")
	// A job with an unknown projected time is ordered by its deadline. A job without a deadline comes after it, and before a
	// job with negative laxity.
	jobs := []Job{
		{UntilDeadline: NoDeadline}, {UntilDeadline: 9, Projected: estimate.Unknown}, {UntilDeadline: 9, Projected: 1},
		{UntilDeadline: 1, Projected: 2},
	}
	assert.Equal(t, []int{2, 1, 0, 3}, Order(jobs))
	assert.Equal(t, num63, Projected([]time.Duration{num63 - 1}, []time.Duration{num63 - 1}), "the sum must saturate")
}

func TestARunningJobGivesWayBeyondTheMargin(t *testing.T) {
	p := Policy{Margin: 10}
	for _, c := range []struct {
		waiting, running Job
		want             bool
	}{
		{Job{UntilDeadline: 90}, Job{UntilDeadline: 100}, false},                           // within the margin
		{Job{UntilDeadline: 89}, Job{UntilDeadline: 100}, true},                            // beyond it
		{Job{UntilDeadline: 5}, Job{UntilDeadline: -1}, true},                              // a job with negative laxity gives way at once
		{Job{UntilDeadline: -50}, Job{UntilDeadline: 5}, false},                            // a job with negative laxity never takes a slot
		{Job{UntilDeadline: 100, Projected: 10}, Job{UntilDeadline: 100}, false},           // a tie
		{Job{UntilDeadline: 100, Projected: 11}, Job{UntilDeadline: 100}, true},            // just beyond the margin
		{Job{UntilDeadline: NoDeadline}, Job{UntilDeadline: NoDeadline}, false},            // neither job has a deadline
		{Job{UntilDeadline: 3, Projected: estimate.Unknown}, Job{UntilDeadline: 9}, false}, // the unknown laxity counts as 3
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

// Two equal jobs of one second share a slot, and the order is checked each millisecond. Without a margin the jobs
// take turns. With a margin they rarely do.
func TestMarginLimitsSwitching(t *testing.T) {
	for margin, most := range map[time.Duration]int{0: 1000, 100 * time.Millisecond: 11, 2 * time.Second: 1} {
		q, err := NewQueue(Policy{Margin: margin})
		require.NoError(t, err)
		now := time.Unix(0, 0)
		left, needs, runs, switches := 5*time.Second, [2]time.Duration{time.Second, time.Second}, 0, 0
		q.Push(now, Job{UntilDeadline: left, Projected: needs[1]})
		for q.Len() > 0 {
			needs[runs] -= time.Millisecond
			left -= time.Millisecond
			now = now.Add(time.Millisecond)
			running := Job{UntilDeadline: left, Projected: needs[runs], Running: true}
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

func TestTicketsAreUsedAgain(t *testing.T) {
	q, now := new(Queue), time.Unix(0, 0)
	_, ok := q.Preempt(now, Job{})
	assert.False(t, ok)
	a := q.Push(now, Job{UntilDeadline: 5})
	b := q.Push(now, Job{UntilDeadline: 6})
	assert.True(t, q.Remove(a))
	assert.False(t, q.Remove(a))
	assert.False(t, q.Update(now, a, Job{}))
	assert.False(t, q.Update(now, -1, Job{}))
	assert.False(t, q.Remove(99))
	_, ok = q.Get(now, a)
	assert.False(t, ok)
	assert.Equal(t, a, q.Push(now, Job{UntilDeadline: 6}), "a free ticket must be used again")
	c, _ := q.Pop(now)
	assert.Equal(t, b, c.Ticket, "in a tie the first job to arrive must win, not the lowest ticket")
	look, ok := q.Get(now.Add(2), a)
	assert.True(t, ok)
	assert.Equal(t, Choice{Ticket: a, Laxity: 4, UntilDeadline: 4}, look)
	// If the clock steps back, no time passes.
	look, _ = q.Get(now.Add(-time.Hour), a)
	assert.Equal(t, time.Duration(4), look.Laxity)
	// A job that is late when it arrives cannot become late.
	late := new(Queue)
	late.Push(now.Add(9), Job{UntilDeadline: 1})
	late.Push(now.Add(10), Job{UntilDeadline: -1})
	turns, ok := late.NextLate()
	assert.True(t, ok)
	assert.Equal(t, now.Add(10), turns)
	late.Remove(0)
	_, ok = late.NextLate()
	assert.False(t, ok)
	_, ok = (&Queue{policy: Policy{Rule: LeastFirst}}).NextLate()
	assert.False(t, ok)
}

func TestValuesPrintTheirNames(t *testing.T) {
	assert.Equal(t, "started", Started.String())
	assert.Equal(t, "Reason(99)", Reason(99).String())
	assert.Equal(t, "deadline-first", DeadlineFirst.String())
	assert.Equal(t, "Rule(9)", Rule(9).String())
	assert.Equal(t, "no-job", Choice{Ticket: -1, Reason: NoJob}.String())
	assert.Equal(t, "only-late ticket=0 laxity=? until-deadline=inf",
		Choice{Reason: OnlyLate, Laxity: estimate.Unknown, UntilDeadline: NoDeadline}.String())
	assert.Equal(t, "[reason=least-laxity ticket=3 laxity=0.001 until-deadline=9.223372036854776e+09]",
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
