package replicate

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every error names the output, the edge, or the field, and the value.
func TestBadGraphs(t *testing.T) {
	for want, outputs := range map[string][]Output{
		"replicate: Run of output 1 is -1s, want at least 0":                               {{}, {Run: -time.Second}},
		"replicate: Loss of output 0 is NaN, want a probability in [0, 1]":                 {{Loss: math.NaN()}},
		"replicate: Loss of output 0 is -0.1, want a probability in [0, 1]":                {{Loss: -0.1}},
		"replicate: Loss of output 0 is 1.5, want a probability in [0, 1]":                 {{Loss: 1.5}},
		"replicate: Inputs[1] of output 1 is 2, want an index below 2":                     {{}, {Inputs: []int{0, 2}}},
		"replicate: Inputs[0] of output 0 is -1, want an index below 1":                    {{Inputs: []int{-1}}},
		"replicate: Inputs[0] of output 1 is 1, which itself depends on output 1: a cycle": {{}, {Inputs: []int{1}}},
		"replicate: Inputs[1] of output 3 is 1, which itself depends on output 3: a cycle": {
			{}, {Inputs: []int{0, 2}}, {Inputs: []int{3}}, {Inputs: []int{0, 1}}, {Inputs: []int{3}},
		},
	} {
		_, err := Redo(outputs)
		assert.EqualError(t, err, want)
	}
	costs, err := Redo(nil)
	require.NoError(t, err)
	assert.Empty(t, costs)
}

func TestBadAdditions(t *testing.T) {
	var g Graph
	for want, o := range map[string]Output{
		"replicate: Inputs[0] of output 0 is 0, want an output added before": {Inputs: []int{0}},
		"replicate: Run of output 0 is -1ns, want at least 0":                {Run: -1},
		"replicate: Loss of output 0 is 2, want a probability in [0, 1]":     {Loss: 2},
	} {
		_, err := g.Add(o)
		assert.EqualError(t, err, want)
	}
	assert.Zero(t, g.Len(), "nothing was added")
	assert.Equal(t, Cost{}, g.Cost(0))
	assert.Equal(t, Cost{}, g.Cost(-1))
	assert.False(t, g.SetLoss(0, 0.5))
	_, err := g.Add(Output{Run: time.Second})
	require.NoError(t, err)
	assert.False(t, g.SetLoss(0, math.NaN()))
	assert.False(t, g.SetLoss(0, 1.1))
	assert.False(t, g.SetLoss(-1, 0.5))
	assert.True(t, g.SetLoss(0, 1))
	assert.Equal(t, time.Second, g.Cost(0).Expected)
}

func TestBadChoices(t *testing.T) {
	for want, err := range map[string]error{
		"replicate: the number of machines is -1, want 0 or more":                                second(NewLosses(-1, LossesConfig{})),
		"replicate: LossesConfig.Window is -1s, want at least 16ns, or 0 for the default":        second(NewLosses(1, LossesConfig{Window: -time.Second})),
		"replicate: LossesConfig.Prior is 1, want a probability in (0, 1), or 0 for the default": second(NewLosses(1, LossesConfig{Prior: 1})),
		"replicate: LossesConfig.Weight is NaN, want a positive number, or 0 for the default":    second(NewLosses(1, LossesConfig{Weight: math.NaN()})),
		"replicate: OnsetConfig.Losses is -2, want a positive number, 0 for the default, or Off": second(NewOnset(1, OnsetConfig{Losses: -2})),
		"replicate: OnsetConfig.Losses is 1001, want at most 1000":                               second(NewOnset(1, OnsetConfig{Losses: 1001})),
		"replicate: OnsetConfig.Window is -1ns, want a positive duration, or 0 for the default":  second(NewOnset(1, OnsetConfig{Window: -1})),
		"replicate: the share of a budget is 1.5, want a share in [0, 1], or Off":                second(NewBudget[int64](1.5)),
		"replicate: the share of a budget is NaN, want a share in [0, 1], or Off":                second(NewBudget[int64](math.NaN())),
	} {
		assert.EqualError(t, err, want)
	}
	_, err := NewOnset(-1, OnsetConfig{})
	assert.EqualError(t, err, "replicate: the number of machines is -1, want 0 or more")
}

