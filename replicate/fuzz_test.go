package replicate

import (
	"encoding"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

// FuzzRedo reads a graph from bytes. Each task has three bytes for its time, its loss and its number of inputs, and
// then one byte for each input.
func FuzzRedo(f *testing.F) {
	f.Add([]byte{10, 5, 0, 20, 5, 1, 0, 30, 9, 2, 0, 1})
	f.Add([]byte{10, 5, 1, 1, 20, 5, 1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		outputs := decode(data)
		costs := mustRedo(t, outputs)
		for k, c := range costs {
			o := outputs[k]
			require.GreaterOrEqual(t, c.Redo, o.Run)
			require.GreaterOrEqual(t, c.Stall, time.Duration(0))
			require.LessOrEqual(t, c.Expected, c.Redo)
			require.LessOrEqual(t, c.Redo, c.ClusterTime+1)
			longest, lossy := time.Duration(0), false
			for _, j := range o.Inputs {
				longest = max(longest, costs[j].Redo)
				lossy = lossy || outputs[j].Loss > 0 && costs[j].Redo > 0
				require.GreaterOrEqual(t, c.Stall, costs[j].Expected-1, "the stall must be at least the expected cost of each input")
			}
			require.LessOrEqual(t, c.Stall, longest+1, "the stall must be at most the redo of the longest input")
			require.Equal(t, lossy, c.Stall > 0)
		}
	})
}

func decode(data []byte) (outputs []Output) {
	for len(data) >= 3 && len(outputs) < 50 {
		o := Output{Run: time.Duration(data[0]) * time.Second, Loss: float64(data[1]%11) / 10}
		n := min(int(data[2])%5, len(data)-3)
		for _, j := range data[3 : 3+n] {
			if k := len(outputs); k > 0 {
				o.Inputs = append(o.Inputs, int(j)%k)
			}
		}
		data = data[3+n:]
		outputs = append(outputs, o)
	}
	return outputs
}

// FuzzGraph calls Add, SetLoss and Cost in any order. The graph must agree with a new graph.
func FuzzGraph(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 64, 0, 3, 128, 1, 9, 200, 2, 0})
	f.Add([]byte{0, 9, 0, 9, 0, 9, 130, 5, 210, 210})
	f.Fuzz(func(t *testing.T, script []byte) {
		var g Graph
		var outputs []Output
		for i := 0; i+1 < len(script) && len(outputs) < 40; i += 2 {
			op, v := int(script[i]), int(script[i+1])
			switch n := len(outputs); {
			case op < 128 || n == 0:
				o := Output{Run: time.Duration(v) * time.Second, Loss: float64(v%11) / 10}
				for j := range n {
					if (op+v*j)%3 == 0 {
						o.Inputs = append(o.Inputs, j)
					}
				}
				_, err := g.Add(o)
				require.NoError(t, err)
				outputs = append(outputs, o)
			case op < 192:
				outputs[op%n].Loss = float64(v%11) / 10
				require.True(t, g.SetLoss(op%n, outputs[op%n].Loss))
			default:
				require.Equal(t, mustRedo(t, outputs)[v%n], g.Cost(v%n))
			}
		}
	})
}

// FuzzBudget compares the tokens with exact arithmetic. No token may be lost, and the number must not be negative.
func FuzzBudget(f *testing.F) {
	f.Add(0.1, int64(30), int64(2), int64(71), int64(9))
	f.Add(1.0, int64(1<<62), int64(1<<61), int64(1<<62), int64(-1))
	f.Fuzz(func(t *testing.T, share float64, grant1, spend1, grant2, spend2 int64) {
		b, err := NewByteBudget(share)
		if err != nil || share == Off {
			return
		}
		billionths := new(big.Int).SetUint64(b.billionths)
		if share == 0 {
			billionths.SetUint64(byteShare * 1e9)
		}
		processed, spent := new(big.Int), int64(0)
		for _, step := range [][2]int64{{grant1, spend1}, {grant2, spend2}, {grant1, spend2}} {
			if b.Grant(step[0]); step[0] > 0 {
				processed.Add(processed, big.NewInt(step[0]))
			}
			left := b.Left()
			if b.Spend(step[1]) {
				require.True(t, step[1] >= 0 && step[1] <= left)
				spent += step[1]
			} else {
				require.True(t, step[1] < 0 || step[1] > left)
			}
			require.GreaterOrEqual(t, b.Left(), int64(0))
			require.Equal(t, spent, b.Spent())
			if processed.IsInt64() {
				granted := new(big.Int).Mul(processed, billionths)
				granted.Div(granted, big.NewInt(1e9))
				require.Equal(t, granted.Int64(), b.Left()+b.Spent())
			}
		}
	})
}

