package worlds

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// long is true with STRAGGLER_LIVES. Some tests then play more games.
var long = os.Getenv("STRAGGLER_LIVES") != ""

// worldsIn returns the worlds of lists, each once.
func worldsIn(lists ...string) (all []World) {
	for _, name := range lists {
		for _, c := range List(name) {
			if len(all) == 0 || all[len(all)-1].Name != c.World.Name {
				all = append(all, c.World)
			}
		}
	}
	return all
}

func find(t *testing.T, name string) World {
	t.Helper()
	for _, w := range worldsIn("first", "streams") {
		if w.Name == name {
			return w
		}
	}
	require.Fail(t, "no world "+name)
	return World{}
}

// Without a policy one wave takes as long as its longest task, and uses the sum of all.
func TestOneWaveWithoutPolicy(t *testing.T) {
	for seed := 1; seed <= 20; seed++ {
		for _, w := range []World{{Tasks: 15, Slow: .1}, {Tasks: 20, Slow: .1, Lag: 7}, {Tasks: 20, Hang: .1}} {
			var want Outcome
			l := newLuck(Proof, seed)
			for i := range w.Tasks {
				of, f := w.task(l, 0, i), w.fate(l, None, 0, i, 0)
				takes := (of.seconds+f.more)*f.slow + w.Lag
				if f.hangs <= 1 {
					again := w.fate(l, None, 0, i, 1)
					if again.hangs <= 1 {
						want.Time = -1
						break
					}
					takes = 1500 + (of.seconds + again.more)
				}
				want.Time = max(want.Time, takes)
				want.Slots += takes
			}
			if want.Time < 0 {
				continue
			}
			got, err := w.Run(Game{Policy: restart.Never{}, Set: Proof, Seed: seed})
			require.NoError(t, err)
			assert.InDelta(t, want.Time, got.Time, 1e-6)
			assert.InDelta(t, want.Slots, got.Slots, 1e-6)
		}
	}
}

// A machine that is three times as slow for a while does a third of the work in it, and none while it is dead.
func TestChanges(t *testing.T) {
	w := World{Tasks: 1, Machines: 1, Spell: Bad{By: 3, From: 20, Till: 50}}
	l := newLuck(Work, 1)
	takes := w.task(l, 0, 0).seconds + w.fate(l, None, 0, 0, 0).more
	o, err := w.Run(Game{Policy: restart.Never{}, Set: Work, Seed: 1})
	require.NoError(t, err)
	assert.InDelta(t, takes+20, o.Time, 1e-6)
	assert.InDelta(t, takes+20, w.Ideal(Work, 1).Time, 1e-6)

	w = World{Tasks: 1, Machines: 1, Deaths: []Death{{At: 30, Back: 70}}}
	again := w.task(l, 0, 0).seconds + w.fate(l, None, 0, 0, 1).more
	o, err = w.Run(Game{Policy: restart.Never{}, Set: Work, Seed: 1})
	require.NoError(t, err)
	assert.InDelta(t, 70+again, o.Time, 1e-6)
	assert.InDelta(t, 30+again, o.Slots, 1e-6)

	w = World{Tasks: 1, Machines: 2, Interference: .5}
	copies, began := 0, 10.
	o, err = w.Run(Game{Policy: doubles{}, Set: Work, Seed: 1, Watch: func(_ time.Duration, a tracker.Answer) {
		if a.Action == restart.Copy {
			copies++
		}
	}})
	require.NoError(t, err)
	assert.Equal(t, 1, copies)
	first := takes + .5*(takes-began)
	second := began + 1.5*again
	assert.InDelta(t, min(first, second), o.Time, 1e-6, "both run at two thirds of their speed")
}

// doubles makes a copy of whatever has reported once.
type doubles struct{}

func (doubles) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if len(t.Attempts) == 1 && t.Attempts[0].Elapsed >= 10*time.Second {
		return restart.Decision{Action: restart.Copy}
	}
	return restart.Decision{}
}

// The same game ends the same, other seeds and sets have other luck, and no world lets a policy hang. Each world is
// played with two pairs of a model and a policy, or with all four with STRAGGLER_LIVES.
func TestGames(t *testing.T) {
	t.Parallel()
	seen := map[float64]bool{}
	for i, w := range worldsIn("first") {
		if w.Tasks > 60 {
			continue
		}
		for _, m := range []Model{Stalls, None} {
			for _, p := range []restart.Policy{nil, rules.Dryad{}} {
				if !long && ((m == Stalls) == (p == nil)) == (i%2 == 0) {
					continue
				}
				g := Game{Model: m, Policy: p, Set: Work, Seed: 3, Record: true}
				one, err := w.Run(g)
				require.NoError(t, err, w.Name)
				two, err := w.Run(g)
				require.NoError(t, err, w.Name)
				assert.Equal(t, one, two, w.Name)
				assert.GreaterOrEqual(t, one.Slots, one.Time/2, w.Name)
				g.Set = Proof
				other, err := w.Run(g)
				require.NoError(t, err, w.Name)
				assert.NotEqual(t, one, other, w.Name)
				seen[one.Time] = true
			}
		}
	}
	assert.Greater(t, len(seen), 50)
}

