package laxity

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Any values, any l: an error or one factor a value, none NaN or negative, the same twice, independent of the sequence.
func FuzzLOF(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), 1, 0.0)
	f.Add(make([]byte, 64), 3, 1.0)
	f.Fuzz(func(t *testing.T, data []byte, l int, floor float64) {
		var values []float64
		for ; len(data) >= 8 && len(values) < 64; data = data[8:] {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
		var s Scorer
		factors, err := s.Score(nil, values, l, floor)
		if err != nil {
			require.Empty(t, factors)
			return
		}
		require.Len(t, factors, len(values))
		for i := range factors {
			require.GreaterOrEqual(t, factors[i], 0.0)
			values[i], values[len(values)-1-i] = values[len(values)-1-i], values[i]
			if i >= len(values)/2-1 {
				break
			}
		}
		reversed, err := s.Score(nil, values, l, floor)
		require.NoError(t, err)
		for i := range factors {
			require.Equal(t, factors[i], reversed[len(factors)-1-i])
		}
	})
}

// Any laxities: one verdict each, and lowering the laxity of one worker never makes it fine by making it high.
func FuzzDetector(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), 0)
	f.Fuzz(func(t *testing.T, data []byte, l int) {
		var laxities []time.Duration
		for ; len(data) >= 8 && len(laxities) < 64; data = data[8:] {
			laxities = append(laxities, time.Duration(binary.LittleEndian.Uint64(data)))
		}
		d, err := NewDetector(DetectorConfig{Neighbours: l})
		if err != nil {
			return
		}
		verdicts := d.Judge(nil, laxities)
		require.Len(t, verdicts, len(laxities))
		for i, v := range verdicts {
			require.False(t, math.IsNaN(v.Factor))
			require.Equal(t, v.Overloaded, v.Reason == StandsApart)
			require.Equal(t, laxities[i], v.Laxity)
			if v.Overloaded {
				require.LessOrEqual(t, v.Laxity, v.Bar)
			}
			_, _ = v.String(), v.LogValue()
		}
		require.Equal(t, verdicts, d.Judge(nil, laxities))
	})
}

// Any sequence of operations, clocks that step back included: the heaps stay in order and nothing panics.
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
			now, job := base.Add(pick(ops[1])), Job{Left: pick(ops[2]), Projected: pick(ops[3])}
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
				q.Turns()
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
	for _, h := range []*heap{&q.ahead, &q.late} {
		for i := 1; i < len(h.entries); i++ {
			require.LessOrEqual(t, h.entries[(i-1)/2].compare(h.entries[i]), 0)
		}
	}
	if q.policy.Rule != NegativeLast {
		require.Empty(t, q.late.entries)
	}
}
