package replicate

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each test checks one claim of Ananthanarayanan et al., OSDI 2010 (Mantri). The figure of the paper has symbols and
// no numbers. The numbers here are examples with results computed by hand.

// §5.3, Figure 11a: the cost "recursively looks at prior phases". In a chain it is cost_2 = r_2 (t_2 + r_1 t_1).
func TestSection53Figure11aCostsGrowAlongAChain(t *testing.T) {
	var g Graph
	costs := make([]Cost, 3)
	for i, o := range []Output{
		{Run: 20 * time.Second, Loss: 0.1},
		{Run: 30 * time.Second, Loss: 0.2, Inputs: []int{0}},
		{Run: 40 * time.Second, Loss: 0.5, Inputs: []int{1}},
	} {
		_, err := g.Add(o)
		require.NoError(t, err)
		costs[i] = g.Cost(i)
	}
	assert.Equal(t, []Cost{{}, {}}, []Cost{g.Cost(-1), g.Cost(3)}, "an output that is not known costs nothing")
	assert.Equal(t, Cost{Redo: 20 * time.Second, Expected: 2 * time.Second, ClusterTime: 20 * time.Second}, costs[0])
	// 30 + .1*20 = 32; .2*32 = 6.4
	assert.Equal(t, Cost{Redo: 32 * time.Second, Stall: 2 * time.Second, Expected: 6400 * time.Millisecond, ClusterTime: 32 * time.Second}, costs[1])
	// 40 + .2*32 = 46.4; .5*46.4 = 23.2
	assert.Equal(t, Cost{Redo: 46400 * time.Millisecond, Stall: 6400 * time.Millisecond, Expected: 23200 * time.Millisecond, ClusterTime: 46400 * time.Millisecond}, costs[2])
}

// §5.3, Figure 11b: replicating "reduces the likelihood of recomputation to the case when all replicas are
// unavailable".
func TestSection53Figure11bAllReplicasMustBeLost(t *testing.T) {
	assert.InDelta(t, 0.02, AllLost(0.1, 0.2), 1e-15)
	assert.Equal(t, 1.0, AllLost())
	chain := []Output{{Run: 20 * time.Second, Loss: AllLost(0.1, 0.2)}, {Run: 30 * time.Second, Loss: 1, Inputs: []int{0}}}
	costs := mustRedo(t, chain)
	assert.Equal(t, 400*time.Millisecond, costs[0].Expected)
	assert.Equal(t, 30400*time.Millisecond, costs[1].Redo, "the reader of the output must cost less to redo, too")
}

// §5.3, Figure 11c and footnote 7: "if multiple inputs are lost, they are recomputed in parallel and the task is
// stalled by the longest input", so with n equal inputs t_redo = t + t_1 (1 - (1-r)^n), more than for any one input.
func TestSection53Figure11cTheLongestInputStalls(t *testing.T) {
	outputs := []Output{}
	last := Output{Run: 10 * time.Second, Loss: 0.5}
	for k := range 3 {
		outputs = append(outputs, Output{Run: 20 * time.Second, Loss: 0.1})
		last.Inputs = append(last.Inputs, k)
	}
	costs := mustRedo(t, append(outputs, last))
	assert.Equal(t, 15420*time.Millisecond, costs[3].Redo) // 10 + 20*(1 - .9^3) = 15.42
	assert.Equal(t, 16*time.Second, costs[3].ClusterTime)  // 10 + 3*.1*20

	// The inputs take 30, 20 and 10 s, with r = .5, .2 and .1. The task waits for the longest lost input: .5*30 +
	// .5*.2*20 + .5*.8*.1*10 = 17.4.
	costs = mustRedo(t, []Output{
		{Run: 20 * time.Second, Loss: 0.2}, {Run: 30 * time.Second, Loss: 0.5}, {Run: 10 * time.Second, Loss: 0.1},
		{Run: 10 * time.Second, Inputs: []int{0, 1, 2}},
	})
	assert.Equal(t, 27400*time.Millisecond, costs[3].Redo)
	assert.Zero(t, costs[3].Expected, "an output that cannot be lost must cost nothing")
}

