package laxity

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A clock that steps back by an hour does not change when the job becomes late. NextLate answers with a time of the new
// clock.
func TestAClockThatStepsBackKeepsTheLaxities(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	q := new(Queue)
	ticket := q.Push(start, Job{UntilDeadline: 10 * time.Second, Projected: 4 * time.Second})
	back := start.Add(2*time.Second - time.Hour)
	c, ok := q.Get(start.Add(2*time.Second), ticket)
	require.True(t, ok)
	assert.Equal(t, 4*time.Second, c.Laxity)
	c, _ = q.Get(back, ticket)
	assert.Equal(t, 4*time.Second, c.Laxity, "no time must pass at the step")
	c, _ = q.Get(back.Add(3*time.Second), ticket)
	assert.Equal(t, time.Second, c.Laxity, "the next time must be measured from the new time")
	at, ok := q.NextLate()
	assert.True(t, ok)
	assert.Equal(t, back.Add(4*time.Second), at)
	c, _ = q.Peek(at)
	assert.Equal(t, LeastLaxity, c.Reason)
	c, _ = q.Peek(at.Add(1))
	assert.Equal(t, OnlyLate, c.Reason)
}
