package worlds

import (
	"math"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/published"
)

// The cells of the list once are twenty, twelve of them silent, and in no other list. They run without action. No policy plays
// them here.
func TestOnce(t *testing.T) {
	others := worldsIn("all", "fresh", "streams", "small", "long", "asking", "spread")
	names, silent := map[string]bool{}, 0
	for _, c := range List("once") {
		assert.False(t, slices.ContainsFunc(others, func(w World) bool { return w.Name == c.World.Name }), c.World.Name)
		names[c.World.Name] = true
		if c.Model == None {
			silent++
		}
		o, err := c.World.Run(Game{Policy: restart.Never{}, Model: c.Model, Set: Work, Seed: 1})
		require.NoError(t, err)
		assert.Greater(t, o.Slots, 20*float64(c.World.Tasks), c.World.Name)
		assert.Less(t, o.Time, 30000., c.World.Name)
		assert.Zero(t, o.First, c.World.Name)
	}
	assert.Len(t, names, 20)
	assert.Equal(t, 12, silent)
}

// A machine runs as many tasks at once as it has slots, and all of them are as slow as the machine.
func TestSlotsOfAMachine(t *testing.T) {
	w := World{Tasks: 6, Machines: 2, Slots: 3, Bad: []Bad{{Machines: 1, By: 4}}}
	l := newLuck(Work, 1)
	least, all := math.Inf(1), 0.
	for i := range w.Tasks {
		takes := w.task(l, 0, i).seconds + w.fate(l, None, 0, i, 0).more
		least, all = min(least, takes), all+takes
	}
	o, err := w.Run(Game{Policy: restart.Never{}, Set: Work, Seed: 1})
	require.NoError(t, err)
	assert.Greater(t, o.Time, 4*least)
	assert.Greater(t, o.Slots, all+9*least, "three tasks run on the slow machine")
	assert.Less(t, o.Slots, 4*all)
	machines := map[int]int{}
	_, err = w.Run(Game{Policy: restart.Never{}, Set: Work, Seed: 1, Watch: func(_ time.Duration, a tracker.Answer) {
		if a.Action == restart.Start {
			machines[a.Task]++
		}
	}})
	require.NoError(t, err)
	assert.Len(t, machines, 6)
}

// The bad machines ask first or last, as the world says.
func TestAsking(t *testing.T) {
	play := func(asks Asks, tasks int) float64 {
		w := World{Tasks: tasks, Machines: 8, Bad: []Bad{{Machines: 3, By: 5}}, Asks: asks}
		o, err := w.Run(Game{Policy: restart.Never{}, Set: Work, Seed: 1})
		require.NoError(t, err)
		return o.Time
	}
	assert.Greater(t, play(BadFirst, 3), 375., "each task runs on a bad machine")
	assert.LessOrEqual(t, play(BadLast, 3), 125., "no task does")
	assert.NotEqual(t, play(Shuffled, 24), play(EachTime, 24))
}

// Sizes, and what a host is told about them: σ .25 around 100 s, a number of long tasks, and an error of the told size.
func TestSizes(t *testing.T) {
	l := newLuck(Work, 1)
	w := World{Tasks: 2000, Sizes: Mild, Scale: .05, Long: 7, LongBy: 100, Wrong: .5}
	long, spread, wrong := 0, 0., 0.
	for i := range w.Tasks {
		of := w.task(l, 0, i)
		wrong += math.Pow(math.Log(of.told/of.seconds), 2) / float64(w.Tasks)
		if of.seconds > 100 {
			of.seconds /= 100
			long++
		}
		spread += math.Pow(math.Log(of.seconds/5), 2) / float64(w.Tasks)
	}
	assert.Equal(t, 7, long)
	assert.InDelta(t, .25, math.Sqrt(spread), .01)
	assert.InDelta(t, .5, math.Sqrt(wrong), .02)
	for sizes, mean := range map[Sizes]float64{Below: 75, Exponential: 100, Stretched: 100} {
		w, sum := World{Tasks: 20000, Sizes: sizes}, 0.
		for i := range w.Tasks {
			sum += w.task(l, 0, i).seconds / float64(w.Tasks)
		}
		assert.InDelta(t, mean, sum, 3, sizes)
	}
	tail := World{Tasks: 1, Tail: 2}
	over := 0
	for i := range 10000 {
		if tail.fate(l, None, 0, i, 0).slow > 4 {
			over++
		}
	}
	assert.InDelta(t, 625, over, 100, "one attempt in 4^2 takes over four times as long")
}