// In a diamond, outputs 1 and 2 read output 0, and output 3 reads 1 and 2. The recursion includes the wait for
// output 0 two times, on each side of the diamond.
func TestSection53ADiamondCountsACommonInputTwice(t *testing.T) {
	costs := mustRedo(t, []Output{
		{Run: 10 * time.Second, Loss: 0.5},
		{Run: 20 * time.Second, Loss: 0.5, Inputs: []int{0}}, // 20 + .5*10 = 25
		{Run: 30 * time.Second, Loss: 0.5, Inputs: []int{0}}, // 30 + .5*10 = 35
		{Run: 40 * time.Second, Loss: 0.5, Inputs: []int{1, 2}},
	})
	// Redo is 40 + .5*35 + .5*.5*25 = 63.75. Expected is half of Redo. ClusterTime is 40 + .5*25 + .5*35 = 70.
	assert.Equal(t, 63750*time.Millisecond, costs[3].Redo)
	assert.Equal(t, 31875*time.Millisecond, costs[3].Expected)
	assert.Equal(t, 70*time.Second, costs[3].ClusterTime)
}

// §4.2: recomputations cluster by machine, so outputs on one machine are lost together. A task waits for ten equal
// inputs on one machine as often as for a single input. If a task's output is lost, its inputs on the same machine
// are lost, too.
func TestSection42InputsOnOneMachineAreLostTogether(t *testing.T) {
	job := func(of func(input int) int, own int) Cost {
		var outputs []Output
		last := Output{Run: 10 * time.Second, Loss: 0.1, Domain: own}
		for k := range 10 {
			outputs = append(outputs, Output{Run: 20 * time.Second, Loss: 0.1, Domain: of(k)})
			last.Inputs = append(last.Inputs, k)
		}
		return mustRedo(t, append(outputs, last))[10]
	}
	apart := job(func(int) int { return 0 }, 0)
	together := job(func(int) int { return 5 }, 0)
	halves := job(func(k int) int { return 1 + k%2 }, 0)
	local := job(func(int) int { return 5 }, 5)
	assert.InDelta(t, 10+20*(1-math.Pow(.9, 10)), apart.Redo.Seconds(), 1e-9) // 23.0 s, as in the paper
	assert.Equal(t, 12*time.Second, together.Redo)                            // 10 + .1*20
	assert.Equal(t, 13800*time.Millisecond, halves.Redo)                      // 10 + 20*(1-.9^2)
	assert.Equal(t, 30*time.Second, local.Redo)                               // 10 + 20
	assert.Equal(t, 210*time.Second, local.ClusterTime)                       // all ten inputs are lost
	assert.Equal(t, together.ClusterTime, apart.ClusterTime, "domains must not change the mean number of lost inputs")
}

// §5.3: t_rep is the time to move the data to another machine of the rack. DecideTarget chooses the machine where the
// copy saves the most. A copy that is lost, too, saves nothing.
func TestSection53TheBestMachineGetsTheCopy(t *testing.T) {
	c := Candidate{Cost: Cost{Expected: 20 * time.Second}, Bytes: 1}
	machines := []Target{{CopyTime: 2 * time.Second, Loss: 1}, {CopyTime: 5 * time.Second, Loss: .1}, {CopyTime: 4 * time.Second, Loss: .2}}
	target, d := DecideTarget(c, machines, 1)
	assert.Equal(t, 1, target) // the machines save 0, 18 and 16 s, and the copies take 2, 5 and 4 s
	assert.Equal(t, 18*time.Second, d.Saves)
	dear := append(machines, Target{CopyTime: 10 * time.Second, Loss: .05}) // saves 19 s and takes 10 s
	target, _ = DecideTarget(c, dear, 1)
	assert.Equal(t, 1, target)
	target, _ = DecideTarget(c, append(machines, machines[1]), 1)
	assert.Equal(t, 1, target, "the first of equal machines")
	target, d = DecideTarget(c, machines, 0)
	assert.Equal(t, -1, target)
	assert.Equal(t, OverBudget, d.Reason)
	target, d = DecideTarget(c, machines[:1], 1)
	assert.Equal(t, -1, target)
	assert.Equal(t, SavesTooLittle, d.Reason)
}

// §6.5: 76 % of the recomputations ahead of need became useful, and 93 % if two losses begin a burst. These are the
// priors of P(lost | burst).
func TestSection65PriorsOfALossInABurst(t *testing.T) {
	for losses, prior := range map[int]float64{1: .76, 2: .93} {
		b, err := NewLossBursts(1, LossBurstsConfig{Losses: losses})
		require.NoError(t, err)
		now := time.Unix(0, 0)
		for range losses {
			b.Lost(now, 0)
		}
		p, active := b.Missing(now, 0)
		assert.True(t, active)
		assert.InDelta(t, prior, p, 1e-12)
	}
}