// The factor of a world multiplies the σ of an attempt's factor and of a report's, and leaves everything else alone.
func TestNoise(t *testing.T) {
	l := newLuck(Work, 1)
	spread := func(noise float64) (attempt, report float64) {
		w := World{Tasks: 1, Noise: noise}
		for i := range 1000 {
			f := w.fate(l, Noisy, 0, i, 0)
			attempt += math.Pow(math.Log(f.curve.factor), 2) / 1000
			report += math.Pow(math.Log(f.curve.shows(.2, l)/.2/f.curve.factor), 2) / 1000
		}
		return math.Sqrt(attempt), math.Sqrt(report)
	}
	attempt, report := spread(0)
	assert.InDelta(t, .15, attempt, .01)
	assert.InDelta(t, .05, report, .005)
	one, _ := spread(1)
	assert.InDelta(t, attempt, one, 1e-12, "0 stands for 1")
	attempt, report = spread(2)
	assert.InDelta(t, .3, attempt, .02)
	assert.InDelta(t, .1, report, .01)

	w := find(t, "15 % attempts 8x/3w")
	loud := w
	loud.Noise = 2
	for _, m := range Models {
		g := Game{Model: m, Set: Work, Seed: 1}
		one, err := w.Run(g)
		require.NoError(t, err)
		two, err := loud.Run(g)
		require.NoError(t, err)
		assert.Equal(t, m != Noisy, one == two, m)
	}
}

// What is shown of progress never falls, and is all when all is done.
func TestCurves(t *testing.T) {
	l := newLuck(Work, 1)
	late := 0
	for i := range 1000 {
		var c curve
		c.draw(l.of(uint64(i)), Stalls, 1)
		before := 0.0
		for k := range 101 {
			shown := c.shows(float64(k)/100, l)
			require.GreaterOrEqual(t, shown, before)
			before = shown
		}
		require.InDelta(t, 1, c.shows(1, l), 1e-9)
		if c.shows(.5, l) < .25 {
			late++
		}
	}
	assert.InDelta(t, 120, late, 40, "one copy in eight stands still early on")
}

// A few cells of docs/worlds.md: where attempts have bad luck the default saves, and it is let alone by what is well.
func TestCells(t *testing.T) {
	players := []Player{{Name: "default"}, {Name: "dryad", Policy: rules.Dryad{}}}
	for _, of := range []struct {
		world  string
		model  Model
		within Share
	}{
		{"5 % attempts 8x/3w", Linear, Share{Time: 45, Slots: 85}},
		{"15 % attempts 8x/3w", None, Share{Time: 60, Slots: 82}},
		{"healthy/3w", None, Share{Time: 100.5, Slots: 101}},
		{"10 % hang, timeout 1500 s/3w", None, Share{Time: 35, Slots: 60}},
		{"stream at a load of 0.8, lognormal 1 sizes, unknown", None, Share{Time: 103, Slots: 108}},
	} {
		if !long && strings.HasPrefix(of.world, "stream") {
			continue // as long as all the others; TestStreams has short ones
		}
		c, err := Play(find(t, of.world), of.model, players, Work, 6)
		require.NoError(t, err)
		assert.Less(t, c.Players[0].Time, of.within.Time, of.world)
		assert.Less(t, c.Players[0].Slots, of.within.Slots, of.world)
		assert.LessOrEqual(t, c.Ideal.Time, c.Players[0].Time+1, of.world)
	}
}