func second[T any](_ T, err error) error { return err }

func TestDefaultsReadBack(t *testing.T) {
	l, err := NewLosses(0, LossesConfig{})
	require.NoError(t, err)
	assert.Equal(t, LossesConfig{Window: 7 * 24 * time.Hour, Prior: 0.001, Weight: 100}, l.Config())
	o, err := NewOnset(0, OnsetConfig{})
	require.NoError(t, err)
	assert.Equal(t, OnsetConfig{Losses: 1, Window: 15 * time.Minute}, o.Config())
}

// Facts that make no sense lead to no action, and the reason says so.
func TestUnknownFacts(t *testing.T) {
	hour := Cost{Expected: time.Hour}
	for _, c := range []Candidate{
		{Cost: hour, Copy: -1}, {Cost: hour, Bytes: -1}, {Cost: Cost{Expected: -1}},
		{Cost: hour, ReplicaLoss: math.NaN()}, {Cost: hour, ReplicaLoss: 2}, {Cost: hour, ReplicaLoss: -0.1},
	} {
		assert.Equal(t, Decision{Reason: Unknown}, Decide(c, 100), "%+v", c)
	}
	for _, e := range []Endangered{
		{Missing: math.NaN()}, {Missing: 1.5}, {Missing: -1}, {Missing: 1, Cost: Cost{Redo: -1}}, {Missing: 1, Cost: Cost{Work: -1}},
	} {
		e.Readers = 1
		assert.Equal(t, Decision{Reason: Unknown}, Ahead(e, time.Hour), "%+v", e)
	}
	l, err := NewLosses(2, LossesConfig{Prior: 0.2})
	require.NoError(t, err)
	now := time.Unix(1e9, 0)
	assert.False(t, l.Lost(now, 2, 1))
	assert.False(t, l.Lost(now, -1, 1))
	assert.False(t, l.Produced(now, 0, 0))
	assert.False(t, l.Produced(now, 0, -3))
	assert.False(t, l.Lost(now, 0, 1e9+1))
	assert.InDelta(t, 0.2, l.Probability(now, 7), 1e-12)
	o, err := NewOnset(2, OnsetConfig{})
	require.NoError(t, err)
	assert.False(t, o.Lost(now, 2))
	assert.False(t, o.Lost(now, -1))
	assert.False(t, o.Active(now, 9))
	off, err := NewOnset(2, OnsetConfig{Losses: Off})
	require.NoError(t, err)
	assert.False(t, off.Lost(now, 0))
	assert.False(t, off.Active(now, 0))
}

func TestExtremes(t *testing.T) {
	longest := time.Duration(math.MaxInt64)
	chain := make([]Output, 200)
	for k := range chain {
		chain[k] = Output{Run: longest, Loss: 1}
		if k > 0 {
			chain[k].Inputs = []int{k - 1}
		}
	}
	c := mustRedo(t, chain)[199]
	assert.Equal(t, Cost{Redo: longest, Stall: longest, Expected: longest, Work: longest}, c, "times saturate")
	assert.Equal(t, Replicate, Decide(Candidate{Cost: c, Copy: time.Hour}, 0).Action)
	assert.Equal(t, Leave, Decide(Candidate{Cost: c, Copy: longest}, 0).Action)

	// 2000 diamonds, one on top of the other: 2^2000 paths, and work beyond all numbers, but never NaN.
	diamonds := []Output{{Run: time.Second, Loss: 1}}
	for range 2000 {
		n := len(diamonds)
		diamonds = append(diamonds, Output{Run: time.Second, Loss: 1, Inputs: []int{n - 1}}, Output{Run: time.Second, Loss: 1, Inputs: []int{n - 1}},
			Output{Run: time.Second, Loss: 1, Inputs: []int{n, n + 1}})
	}
	diamonds = append(diamonds, Output{Run: time.Second, Inputs: []int{len(diamonds) - 1}})
	diamonds = append(diamonds, Output{Run: time.Second, Inputs: []int{len(diamonds) - 1}})
	costs := mustRedo(t, diamonds)
	assert.Equal(t, 4002*time.Second, costs[len(costs)-2].Redo)
	assert.Equal(t, longest, costs[len(costs)-2].Work)
	assert.Equal(t, Cost{Redo: time.Second, Work: time.Second}, costs[len(costs)-1], "its input cannot be lost")

	// The same input a thousand times is one input.
	same := []Output{{Run: time.Second, Loss: 0.5}, {Run: time.Second, Loss: 0.5}, {Inputs: make([]int, 1000)}}
	same[2].Inputs[500] = 1
	assert.Equal(t, 750*time.Millisecond, mustRedo(t, same)[2].Redo)
}

