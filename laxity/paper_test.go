package laxity

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each test checks some sentences of DynamicShare. Its name ends with their section.

// §3.2: Laxity_j = Deadline_j - Proj_exec_time_j. Proj_exec_time_j is the longest map task plus the longest reduce task.
func TestLaxityIsDeadlineLessProjectedTime_3_2(t *testing.T) {
	maps := []time.Duration{5 * time.Second, 7 * time.Second}
	projected := Projected(maps, []time.Duration{3 * time.Second, time.Second})
	assert.Equal(t, 10*time.Second, projected)
	// The Twitter jobs of §5 have a strict deadline of 15 s.
	assert.Equal(t, 5*time.Second, Job{UntilDeadline: 15 * time.Second, Projected: projected}.Laxity())
}

// §3.2: the smallest laxity has the highest priority. A job with negative laxity runs only if all waiting jobs have negative
// laxity.
func TestNegativeLaxityComesLast_3_2(t *testing.T) {
	jobs := []Job{{UntilDeadline: -5}, {UntilDeadline: 7}, {UntilDeadline: 0}, {UntilDeadline: -1}, {UntilDeadline: 3}}
	assert.Equal(t, []int{2, 4, 1, 0, 3}, Order(jobs))
	assert.Equal(t, []int{0, 3, 2, 4, 1}, Policy{Rule: LeastFirst}.Order(nil, jobs))
}

// §3.2: laxities change when tasks arrive, finish, or miss their deadline. The third event happens because time passes.
func TestQueueFollowsTheThreeEvents_3_2(t *testing.T) {
	var q Queue
	now := time.Unix(1000, 0)
	a := q.Push(now, Job{UntilDeadline: 10 * time.Second, Projected: 8 * time.Second})
	b := q.Push(now, Job{UntilDeadline: 20 * time.Second, Projected: 17 * time.Second})
	first := func() int {
		c, ok := q.Peek(now)
		require.True(t, ok)
		return c.Ticket
	}
	assert.Equal(t, a, first())
	for ticket, laxity := range map[int]time.Duration{a: 2 * time.Second, b: 3 * time.Second} {
		waits, ok := q.Get(now, ticket)
		assert.True(t, ok)
		assert.Equal(t, laxity, waits.Laxity)
	}
	c := q.Push(now, Job{UntilDeadline: 5 * time.Second, Projected: 4 * time.Second})
	assert.Equal(t, c, first(), "a job with less laxity arrived")
	require.True(t, q.Update(now, b, Job{UntilDeadline: 20 * time.Second, Projected: 20 * time.Second}))
	assert.Equal(t, b, first(), "a task finished, and the job needs more time than projected")
	turns, ok := q.NextLate()
	require.True(t, ok)
	assert.Equal(t, now, turns)
	now = now.Add(1)
	assert.Equal(t, c, first(), "job b can no longer meet its deadline")
	now = now.Add(3 * time.Second)
	assert.Equal(t, b, first(), "all jobs have negative laxity, and job b has the least")
}

// A job with negative laxity lets other jobs go first: "a task with negative laxity will never preempt tasks with positive
// laxity values". A job that can still meet its deadline takes the slot of a job that cannot (§3.2).
func TestNegativeLaxityDoesNotPreempt_3_2(t *testing.T) {
	now := time.Unix(0, 0)
	late := Job{UntilDeadline: 5 * time.Second, Projected: 10 * time.Second}    // a laxity of -5 s
	onTime := Job{UntilDeadline: 60 * time.Second, Projected: 10 * time.Second} // a laxity of 50 s
	tight := Job{UntilDeadline: 12 * time.Second, Projected: 10 * time.Second}  // a laxity of 2 s
	preempts := func(p Policy, waits, runs Job) bool {
		q, err := NewQueue(p)
		require.NoError(t, err)
		q.Push(now, waits)
		_, ok := q.Preempt(now, runs)
		return ok
	}
	assert.False(t, preempts(Policy{}, late, onTime), "a negative laxity must come last, although it is the least")
	assert.True(t, preempts(Policy{}, tight, onTime))
	assert.True(t, preempts(Policy{}, onTime, late))
	assert.True(t, preempts(Policy{Rule: LeastFirst}, late, onTime), "under plain least laxity, a negative laxity must come first")
}