// In a stream that is next to idle each phase takes what its longest task does, and in one that is overloaded it
// waits.
func TestStreams(t *testing.T) {
	t.Parallel()
	w := World{Tasks: 3, Phases: 20, Load: 1e-4, Slow: .1}
	l := newLuck(Work, 1)
	want := 0.
	for phase := range w.Phases {
		longest := 0.
		for i := range w.size(l, phase) {
			of, f := w.task(l, phase, i), w.fate(l, None, phase, i, 0)
			longest = max(longest, (of.seconds+f.more)*f.slow)
		}
		want += longest / 20
	}
	o, err := w.Run(Game{Policy: restart.Never{}, Set: Work, Seed: 1})
	require.NoError(t, err)
	assert.InDelta(t, want, o.Time, 1e-6)
	assert.GreaterOrEqual(t, o.Late, o.Time)
	quiet := o
	w.Load = 8
	o, err = w.Run(Game{Policy: restart.Never{}, Set: Work, Seed: 1})
	require.NoError(t, err)
	assert.Greater(t, o.Time, 1.2*quiet.Time)
	assert.InDelta(t, quiet.Slots, o.Slots, 1e-6)

	phases := 20 // or 40 with STRAGGLER_LIVES
	if long {
		phases = 40
	}
	for _, w := range worldsIn("streams") {
		w.Phases = phases
		for _, m := range []Model{Stalls, None} {
			nothing, err := w.Run(Game{Model: m, Policy: restart.Never{}, Set: Work, Seed: 2})
			require.NoError(t, err)
			o, err := w.Run(Game{Model: m, Set: Work, Seed: 2})
			require.NoError(t, err)
			assert.Less(t, o.Slots, 1.15*nothing.Slots, w.Name)
			assert.Less(t, o.Time, 1.1*nothing.Time, w.Name)
		}
	}
}

func TestJudge(t *testing.T) {
	players := []Player{{Name: "mine"}, {Name: "recorded", Record: true}, {Name: "other"}}
	cell := func(good float64, shares ...Share) Cell {
		return Cell{World: World{Name: "w", Tasks: 60}, Good: Share{Time: good, Slots: 100}, Players: shares}
	}
	cells := []Cell{
		// harm by time, and nothing is better by .6
		cell(0, Share{Time: 100.6, Slots: 100}, Share{Time: 50, Slots: 50}, Share{Time: 101, Slots: 100}),
		// harm by slots; the other uses more
		cell(0, Share{Time: 90, Slots: 101.1}, Share{}, Share{Time: 89, Slots: 101.2}),
		// dominated by 2, and slower than the good ones
		cell(80, Share{Time: 90, Slots: 100}, Share{}, Share{Time: 88, Slots: 100}),
		// by no more than what counts
		cell(89, Share{Time: 90, Slots: 100}, Share{}, Share{Time: 89.6, Slots: 100}),
	}
	v := Judge(cells, 0, players)
	assert.Equal(t, 4, v.Cells)
	assert.Equal(t, 2, v.Harm)
	assert.Equal(t, 2, v.Dominated)
	assert.InDelta(t, 2, v.MostDominated, 1e-9)
	assert.Equal(t, 1, v.Slower)
	assert.Equal(t, 1, v.SlowerInWaves)
	assert.InDelta(t, (100.6+3*90)/4, v.Mean.Time, 1e-9)
	assert.InDelta(t, .6, v.Excess.Time, 1e-9)
	assert.InDelta(t, 1.1, v.Excess.Slots, 1e-9)
	cells[3].Players[0].Slots = 90
	assert.InDelta(t, 1.1, Judge(cells, 0, players).Excess.Slots, 1e-9, "a cell under 100 makes good for no other")
	by, _ := cells[0].Dominated(0, players)
	assert.Equal(t, -1, by, "by doing nothing")
}

// A host that keeps the facts itself, and calls restart.Decide, comes within 3 points of the tracker in the mean of
// the cells, in time and in slots. The test plays the reference cells, and with STRAGGLER_LIVES the own cells as
// well, and four games of each, not one, but not the largest: survey -worlds -list own -policies default,by-hand plays all.
func TestByHand(t *testing.T) {
	t.Parallel()
	players := []Player{{Name: "default"}, {Name: "by-hand", ByHand: true}}
	lists, games := map[string][]Cell{"reference": List("reference")}, 1
	if long {
		lists["own"], games = List("own"), 4
	}
	for name, list := range lists {
		var played []Cell
		for _, c := range list {
			if c.World.Tasks > 100 {
				continue
			}
			c, err := Play(c.World, c.Model, players, Work, games)
			require.NoError(t, err)
			played = append(played, c)
		}
		tracker, hand := Judge(played, 0, players).Mean, Judge(played, 1, players).Mean
		assert.Less(t, hand.Time, tracker.Time+3, name)
		assert.Less(t, hand.Slots, tracker.Slots+3, name)
	}
}

// No world makes the host hang, and it plays a game again as it did. The reports of every second world stall, and
// with STRAGGLER_LIVES each world is played with both.
func TestByHandGames(t *testing.T) {
	t.Parallel()
	for i, w := range worldsIn("first") {
		if w.Tasks > 20 || w.Phases > 0 {
			continue
		}
		for _, m := range []Model{Stalls, None} {
			if !long && (m == Stalls) == (i%2 == 0) {
				continue
			}
			g := Game{Model: m, Set: Work, Seed: 3, ByHand: true}
			one, err := w.Run(g)
			require.NoError(t, err, w.Name)
			two, err := w.Run(g)
			require.NoError(t, err, w.Name)
			assert.Equal(t, one, two, w.Name)
		}
	}
}