// A long chain, last output first: nothing recurses.
func TestAnyDepth(t *testing.T) {
	outputs := make([]Output, 200_000)
	for k := range outputs {
		outputs[k] = Output{Run: time.Second, Loss: 0.5}
		if k+1 < len(outputs) {
			outputs[k].Inputs = []int{k + 1}
		}
	}
	assert.Equal(t, 2*time.Second, mustRedo(t, outputs)[0].Redo)
}

func TestBudgetArithmetic(t *testing.T) {
	b, err := NewBudget[int64](0.29)
	require.NoError(t, err)
	b.Grant(100)
	assert.Equal(t, int64(29), b.Left(), ".29*100 is below 29 in floating point")
	assert.False(t, b.Spend(30))
	assert.False(t, b.Spend(-1))
	assert.True(t, b.Spend(29))
	assert.True(t, b.Spend(0))
	b.Grant(-50)
	b.Grant(3)
	assert.Zero(t, b.Left(), "fractions wait")
	b.Grant(1)
	assert.Equal(t, int64(1), b.Left(), "for the next grant")
	assert.Equal(t, "29 spent, 1 left", b.String())

	full, err := NewBudget[int64](1)
	require.NoError(t, err)
	full.Grant(math.MaxInt64)
	full.Grant(math.MaxInt64)
	assert.Equal(t, int64(math.MaxInt64), full.Left())

	free, err := NewBudget[time.Duration](Off)
	require.NoError(t, err)
	assert.True(t, free.Spend(math.MaxInt64))
	assert.True(t, free.Spend(time.Hour))
	assert.Equal(t, time.Duration(math.MaxInt64), free.Left())
	assert.Equal(t, time.Duration(math.MaxInt64), free.Spent())
	assert.Equal(t, "2562047h47m16.854775807s spent, without limit", free.String())

	none, err := NewBudget[int64](0)
	require.NoError(t, err)
	none.Grant(1e9)
	assert.Zero(t, none.Left())
}

func TestReplicaThatMayBeLostToo(t *testing.T) {
	c := Candidate{Cost: Cost{Expected: 10 * time.Second}, Copy: 7 * time.Second, ReplicaLoss: 0.2}
	assert.Equal(t, 8*time.Second, Decide(c, 0).Saves)
	assert.Equal(t, Replicate, Decide(c, 0).Action)
	c.ReplicaLoss = 0.3
	assert.Equal(t, SavesTooLittle, Decide(c, 0).Reason)
}

func TestNames(t *testing.T) {
	d := Decide(Candidate{Cost: Cost{Expected: 3 * time.Second}, Copy: 2 * time.Second, Bytes: 70}, 80)
	assert.Equal(t, "replicate: saves-time, saves 3s, takes 2s for 70 bytes of 80", d.String())
	assert.Equal(t, "[action=replicate reason=saves-time saves=3s takes=2s bytes=70 tokens=80]", d.LogValue().String())
	assert.Equal(t, "leave: no-reason, saves 0s, takes 0s", Decision{}.String())
	assert.Equal(t, "action 9", Action(9).String())
	assert.Equal(t, "recompute", Recompute.String())
	assert.Equal(t, "unknown", Unknown.String())
	assert.Equal(t, "reason 99", Reason(99).String())
	assert.Equal(t, "redo 2s (stalled 1s), expected 1s, work 2s", Cost{Redo: 2e9, Stall: 1e9, Expected: 1e9, Work: 2e9}.String())
}