// §5.3: replicate "outputs whose cost to recompute exceeds the cost to replicate". Equal costs are not enough, and
// rounding errors must not decide.
func TestSection53CopiesMustSaveMoreThanTheyTake(t *testing.T) {
	for _, c := range []struct {
		run    time.Duration
		loss   float64
		copy   time.Duration
		action Action
		reason Reason
	}{
		{30 * time.Second, 0.1, 2999 * time.Millisecond, Replicate, SavesTime},
		{30 * time.Second, 0.1, 3 * time.Second, Leave, SavesTooLittle}, // .1*30 is above 3 in floating point
		{3 * time.Second, 0.1, 300 * time.Millisecond, Leave, SavesTooLittle},
		{70 * time.Second, 0.7, 49 * time.Second, Leave, SavesTooLittle}, // .7*70 is below 49 in floating point
		{30 * time.Second, 0.1, 3*time.Second - 1, Replicate, SavesTime},
		{30 * time.Second, 0.1, 3*time.Second + 1, Leave, SavesTooLittle},
		{time.Hour, 0, 0, Leave, SavesTooLittle},
	} {
		cost := mustRedo(t, []Output{{Run: c.run, Loss: c.loss}})[0]
		d := Decide(Candidate{Cost: cost, CopyTime: c.copy, Bytes: 5}, 5)
		assert.Equal(t, c.action, d.Action, "%+v: %v", c, d)
		assert.Equal(t, c.reason, d.Reason, "%+v: %v", c, d)
	}
}

// §5.3: replication happens "when the cumulative cost of not replicating many successive tasks builds up". In a chain
// of equal tasks a single task is not worth a copy. The cost grows along the chain until a copy is worth its time.
// After the copy the cost is low again.
func TestSection53CostBuildsUpAlongAChain(t *testing.T) {
	var g Graph
	var copied []int
	for k := range 40 {
		inputs := []int{k - 1}
		if k == 0 {
			inputs = nil
		}
		_, err := g.Add(Output{Run: 10 * time.Second, Loss: 0.5, Inputs: inputs})
		require.NoError(t, err)
		if Decide(Candidate{Cost: g.Cost(k), CopyTime: 9 * time.Second}, 0).Action == Replicate {
			copied = append(copied, k)
			g.SetLoss(k, AllLost(0.5, 0.5))
		}
	}
	// Without copies the cost rises towards r t/(1-r) = 10 s: 5, 7.5, 8.75, 9.375. The fourth cost exceeds 9, so
	// output 3 is copied. The copied output then costs .25 of its redo: 18.75*.25 = 4.69. The next costs are 7.34,
	// 8.67 and 9.34, so the third output after it is copied.
	require.Len(t, copied, 13)
	assert.Equal(t, 3, copied[0])
	for i := range copied[1:] {
		assert.Equal(t, 3, copied[i+1]-copied[i])
	}
}

// §5.3: tokens limit replication "to 10% of the data processed by the job". A job gets tokens when a task finishes,
// and an output is replicated "only if an equal number of tokens are available".
func TestSection53TokensCapReplicationAtATenth(t *testing.T) {
	tokens, err := NewByteBudget(0)
	require.NoError(t, err)
	valuable := Candidate{Cost: Cost{Expected: time.Hour}, CopyTime: time.Second, Bytes: 7}
	var processed, copied int64
	for range 100 {
		tokens.Grant(33)
		processed += 33
		d := Decide(valuable, tokens.Left())
		if d.Action == Replicate {
			require.True(t, tokens.Spend(valuable.Bytes))
			copied += valuable.Bytes
		} else {
			require.Equal(t, OverBudget, d.Reason)
		}
		require.LessOrEqual(t, 10*copied, processed)
	}
	assert.Equal(t, int64(329), copied, "330 tokens must pay for 47 copies of 7 bytes")
	exact, err := NewByteBudget(0)
	require.NoError(t, err)
	exact.Grant(70)
	assert.True(t, exact.Spend(7), "one token for each byte must be enough")
	assert.Zero(t, exact.Left())
}