// FuzzDecide checks rules that hold for all facts. A copy needs enough tokens and must save time. A larger saving or
// a shorter copy never changes Replicate to Leave.
func FuzzDecide(f *testing.F) {
	f.Add(int64(3e9), int64(2e9), int64(10), 0.0, int64(10), int64(1))
	f.Add(int64(-3), int64(2), int64(10), 0.5, int64(9), int64(1e9))
	f.Fuzz(func(t *testing.T, expected, cp, bytes int64, replicaLoss float64, tokens, more int64) {
		c := Candidate{Cost: Cost{Expected: time.Duration(expected)}, CopyTime: time.Duration(cp), Bytes: bytes, ReplicaLoss: replicaLoss}
		d := Decide(c, tokens)
		require.Equal(t, d, Decide(c, tokens))
		require.NotEmpty(t, d.String())
		require.NotEqual(t, NoReason, d.Reason)
		if d.Action != Replicate {
			return
		}
		require.True(t, bytes <= tokens && bytes >= 0 && d.Saves > d.Takes && d.Takes >= 0)
		if more < 0 || expected > expected+more || tokens > tokens+more {
			return
		}
		c.Cost.Expected += time.Duration(more)
		c.CopyTime -= min(c.CopyTime, time.Duration(more))
		require.Equal(t, Replicate, Decide(c, tokens+more).Action)
	})
}

// FuzzChoose checks that each chosen candidate appears once, fits into the budget and saves time.
func FuzzChoose(f *testing.F) {
	f.Add([]byte{9, 1, 5, 8, 2, 4, 7, 3, 3}, int64(8))
	f.Add([]byte{9, 1, 0, 8, 8, 0}, int64(0))
	f.Fuzz(func(t *testing.T, data []byte, tokens int64) {
		var candidates []Candidate
		for ; len(data) >= 3; data = data[3:] {
			candidates = append(candidates, Candidate{
				Cost: Cost{Expected: time.Duration(data[0]) << (data[1] % 56)}, CopyTime: time.Duration(data[1]), Bytes: int64(data[2]) << (data[0] % 56),
			})
		}
		seen := make([]bool, len(candidates))
		for _, i := range Choose(nil, candidates, tokens) {
			require.False(t, seen[i])
			seen[i] = true
			d := Decide(candidates[i], tokens)
			require.Equal(t, Replicate, d.Action)
			tokens -= d.Bytes
		}
	})
}

// FuzzTimes passes arbitrary times in any order to Losses and LossBursts.
func FuzzTimes(f *testing.F) {
	f.Add(int64(0), int64(3600), int64(-9), int64(1<<62), int64(60))
	f.Fuzz(func(t *testing.T, a, b, c, d, window int64) {
		l, err := NewLosses(2, LossesConfig{Window: time.Duration(window)})
		if err != nil {
			return
		}
		o, err := NewLossBursts(2, LossBurstsConfig{Losses: 2, Window: time.Duration(window)})
		require.NoError(t, err)
		for i, seconds := range []int64{a, b, c, d, a} {
			now := time.Unix(seconds, int64(i))
			require.True(t, l.Produced(now, i%2, 3))
			require.True(t, l.Lost(now, i%2, 1+i))
			for machine := range 3 {
				p := l.Probability(now, machine)
				require.True(t, p > 0 && p <= 1)
			}
			o.Lost(now, i%2)
		}
		for _, r := range append([]record{l.cluster}, l.machine...) {
			outputs, lost := int64(0), int64(0)
			for j := range r.outputs {
				outputs += r.outputs[j]
				lost += r.lost[j]
			}
			require.Equal(t, r.sumOutputs, outputs)
			require.Equal(t, r.sumLost, lost)
		}
	})
}

// FuzzSnapshots reads arbitrary bytes as a snapshot. The result must be an error that changes nothing, or a state
// that works and gives the same bytes again.
func FuzzSnapshots(f *testing.F) {
	now := time.Unix(1e9, 0)
	l, _ := NewLosses(2, LossesConfig{})
	b, _ := NewLossBursts(2, LossBurstsConfig{Losses: 2})
	for i := range 9 {
		l.Produced(now.Add(time.Duration(i)*time.Hour), i%2, 5)
		l.Lost(now.Add(time.Duration(i)*time.Hour), i%2, 1)
		b.Lost(now.Add(time.Duration(i)*time.Minute), i%2)
	}
	for _, state := range []encoding.BinaryMarshaler{l, b, new(Losses), new(LossBursts)} {
		data, _ := state.MarshalBinary()
		f.Add(snapshottest.Body(data))
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = snapshottest.Sealed(data)
		l, b := new(Losses), new(LossBursts)
		if l.UnmarshalBinary(data) == nil {
			p := l.Probability(now, 0)
			require.True(t, p >= 0 && p <= 1, p)
			l.Produced(now, 0, 1)
			snapshottest.Through(t, l)
		} else {
			require.Equal(t, new(Losses), l)
		}
		if b.UnmarshalBinary(data) == nil {
			b.Lost(now, 0)
			p, _ := b.Missing(now, 0)
			require.True(t, p >= 0 && p <= 1, p)
			snapshottest.Through(t, b)
		} else {
			require.Equal(t, new(LossBursts), b)
		}
	})
}