// A world that tells its sizes does so in every run but the run without action. Then the gain of the order counts.
func TestTold(t *testing.T) {
	w := World{Name: "long", Tasks: 30, Machines: 10, Long: 1, LongBy: 10}
	none := []Player{{Name: "nothing", Policy: restart.Never{}}}
	told := w
	told.Told = true
	alone, err := Play(w, None, none, Work, 5)
	require.NoError(t, err)
	assert.InDelta(t, 100, alone.Players[0].Time, 1e-9)
	first, err := Play(told, None, none, Work, 5)
	require.NoError(t, err)
	assert.Less(t, first.Players[0].Time, 95., "the long task starts first")
}

// Each and High are the mean and the 95th percentile over the seeds, and First is the mean instant of the first copy, in
// intervals.
func TestSeeds(t *testing.T) {
	w, seeds := World{Tasks: 20, Slow: .1}, 21
	players := []Player{{Name: "naive", Policy: published.Naive}}
	c, err := Play(w, None, players, Work, seeds)
	require.NoError(t, err)
	var all, first []float64
	mean := 0.
	for seed := 1; seed <= seeds; seed++ {
		none, err := w.Run(Game{Policy: restart.Never{}, Model: None, Set: Work, Seed: seed})
		require.NoError(t, err)
		at := 0.
		o, err := w.Run(Game{Policy: published.Naive, Model: None, Set: Work, Seed: seed, Watch: func(now time.Duration, a tracker.Answer) {
			if a.Action == restart.Copy && at == 0 {
				at = now.Seconds() / 10
			}
		}})
		require.NoError(t, err)
		assert.InDelta(t, at, o.First, 1e-6)
		if at > 0 {
			first = append(first, at)
		}
		all = append(all, 100*o.Time/none.Time)
		mean += all[seed-1] / float64(seeds)
	}
	slices.Sort(all)
	s := c.Players[0]
	assert.InDelta(t, mean, s.Each, 1e-9)
	assert.InDelta(t, all[19], s.High, 1e-9, "one seed of 21 is above it")
	sum := 0.
	for _, at := range first {
		sum += at / float64(len(first))
	}
	require.Less(t, len(first), seeds, "there are seeds without a copy")
	assert.InDelta(t, sum, s.First, 1e-9)
}

func TestRegret(t *testing.T) {
	players := []Player{{Name: "default"}, {Name: "with a record", Record: true}, {Name: "a", Policy: published.Naive},
		{Name: "b", Policy: published.Naive}}
	c := Cell{Players: []Share{{Time: 80, Slots: 90}, {Time: 50, Slots: 80}, {Time: 78, Slots: 90}, {Time: 70, Slots: 91}}}
	assert.InDelta(t, 2, c.Regret(0, players), 1e-9, "b needs more slots, and a record is no policy")
	c.Players[2].Time = 81
	assert.Zero(t, c.Regret(0, players))
	assert.Equal(t, 1, Judge([]Cell{{Players: []Share{{Time: 80, Slots: 120.1}}}, {Players: []Share{{Time: 80, Slots: 120}}}}, 0,
		players[:1]).Costly)
}

// The lists reference and own are parts of the list all, and share no cell.
func TestSets(t *testing.T) {
	match := regexp.MustCompile(`^(15 % attempts 8x/3w (linear|noisy|none)|15 % attempts 8x/1w none|5 % attempts 8x/3w noisy|` +
		`5 % attempts 8x/1w none|two bad 4x 12x/3w (linear|noisy)|two bad 4x 12x/1w none|20 % interference, 5 % 8x/3w none|` +
		`10 % hang, timeout 1500 s/3w none|lognormal 1 sizes, unknown/3w none|far 5x everywhere, unknown/3w none|` +
		`lognormal 1 sizes, unknown, 5 % 8x/3w (none|noisy))$`)
	names := map[string]bool{}
	for _, c := range List("reference") {
		names[c.String()] = true
	}
	all := 0
	for _, c := range List("all") {
		if match.MatchString(c.String()) {
			all++
			assert.Contains(t, names, c.String())
		}
	}
	assert.Equal(t, 15, all)
	assert.Len(t, List("reference"), all)
	assert.Len(t, List("own"), 13)
	for _, c := range List("own") {
		assert.NotContains(t, names, c.String())
	}
}

// The fresh worlds can be played to their ends, and none is one of the others. No policy plays them here.
func TestFresh(t *testing.T) {
	names := map[string]bool{}
	for _, w := range worldsIn("all", "streams") {
		names[w.Name] = true
	}
	assert.Len(t, worldsIn("fresh"), 20)
	for _, w := range worldsIn("fresh") {
		assert.False(t, names[w.Name], w.Name)
		names[w.Name] = true
		o, err := w.Run(Game{Policy: restart.Never{}, Set: Work, Seed: 1})
		require.NoError(t, err, w.Name)
		assert.Greater(t, o.Slots, 0., w.Name)
	}
}
