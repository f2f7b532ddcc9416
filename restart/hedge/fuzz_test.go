package hedge_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// FuzzRules plays any events to a Hedger and to each rule: a clock that steps back, ends before starts, ends twice,
// absurd sizes, timeouts and classes. Every answer is defined: no panic, no NaN, at most one second request for each
// safe operation and none for another, and counts that add up.
func FuzzRules(f *testing.F) {
	f.Add([]byte{0, 3, 1, 4, 2, 5}, uint8(3), uint16(500))
	f.Add([]byte("\x00\x08\x01\x40\x02\x01\x03\x80\x00\x20\x01\xff\x02\x00\x03\x01"), uint8(0), uint16(2000))
	f.Fuzz(func(t *testing.T, script []byte, kind uint8, repeat uint16) {
		if len(script) == 0 {
			return
		}
		rule := ruleOf(t, kind)
		now, sent, safe, started := time.Unix(0, 0), map[hedge.ID]bool{}, map[hedge.ID]bool{}, hedge.ID(0)
		at := func(i int) int { return int(script[i%len(script)]) }
		for i := range int(repeat % 4096) {
			x, y, z := at(3*i), at(3*i+1), at(3*i+2)
			now = now.Add(steps[y%len(steps)])
			id := started - min(started, hedge.ID(z%5))
			switch x % 4 {
			case 0:
				next, d := rule.Start(now, hedge.Request{
					Safe: y%8 > 0, Size: sizes[z%len(sizes)], Class: z%7 - 2, Timeout: steps[z%len(steps)], Machine: "a",
				})
				require.Equal(t, started+1, next)
				started = next
				check(t, d)
				require.NotEqual(t, hedge.Send, d.Action)
				safe[next] = y%8 > 0
			case 1:
				d := rule.Late(now, id)
				check(t, d)
				if d.Action == hedge.Send {
					require.False(t, sent[id], "a second second request")
					require.True(t, safe[id], "an unsafe second request")
					sent[id] = true
				}
			case 2:
				rule.Done(now, id, hedge.Attempt(z%3), hedge.Outcome(y%4))
			case 3:
				if z == 255 {
					rule.PushBack(now, steps[y%len(steps)])
				}
			}
		}
		if h, ok := rule.(*hedge.Hedger); ok {
			l := h.Ledger()
			require.Equal(t, int64(started), l.Started)
			require.LessOrEqual(t, l.Won+l.Lost, l.Sent)
			require.LessOrEqual(t, l.Answered, l.Started)
			require.GreaterOrEqual(t, l.Busy, time.Duration(0))
			trials := h.Trials()
			require.GreaterOrEqual(t, trials.Won, 0.0)
			require.GreaterOrEqual(t, trials.AtRisk, time.Duration(0))
			plan := h.Plan(0, 0)
			require.False(t, math.IsNaN(plan.Delay+plan.Probability+plan.Load))
			require.False(t, math.IsNaN(h.Quantile(0, 1, 0.5)))
			_, err := json.Marshal(l)
			require.NoError(t, err)
		}
	})
}

var (
	steps = []time.Duration{
		0, 1, ms, 5 * ms, 5 * ms, 6 * ms, 7 * ms, 60 * ms, time.Second, -time.Second, math.MaxInt64, -time.Hour,
	}
	sizes = []float64{0, 1, 2, 100, 1e18, 1e300, -1, 5e-324, math.NaN(), math.Inf(1), math.Inf(-1)}
)

func ruleOf(t *testing.T, kind uint8) hedge.Rule {
	configs := []hedgerules.Config{
		hedgerules.Fixed(ms), hedgerules.Quantile(0.9), hedgerules.Finagle(0.05), hedgerules.Cassandra(0.99),
		hedgerules.GRPC(ms),
	}
	if int(kind) < len(configs) {
		r, err := hedgerules.New(configs[kind])
		require.NoError(t, err)
		return r
	}
	return newHedger(t, hedge.Config{
		Window: 100, Classes: 1 + int(kind)%3, Shadow: kind%5 == 0, Percentile: 0.5 + float64(kind)/600,
		Wins: []float64{0, 0.9, hedge.Off}[kind%3], Budget: []float64{0.05, 1}[kind%2], Target: time.Duration(kind%4) * ms,
	})
}

// check requires that a decision is defined: its numbers are not NaN, only Wait has a time, and a refusal prints a
// comparison that refused.
func check(t *testing.T, d hedge.Decision) {
	t.Helper()
	require.False(t, math.IsNaN(d.Value) || math.IsNaN(d.Threshold), "%v", d)
	require.Equal(t, d.Action == hedge.Wait && d.After > 0, d.After != 0, "%v", d)
	delay := min(d.Threshold, time.Duration(math.MaxInt64).Seconds())
	rounding := 1e-9 * (1 + delay) // a delay is rounded to nanoseconds
	switch d.Reason {
	case hedge.Late, hedge.InShadow:
		require.GreaterOrEqual(t, d.Value, delay-rounding, "%v", d)
	case hedge.NotLate, hedge.BudgetSpent:
		require.LessOrEqual(t, d.Value, d.Threshold+rounding, "%v", d)
	case hedge.Learning, hedge.WinsSeldom, hedge.NotDrawn, hedge.DeadlineNear:
		require.Less(t, d.Value, d.Threshold, "%v", d)
	case hedge.RequestLong, hedge.AllSlow, hedge.PushedBack:
		require.Greater(t, d.Value, d.Threshold, "%v", d)
	}
}

// FuzzProblem plans for any times: a plan is within its budget and not worse than no plan, and Least needs no more than
// Best for the same time.
func FuzzProblem(f *testing.F) {
	f.Add([]byte{1, 2, 3, 200, 4, 5}, 0.9, 0.1, uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, times []byte, k, budget float64, fanout, extra uint8) {
		p := hedge.Problem{Percentile: k, Budget: budget, Fanout: int(fanout), Extra: int(extra % 8)}
		numbers := []int{}
		for i := 0; i+1 < len(times); i += 2 {
			p.Pairs = append(p.Pairs, hedge.Pair{First: float64(times[i]), Second: float64(times[i+1])})
			numbers = append(numbers, int(times[i]))
		}
		if fanout%2 == 0 {
			p.Pairs, p.First, p.Of = nil, curveOf(numbers), 1+int(extra%3)
		}
		best, err := p.Best()
		if err != nil {
			return
		}
		require.LessOrEqual(t, best.Time, best.Alone)
		require.LessOrEqual(t, best.Load, budget+1e-9)
		require.Equal(t, best.Send, best.Time < best.Alone)
		if best.Send {
			least, err := p.Least(best.Time)
			require.NoError(t, err)
			require.Equal(t, best, least)
		}
	})
}
