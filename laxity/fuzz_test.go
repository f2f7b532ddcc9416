package laxity

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzQueue plays arbitrary operations, also with a clock that steps back. The heaps must stay in order, and no call may
// panic.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 0, 9, 9, 9, 4, 0, 0, 0, 5, 1, 1, 1}, uint8(0))
	f.Fuzz(func(t *testing.T, ops []byte, rule uint8) {
		q, err := NewQueue(Policy{Rule: Rule(rule)})
		if err != nil {
			return
		}
		base := time.Unix(0, 0)
		extremes := []time.Duration{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
		pick := func(b byte) time.Duration {
			if int(b) < len(extremes) {
				return extremes[b]
			}
			return time.Duration(b) - 100
		}
		for ; len(ops) >= 4; ops = ops[4:] {
			now, job := base.Add(pick(ops[1])), Job{UntilDeadline: pick(ops[2]), Projected: pick(ops[3])}
			switch ops[0] % 6 {
			case 0, 1:
				q.Push(now, job)
			case 2:
				q.Update(now, int(ops[2]), job)
			case 3:
				q.Remove(int(ops[2]))
			case 4:
				c, ok := q.Pop(now)
				require.Equal(t, ok, c.Ticket >= 0)
				_, _ = c.String(), c.LogValue()
			default:
				q.Preempt(now, job)
				q.NextLate()
			}
			checkQueue(t, q)
		}
	})
}

func checkQueue(t *testing.T, q *Queue) {
	t.Helper()
	present := 0
	for ticket := range q.jobs {
		if q.jobs[ticket].present {
			present++
			item := &q.jobs[ticket]
			require.Equal(t, int32(ticket), q.heapOf(item).entries[item.position].ticket)
		}
	}
	require.Equal(t, present, q.Len())
	require.Equal(t, len(q.jobs), present+len(q.free))
	for _, h := range []*heap{&q.onTime, &q.late} {
		for i := 1; i < len(h.entries); i++ {
			require.LessOrEqual(t, h.entries[(i-1)/2].compare(h.entries[i]), 0)
		}
	}
	if q.policy.Rule != NegativeLast {
		require.Empty(t, q.late.entries)
	}
}