// §5.3: "Mantri proactively recomputes tasks whose output and replicas, if any, have been lost". A recomputation is
// a sign that a problem of the machine has begun. §6.5 compares this rule with a rule that waits for two
// recomputations in quick succession.
func TestSection53LostOutputsAreRecomputedAhead(t *testing.T) {
	cost := Cost{Redo: 60 * time.Second, ClusterTime: 90 * time.Second}
	lost := AtRisk{Cost: cost, Missing: 1, Readers: 3}
	d := DecideRecompute(lost, 90*time.Second)
	assert.Equal(t, Decision{Action: Recompute, Reason: LossForeseen, Saves: time.Minute, Takes: 90 * time.Second, Allowed: 90 * time.Second}, d)
	assert.Equal(t, OverBudget, DecideRecompute(lost, 89*time.Second).Reason)
	lost.Copies = 1
	assert.Equal(t, CopyLeft, DecideRecompute(lost, time.Hour).Reason)
	lost.Copies, lost.Readers = 0, 0
	assert.Equal(t, NotNeeded, DecideRecompute(lost, time.Hour).Reason)
	lost.Readers, lost.Missing = 1, 0
	assert.Equal(t, SavesTooLittle, DecideRecompute(lost, time.Hour).Reason)
	lost.Missing = 0.76
	assert.Equal(t, 45600*time.Millisecond, DecideRecompute(lost, time.Hour).Saves)

	start := time.Unix(0, 0)
	first, err := NewLossBursts(2, LossBurstsConfig{})
	require.NoError(t, err)
	second, err := NewLossBursts(2, LossBurstsConfig{Losses: 2, Window: time.Minute})
	require.NoError(t, err)
	assert.True(t, first.Lost(start, 1), "one loss must begin a burst")
	assert.False(t, first.Active(start, 0), "a loss must not begin a burst of another machine")
	assert.True(t, first.Active(start.Add(15*time.Minute), 1))
	assert.False(t, first.Active(start.Add(15*time.Minute+1), 1))
	assert.False(t, second.Lost(start, 1))
	assert.False(t, second.Lost(start.Add(time.Minute+1), 1), "two losses must lie within the window")
	assert.True(t, second.Lost(start.Add(2*time.Minute), 1))
	assert.False(t, second.Active(start.Add(3*time.Minute), 1))
}

// §5.3: the cluster time for recomputations ahead of need has a budget. The output that saves the most waiting time
// per second of cluster time is first.
func TestSection53RecomputationsWithTheLargestGainAreFirst(t *testing.T) {
	atRisk := []AtRisk{
		{Cost: Cost{Redo: 10 * time.Second, ClusterTime: 10 * time.Second}, Missing: 0.9, Readers: 1}, // .9 s saved for 1 s
		{Cost: Cost{Redo: 27 * time.Second, ClusterTime: 90 * time.Second}, Missing: 1, Readers: 1},   // .3 s saved for 1 s
		{Cost: Cost{Redo: 20 * time.Second, ClusterTime: 20 * time.Second}, Missing: 1, Readers: 1},   // 1 s saved for 1 s
		{Cost: Cost{Redo: 20 * time.Second, ClusterTime: 20 * time.Second}, Missing: 1, Readers: 0},
	}
	assert.Equal(t, []int{7, 2, 0}, ChooseRecompute([]int{7}, atRisk, 100*time.Second), "output 1 must not fit any more")
	assert.Equal(t, []int{2, 0, 1}, ChooseRecompute(nil, atRisk, 120*time.Second))
	atRisk[1].Cost.Redo = 30 * time.Second
	assert.Equal(t, []int{1}, ChooseRecompute(nil, atRisk, 90*time.Second), "output 1 must be chosen, because it saves more than the other outputs together")
	assert.Empty(t, ChooseRecompute(nil, atRisk, 9*time.Second))
}

// §4.2: half of the recomputations happen on 5 % of the machines. These machines get a high probability, and the
// other machines keep a low probability.
func TestSection42FlakyMachinesStandOut(t *testing.T) {
	l, err := NewLosses(100, LossesConfig{})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	assert.InDelta(t, 0.001, l.Probability(now, 3), 1e-12)
	for machine := range 100 {
		l.Produced(now, machine, 1000)
		if machine < 5 {
			l.Lost(now, machine, 19)
		} else {
			l.Lost(now, machine, 1)
		}
	}
	flaky, sound := l.Probability(now, 0), l.Probability(now, 50)
	assert.InDelta(t, 0.019, flaky, 0.002)
	assert.InDelta(t, 0.001, sound, 0.0002)
	assert.InDelta(t, flaky, l.Probability(now.Add(6*24*time.Hour), 0), 1e-12, "the probability must be steady over days")
	assert.InDelta(t, 0.001, l.Probability(now.Add(8*24*time.Hour), 0), 1e-12, "the record must be forgotten after a week")
}
