package replicate

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each error names the output, the field, the value and the range.
func TestBadOutputsAreNamed(t *testing.T) {
	var g Graph
	for want, o := range map[string]Output{
		"replicate: outputs[0].Inputs[0] is 0, want an output added before":  {Inputs: []int{0}},
		"replicate: outputs[0].Inputs[0] is -1, want an output added before": {Inputs: []int{-1}},
		"replicate: outputs[0].Run is -1ns, want 0 or more":                  {Run: -1},
		"replicate: outputs[0].Loss is 2, want a probability in [0, 1]":      {Loss: 2},
		"replicate: outputs[0].Loss is -0.1, want a probability in [0, 1]":   {Loss: -0.1},
		"replicate: outputs[0].Loss is NaN, want a probability in [0, 1]":    {Loss: math.NaN()},
	} {
		_, err := g.Add(o)
		assert.EqualError(t, err, want)
	}
	assert.Zero(t, g.Len(), "a bad output must not be added")
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

func TestBadConfigsAreNamed(t *testing.T) {
	for want, err := range map[string]error{
		"replicate: the number of machines is -1, want 0 or more":                                       second(NewLosses(-1, LossesConfig{})),
		"replicate: LossesConfig.Window is -1s, want at least 16ns":                                     second(NewLosses(1, LossesConfig{Window: -time.Second})),
		"replicate: LossesConfig.Prior is 1, want a probability in (0, 1), or 0 for the default":        second(NewLosses(1, LossesConfig{Prior: 1})),
		"replicate: LossesConfig.Weight is NaN, want a positive finite number, or 0 for the default":    second(NewLosses(1, LossesConfig{Weight: math.NaN()})),
		"replicate: LossBurstsConfig.Losses is -2, want a positive number, 0 for the default, or Off":   second(NewLossBursts(1, LossBurstsConfig{Losses: -2})),
		"replicate: LossBurstsConfig.Losses is 1001, want 1 to 1000, or 0 for the default":              second(NewLossBursts(1, LossBurstsConfig{Losses: 1001})),
		"replicate: LossBurstsConfig.Window is -1ns, want a positive duration, or 0 for the default":    second(NewLossBursts(1, LossBurstsConfig{Window: -1})),
		"replicate: share of the ByteBudget is 1.5, want a share in (0, 1], 0 for the default, or Off":  second(NewByteBudget(1.5)),
		"replicate: share of the TimeBudget is NaN, want a share in (0, 1], 0 for the default, or Off":  second(NewTimeBudget(math.NaN())),
		"replicate: LossBurstsConfig.Prior is 1, want a probability in (0, 1), or 0 for the default":    second(NewLossBursts(1, LossBurstsConfig{Prior: 1})),
		"replicate: LossBurstsConfig.Weight is -1, want a positive finite number, or 0 for the default": second(NewLossBursts(1, LossBurstsConfig{Weight: -1})),
	} {
		assert.EqualError(t, err, want)
	}
	_, err := NewLossBursts(-1, LossBurstsConfig{})
	assert.EqualError(t, err, "replicate: the number of machines is -1, want 0 or more")
}

func second[T any](_ T, err error) error { return err }

func TestDefaultsReadBack(t *testing.T) {
	l, err := NewLosses(0, LossesConfig{})
	require.NoError(t, err)
	assert.Equal(t, LossesConfig{Window: 7 * 24 * time.Hour, Prior: 0.001, Weight: 100}, l.Config())
	o, err := NewLossBursts(0, LossBurstsConfig{})
	require.NoError(t, err)
	assert.Equal(t, LossBurstsConfig{Losses: 1, Window: 15 * time.Minute, Prior: .76, Weight: 20}, o.Config())
}

// If a fact is out of range, there is no action, and the reason is NoEstimate.
func TestInvalidFactsLeadToNoAction(t *testing.T) {
	hour := Cost{Expected: time.Hour}
	for _, c := range []Candidate{
		{Cost: hour, CopyTime: -1}, {Cost: hour, Bytes: -1}, {Cost: Cost{Expected: -1}},
		{Cost: hour, ReplicaLoss: math.NaN()}, {Cost: hour, ReplicaLoss: 2}, {Cost: hour, ReplicaLoss: -0.1},
	} {
		assert.Equal(t, Decision{Reason: NoEstimate}, Decide(c, 100), "%+v", c)
	}
	for _, e := range []AtRisk{
		{Missing: math.NaN()}, {Missing: 1.5}, {Missing: -1}, {Missing: 1, Cost: Cost{Redo: -1}}, {Missing: 1, Cost: Cost{ClusterTime: -1}},
	} {
		e.Readers = 1
		assert.Equal(t, Decision{Reason: NoEstimate}, DecideRecompute(e, time.Hour), "%+v", e)
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
	o, err := NewLossBursts(2, LossBurstsConfig{})
	require.NoError(t, err)
	assert.False(t, o.Lost(now, 2))
	assert.False(t, o.Lost(now, -1))
	assert.False(t, o.Active(now, 9))
	off, err := NewLossBursts(2, LossBurstsConfig{Losses: Off})
	require.NoError(t, err)
	assert.False(t, off.Lost(now, 0))
	assert.False(t, off.Active(now, 0))
}

func TestExtremeGraphsSaturate(t *testing.T) {
	longest := time.Duration(math.MaxInt64)
	chain := make([]Output, 200)
	for k := range chain {
		chain[k] = Output{Run: longest, Loss: 1}
		if k > 0 {
			chain[k].Inputs = []int{k - 1}
		}
	}
	c := mustRedo(t, chain)[199]
	assert.Equal(t, Cost{Redo: longest, Stall: longest, Expected: longest, ClusterTime: longest}, c, "durations must saturate")
	assert.Equal(t, Replicate, Decide(Candidate{Cost: c, CopyTime: time.Hour}, 0).Action)
	assert.Equal(t, Leave, Decide(Candidate{Cost: c, CopyTime: longest}, 0).Action)

	// A chain of 2000 diamonds has 2^2000 paths. The work is larger than every float64, and no value may be NaN.
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
	assert.Equal(t, longest, costs[len(costs)-2].ClusterTime)
	assert.Equal(t, Cost{Redo: time.Second, ClusterTime: time.Second}, costs[len(costs)-1], "an input that cannot be lost must not stall")

	// An input that appears a thousand times has the same effect as an input that appears a single time.
	same := []Output{{Run: time.Second, Loss: 0.5}, {Run: time.Second, Loss: 0.5}, {Inputs: make([]int, 1000)}}
	same[2].Inputs[500] = 1
	assert.Equal(t, 750*time.Millisecond, mustRedo(t, same)[2].Redo)
}

// The cost of the last output of a long chain must be computed without recursion.
func TestALongChainNeedsNoRecursion(t *testing.T) {
	var g Graph
	for k := range 200_000 {
		_, err := g.Add(Output{Run: time.Second, Loss: 0.5, Inputs: []int{k - 1}[:min(k, 1)]})
		require.NoError(t, err)
	}
	assert.Equal(t, 2*time.Second, g.Cost(g.Len()-1).Redo)
}

func TestBudgetsAreExact(t *testing.T) {
	b, err := NewByteBudget(0.29)
	require.NoError(t, err)
	b.Grant(100)
	assert.Equal(t, int64(29), b.Left(), "29 % of 100 must be 29, although .29*100 is below 29 in floating point")
	assert.False(t, b.Spend(30))
	assert.False(t, b.Spend(-1))
	assert.True(t, b.Spend(29))
	assert.True(t, b.Spend(0))
	b.Grant(-50)
	b.Grant(3)
	assert.Zero(t, b.Left(), "a fraction of a token must not be spent")
	b.Grant(1)
	assert.Equal(t, int64(1), b.Left(), "a fraction must count in the next grant")

	full, err := NewByteBudget(1)
	require.NoError(t, err)
	full.Grant(math.MaxInt64)
	full.Grant(math.MaxInt64)
	assert.Equal(t, int64(math.MaxInt64), full.Left())

	free, err := NewTimeBudget(Off)
	require.NoError(t, err)
	assert.True(t, free.Spend(math.MaxInt64))
	assert.True(t, free.Spend(time.Hour))
	assert.Equal(t, time.Duration(math.MaxInt64), free.Left())
	assert.Equal(t, time.Duration(math.MaxInt64), free.Spent())

	tiny, err := NewByteBudget(1e-300)
	require.NoError(t, err)
	tiny.Grant(1e9)
	assert.Equal(t, int64(1), tiny.Left(), "a share must be at least a billionth")
}

func TestZeroValuesHaveTheDefaults(t *testing.T) {
	var tokens ByteBudget
	tokens.Grant(1000)
	assert.Equal(t, int64(100), tokens.Left())
	var cluster TimeBudget
	cluster.Grant(time.Hour)
	assert.Equal(t, 3*time.Minute, cluster.Left())

	now := time.Unix(0, 0)
	var l Losses
	assert.False(t, l.Produced(now, 0, 1))
	assert.InDelta(t, .001, l.Probability(now, 0), 1e-15)
	l.Resize(2)
	assert.True(t, l.Lost(now, 1, 1))
	assert.Greater(t, l.Probability(now, 1), .001)
	l.Resize(-1)
	assert.False(t, l.Lost(now, 0, 1))
	assert.Greater(t, l.Probability(now, 0), .001, "the record of the cluster must stay")

	var b LossBursts
	assert.False(t, b.Lost(now, 0))
	assert.False(t, b.Found(now, 0))
	b.Resize(1)
	assert.Equal(t, 15*time.Minute, b.Config().Window)
	assert.True(t, b.Lost(now, 0), "one loss must begin a burst, as in the paper")

	var g Graph
	assert.Equal(t, Cost{}, g.Cost(0))
	assert.Equal(t, "leave no-reason", Decision{}.String())
	target, d := DecideTarget(Candidate{}, nil, 0)
	assert.Equal(t, -1, target)
	assert.Equal(t, Decision{Reason: NoEstimate}, d)
}

func TestALossOfTheCopyReducesTheSaving(t *testing.T) {
	c := Candidate{Cost: Cost{Expected: 10 * time.Second}, CopyTime: 7 * time.Second, ReplicaLoss: 0.2}
	assert.Equal(t, 8*time.Second, Decide(c, 0).Saves)
	assert.Equal(t, Replicate, Decide(c, 0).Action)
	c.ReplicaLoss = 0.3
	assert.Equal(t, SavesTooLittle, Decide(c, 0).Reason)
}

func TestValuesPrintTheirNames(t *testing.T) {
	d := Decide(Candidate{Cost: Cost{Expected: 3 * time.Second}, CopyTime: 2 * time.Second, Bytes: 70}, 80)
	assert.Equal(t, "replicate saves-time saves=3s takes=2s bytes=70 tokens=80", d.String())
	assert.Equal(t, "[action=replicate reason=saves-time saves=3 takes=2 bytes=70 tokens=80]", d.LogValue().String())
	data, err := json.Marshal(d)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"action":"replicate","reason":"saves-time","saves":3`)

	d.Tokens = math.MaxInt64
	assert.Equal(t, "replicate saves-time saves=3s takes=2s bytes=70 tokens=off", d.String())
	assert.Equal(t, "[action=replicate reason=saves-time saves=3 takes=2 bytes=70 tokens=<nil>]", d.LogValue().String())
	d = DecideRecompute(AtRisk{Cost: Cost{Redo: 9e9, ClusterTime: 8e9}, Missing: 1, Readers: 1}, 7*time.Second)
	assert.Equal(t, "leave over-budget saves=9s takes=8s allowed=7s", d.String())
	assert.Equal(t, "[action=leave reason=over-budget saves=9 takes=8 allowed=7]", d.LogValue().String())
	d.Allowed = math.MaxInt64
	assert.Equal(t, "leave over-budget saves=9s takes=8s allowed=off", d.String())
	assert.Equal(t, "leave no-estimate", Decide(Candidate{CopyTime: -1}, 5).String())
	assert.Equal(t, "[action=leave reason=no-estimate]", Decide(Candidate{CopyTime: -1}, 5).LogValue().String())
	assert.Equal(t, "redo=2s stall=1s expected=1s cluster-time=2s", Cost{Redo: 2e9, Stall: 1e9, Expected: 1e9, ClusterTime: 2e9}.String())

	assert.Equal(t, "Action(9)", Action(9).String())
	assert.Equal(t, "Reason(99)", Reason(99).String())
	_, err = json.Marshal(Decision{Reason: 99})
	assert.ErrorContains(t, err, "replicate: Reason is 99, want 0 to 7")
}
