package replicate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mustRedo returns the costs of outputs that are listed in any order.
func mustRedo(t testing.TB, outputs []Output) []Cost {
	t.Helper()
	var g Graph
	at := map[int]int{} // the index of an output in the graph
	var add func(k int)
	add = func(k int) {
		if _, there := at[k]; there {
			return
		}
		o := outputs[k]
		o.Inputs = slices.Clone(o.Inputs)
		for i, j := range o.Inputs {
			add(j)
			o.Inputs[i] = at[j]
		}
		var err error
		at[k], err = g.Add(o)
		require.NoError(t, err)
	}
	costs := make([]Cost, len(outputs))
	for k := range outputs {
		add(k)
		costs[k] = g.Cost(at[k])
	}
	return costs
}

func TestRedoAgreesWithTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		outputs := randomGraph(rng, 1+rng.IntN(8), 3)
		costs := mustRedo(t, outputs)
		for k, c := range costs {
			redo, work := byDefinition(outputs, k)
			require.InDelta(t, redo, c.Redo.Seconds(), 2e-9, "output %d of %+v", k, outputs)
			require.InDelta(t, redo-outputs[k].Run.Seconds(), c.Stall.Seconds(), 2e-9)
			require.InDelta(t, redo*outputs[k].Loss, c.Expected.Seconds(), 2e-9)
			require.InDelta(t, work, c.ClusterTime.Seconds(), 2e-9)
		}
	}
}

// For chains and for one level of inputs the recursion is exact, so it agrees with the enumeration of all outcomes.
func TestRedoIsExactForChainsAndOneLevelFanIn(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 50 {
		chain := make([]Output, 2+rng.IntN(8))
		for k := range chain {
			chain[k] = Output{Run: time.Duration(rng.IntN(1e6)) * time.Millisecond, Loss: rng.Float64()}
			if k > 0 {
				chain[k].Inputs = []int{k - 1}
			}
		}
		fanIn := make([]Output, 2+rng.IntN(8))
		last := &fanIn[len(fanIn)-1]
		for k := range fanIn {
			fanIn[k] = Output{Run: time.Duration(rng.IntN(1e6)) * time.Millisecond, Loss: rng.Float64()}
			if k < len(fanIn)-1 {
				last.Inputs = append(last.Inputs, k)
			}
		}
		last.Run, last.Loss = time.Minute, 0.5
		for _, outputs := range [][]Output{chain, fanIn} {
			for k, c := range mustRedo(t, outputs) {
				require.InDelta(t, enumerate(outputs, k), c.Redo.Seconds(), 1e-8, "output %d of %+v", k, outputs)
			}
		}
	}
}

// In other graphs the recursion is an approximation. The test checks the errors that the comment of Graph states.
func TestRedoIsCloseInOtherGraphs(t *testing.T) {
	for _, c := range []struct{ loss, most float64 }{{0.02, 0.03}, {0.2, 0.18}, {1, 0.81}} {
		rng := rand.New(rand.NewPCG(3, 3))
		worst := 0.0
		for i := range 1500 {
			outputs := randomGraph(rng, 3+rng.IntN(6), 1+i%4)
			for k := range outputs {
				outputs[k].Run += time.Second
				if i%3 == 0 {
					outputs[k].Run = time.Second + time.Duration(rng.IntN(3))*100*time.Second
				}
				if outputs[k].Loss = c.loss; i%2 == 0 {
					outputs[k].Loss *= rng.Float64()
				}
			}
			for k, cost := range mustRedo(t, outputs) {
				worst = max(worst, math.Abs(cost.Redo.Seconds()/enumerate(outputs, k)-1))
			}
		}
		t.Logf("Loss up to %v: worst relative difference %.3f", c.loss, worst)
		assert.Less(t, worst, c.most)
		assert.Greater(t, worst, c.most/2, "the comment of Graph must not state a much larger error")
	}
}

func TestRedoDoesNotDependOnTheNumbering(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		outputs := randomGraph(rng, 30, 4)
		costs := mustRedo(t, outputs)
		list, at := renumbered(rng, outputs)
		again := mustRedo(t, list)
		for k := range outputs {
			require.Equal(t, costs[k], again[at[k]])
		}
	}
}

func TestCostsRiseWithLossAndTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		outputs := randomGraph(rng, 12, 3)
		before := mustRedo(t, outputs)
		k := rng.IntN(len(outputs))
		outputs[k].Loss = min(1, outputs[k].Loss+0.3*rng.Float64())
		outputs[k].Run += time.Duration(rng.Int64N(1e9))
		for i, after := range mustRedo(t, outputs) {
			require.LessOrEqual(t, before[i].Redo, after.Redo)
			require.LessOrEqual(t, before[i].Expected, after.Expected)
			require.LessOrEqual(t, before[i].ClusterTime, after.ClusterTime)
			require.LessOrEqual(t, after.Redo, after.ClusterTime+1, "parallel recomputation must not take longer than one recomputation after another")
		}
	}
}

// A graph that grows and changes has the same costs as a new graph with the same outputs.
func TestAGrowingGraphAgreesWithANewGraph(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 100 {
		outputs := randomGraph(rng, 25, 4)
		var g Graph
		for k, o := range outputs {
			index, err := g.Add(o)
			require.NoError(t, err)
			require.Equal(t, k, index)
			if rng.IntN(3) == 0 {
				i := rng.IntN(k + 1)
				outputs[i].Loss = rng.Float64()
				require.True(t, g.SetLoss(i, outputs[i].Loss))
			}
			if rng.IntN(3) == 0 {
				i := rng.IntN(k + 1)
				require.Equal(t, mustRedo(t, outputs[:k+1])[i], g.Cost(i))
			}
		}
		for k, c := range mustRedo(t, outputs) {
			require.Equal(t, c, g.Cost(k))
		}
		require.Equal(t, len(outputs), g.Len())
	}
}

func TestChooseSavesHalfOfTheBestAtLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 500 {
		candidates := make([]Candidate, rng.IntN(10))
		for i := range candidates {
			candidates[i] = Candidate{
				Cost: Cost{Expected: time.Duration(rng.IntN(50))}, CopyTime: time.Duration(rng.IntN(20)), Bytes: int64(rng.IntN(30)),
			}
		}
		tokens := int64(rng.IntN(100))
		chosen := Choose(nil, candidates, tokens)
		saved, left := int64(0), tokens
		for _, i := range chosen {
			d := Decide(candidates[i], left)
			require.Equal(t, Replicate, d.Action, "each chosen candidate must fit and save time")
			saved += int64(d.Saves - d.Takes)
			left -= d.Bytes
		}
		best := int64(0)
		for set := range 1 << len(candidates) {
			value, bytes := int64(0), int64(0)
			for i, c := range candidates {
				if set>>i&1 == 1 {
					value += int64(c.Cost.Expected - c.CopyTime)
					bytes += c.Bytes
				}
			}
			if bytes <= tokens {
				best = max(best, value)
			}
		}
		require.GreaterOrEqual(t, 2*saved, best, "%+v, %d tokens: %v", candidates, tokens, chosen)
	}
}

func TestNothingAllocates(t *testing.T) {
	var g Graph
	for range 100 {
		_, err := g.Add(Output{Run: time.Second, Loss: 0.1, Inputs: []int{g.Len() / 2}[:min(1, g.Len())]})
		require.NoError(t, err)
	}
	candidates := make([]Candidate, 50)
	atRisk := make([]AtRisk, 50)
	for i := range candidates {
		candidates[i] = Candidate{Cost: g.Cost(i), Bytes: int64(50 - i), ReplicaLoss: 0.1}
		atRisk[i] = AtRisk{Cost: g.Cost(i), Missing: 0.5, Readers: 1}
	}
	chosen := make([]int, 0, 50)
	tokens, err := NewByteBudget(0)
	require.NoError(t, err)
	losses, err := NewLosses(10, LossesConfig{})
	require.NoError(t, err)
	onset, err := NewLossBursts(10, LossBurstsConfig{Losses: 2})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		now = now.Add(time.Hour)
		g.SetLoss(3, 0.2)
		g.Cost(99)
		Decide(candidates[4], 10)
		chosen = Choose(chosen[:0], candidates, 500)
		DecideRecompute(atRisk[4], time.Second)
		chosen = ChooseRecompute(chosen[:0], atRisk, time.Minute)
		tokens.Grant(1000)
		tokens.Spend(50)
		losses.Produced(now, 3, 5)
		losses.Lost(now, 3, 1)
		losses.Probability(now, 3)
		onset.Lost(now, 3)
		AllLost(0.1, 0.2, 0.3)
	}))
	assert.False(t, slices.Contains(chosen, -1))
}
