package laxity

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each test follows some sentences of DynamicShare and names their section.

// §3.2: Laxity_j = Deadline_j - Proj_exec_time_j, and the latter is the longest map task plus the longest reduce task.
func TestLaxityIsDeadlineLessProjectedTime_3_2(t *testing.T) {
	maps := []time.Duration{5 * time.Second, 7 * time.Second}
	projected := Projected(maps, []time.Duration{3 * time.Second, time.Second})
	assert.Equal(t, 10*time.Second, projected)
	// 15 s is the strict deadline of the Twitter jobs of §5.
	assert.Equal(t, 5*time.Second, Job{TimeLeft: 15 * time.Second, Projected: projected}.Laxity())
}

// §3.2: the smallest laxity has the highest priority, and a job with negative laxity runs only when all that wait have
// missed theirs.
func TestNegativeLaxityComesLast_3_2(t *testing.T) {
	jobs := []Job{{TimeLeft: -5}, {TimeLeft: 7}, {TimeLeft: 0}, {TimeLeft: -1}, {TimeLeft: 3}}
	assert.Equal(t, []int{2, 4, 1, 0, 3}, Order(jobs))
	assert.Equal(t, []int{0, 3, 2, 4, 1}, Policy{Rule: LeastFirst}.Order(nil, jobs))
}

// §3.2: laxities change when tasks come in, finish, or miss their deadline; the third is the passage of time.
func TestQueueFollowsTheThreeEvents_3_2(t *testing.T) {
	var q Queue
	now := time.Unix(1000, 0)
	a := q.Push(now, Job{TimeLeft: 10 * time.Second, Projected: 8 * time.Second})
	b := q.Push(now, Job{TimeLeft: 20 * time.Second, Projected: 17 * time.Second})
	first := func() int {
		c, ok := q.Peek(now)
		require.True(t, ok)
		return c.Ticket
	}
	assert.Equal(t, a, first())
	c := q.Push(now, Job{TimeLeft: 5 * time.Second, Projected: 4 * time.Second})
	assert.Equal(t, c, first(), "a job came in")
	require.True(t, q.Update(now, b, Job{TimeLeft: 20 * time.Second, Projected: 20 * time.Second}))
	assert.Equal(t, b, first(), "a task finished and the job needs more than was thought")
	turns, ok := q.NextLate()
	require.True(t, ok)
	assert.Equal(t, now, turns)
	now = now.Add(1)
	assert.Equal(t, c, first(), "b can no longer end in time")
	now = now.Add(3 * time.Second)
	assert.Equal(t, b, first(), "all are lost, and b is the furthest behind")
}

// A job that is late already lets others go first: "a task with negative laxity will never preempt tasks with positive
// laxity values". One that can still end in time takes the slot of one that can't (§3.2).
func TestNegativeLaxityDoesNotPreempt_3_2(t *testing.T) {
	now := time.Unix(0, 0)
	late := Job{TimeLeft: 5 * time.Second, Projected: 10 * time.Second}    // a laxity of -5 s
	onTime := Job{TimeLeft: 60 * time.Second, Projected: 10 * time.Second} // of 50 s
	tight := Job{TimeLeft: 12 * time.Second, Projected: 10 * time.Second}  // of 2 s
	preempts := func(p Policy, waits, runs Job) bool {
		q, err := NewQueue(p)
		require.NoError(t, err)
		q.Push(now, waits)
		_, ok := q.Preempt(now, runs)
		return ok
	}
	assert.False(t, preempts(Policy{}, late, onTime), "a laxity below 0 comes last, though it is the least")
	assert.True(t, preempts(Policy{}, tight, onTime))
	assert.True(t, preempts(Policy{}, onTime, late))
	assert.True(t, preempts(Policy{Rule: LeastFirst}, late, onTime), "plain least laxity makes no such difference")
}
