package worlds

import "fmt"

// waves are the sizes of a phase on 20 slots: fewer tasks than slots, as many, three waves, and thirty waves.
var waves = []struct {
	name  string
	tasks int
}{{"0.75w", 15}, {"1w", 20}, {"3w", 60}, {"30w", 600}}

var twoBad = []Bad{{Machines: 1, By: 4}, {Machines: 1, By: 12}}

// All lists the first worlds, with which the default policy was developed.
func All() (all []World) {
	for _, w := range []World{
		{Name: "healthy"},
		{Name: "two bad 4x 12x", Bad: twoBad},
		{Name: "five mild 1.5x", Bad: []Bad{{Machines: 5, By: 1.5}}},
		{Name: "5 % attempts 8x", Slow: .05},
		{Name: "15 % attempts 8x", Slow: .15},
	} {
		for _, size := range waves {
			of := w
			of.Name, of.Tasks = fmt.Sprintf("%s/%s", w.Name, size.name), size.tasks
			all = append(all, of)
		}
	}
	turns := []Bad{{Machines: 3, By: 10, From: 100, Till: 500}}
	later := []Bad{{Machines: 3, By: 10, From: 1000, Till: 1400}}
	hot := Bad{By: 3, From: 50, Till: 350}
	return append(all,
		World{Name: "far 5x from half, unknown/3w", Tasks: 60, Far: .25},
		World{Name: "far 5x from half, known/3w", Tasks: 60, Far: .25, Paths: true},
		World{Name: "far 5x everywhere, unknown/3w", Tasks: 60, Far: .25, Everywhere: true},
		World{Name: "3 turn bad 10x, recover/3w", Tasks: 60, Bad: turns},
		World{Name: "3 turn bad 10x, recover/30w", Tasks: 600, Bad: later},
		World{Name: "10 GPU 3x faster/3w", Tasks: 60, Fast: 10},
		World{Name: "10 GPU 3x faster/30w", Tasks: 600, Fast: 10},
		World{Name: "10 GPU 3x faster, classes/30w", Tasks: 600, Fast: 10, Classes: true},
		World{Name: "lognormal 1 sizes, known/3w", Tasks: 60, Sizes: LogNormal, Known: true},
		World{Name: "Pareto 1.3 sizes, known/3w", Tasks: 60, Sizes: Pareto, Known: true},
		World{Name: "lognormal 1 sizes, unknown/3w", Tasks: 60, Sizes: LogNormal},
		World{Name: "Pareto 1.3 sizes, unknown/3w", Tasks: 60, Sizes: Pareto},
		World{Name: "lognormal 1 sizes, unknown, 5 % 8x/3w", Tasks: 60, Sizes: LogNormal, Slow: .05},
		World{Name: "lag 60 s, healthy/3w", Tasks: 60, Lag: 60},
		World{Name: "lag 60 s, 5 % 8x/3w", Tasks: 60, Lag: 60, Slow: .05},
		World{Name: "lag 10 s, 15 % 8x/3w", Tasks: 60, Lag: 10, Slow: .15},
		World{Name: "20 % interference, healthy/3w", Tasks: 60, Interference: .2},
		World{Name: "20 % interference, 5 % 8x/3w", Tasks: 60, Interference: .2, Slow: .05},
		World{Name: "1 % hang, timeout 1500 s/1w", Tasks: 20, Hang: .01},
		World{Name: "10 % hang, timeout 1500 s/1w", Tasks: 20, Hang: .1},
		World{Name: "1 % hang, timeout 1500 s/3w", Tasks: 60, Hang: .01},
		World{Name: "10 % hang, timeout 1500 s/3w", Tasks: 60, Hang: .1},
		World{Name: "3 machines die/3w", Tasks: 60, Deaths: []Death{{At: 120}, {At: 150}, {At: 180}}},
		World{Name: "3 machines die, return/3w", Tasks: 60, Deaths: []Death{{120, 240}, {150, 270}, {180, 300}}},
		World{Name: "checkpoints, two bad/3w", Tasks: 60, Bad: twoBad, Checkpoint: .25},
		World{Name: "checkpoints, 5 % 8x/3w", Tasks: 60, Slow: .05, Checkpoint: .25},
		World{Name: "40 phases of 1 to 5 tasks, 10 % 8x", Tasks: 5, Phases: 40, Machines: 10, Slow: .1},
		World{Name: "40 phases of 1 to 5 tasks, two bad of 10", Tasks: 5, Phases: 40, Machines: 10, Bad: twoBad},
		World{Name: "hot spell 3x/1w", Tasks: 20, Spell: hot},
		World{Name: "hot spell 3x/3w", Tasks: 60, Spell: hot},
		World{Name: "hot spell 3x/30w", Tasks: 600, Spell: hot},
		World{Name: "hot spell 3x, two bad/3w", Tasks: 60, Spell: hot, Bad: twoBad},
	)
}

// Streams lists worlds in which many small phases arrive and share slots.
func Streams() (all []World) {
	for _, w := range []World{
		{Name: "healthy"},
		{Name: "5 % 8x", Slow: .05},
		{Name: "15 % 8x", Slow: .15},
		{Name: "lognormal 1 sizes, unknown", Sizes: LogNormal},
		{Name: "hot spell 3x", Spell: Bad{By: 3, From: 500, Till: 1000}},
	} {
		for _, load := range []float64{.4, .8} {
			of := w
			of.Name = fmt.Sprintf("stream at a load of %.1f, %s", load, w.Name)
			of.Tasks, of.Phases, of.Load = 5, 200, load
			all = append(all, of)
		}
	}
	return all
}

// Later lists worlds that were invented after the worlds of All, to judge constants that were chosen on those.
func Later() []World {
	three := []Bad{{Machines: 2, By: 3}, {Machines: 1, By: 20}}
	rest := Bad{By: 2, From: 150, Till: 250}
	return []World{
		{Name: "healthy/2w", Tasks: 40},
		{Name: "healthy/8w", Tasks: 160},
		{Name: "three bad 3x 20x/2w", Tasks: 40, Bad: three},
		{Name: "three bad 3x 20x/10w", Tasks: 200, Bad: three},
		{Name: "eight mild 1.3x/4w", Tasks: 80, Bad: []Bad{{Machines: 8, By: 1.3}}},
		{Name: "3 % attempts 15x/2w", Tasks: 40, Slow: .03, SlowBy: 15},
		{Name: "10 % attempts 4x/5w", Tasks: 100, Slow: .1, SlowBy: 4},
		{Name: "25 % attempts 3x/2w", Tasks: 40, Slow: .25, SlowBy: 3},
		{Name: "8 % attempts 2.5x/12w", Tasks: 240, Slow: .08, SlowBy: 2.5},
		{Name: "two kinds of sizes, unknown/4w", Tasks: 80, Sizes: TwoKinds},
		{Name: "two kinds of sizes, known/4w", Tasks: 80, Sizes: TwoKinds, Known: true},
		{Name: "two kinds of sizes, unknown, 5 % 10x/4w", Tasks: 80, Sizes: TwoKinds, Slow: .05, SlowBy: 10},
		{Name: "lognormal 1 sizes, unknown/8w", Tasks: 160, Sizes: LogNormal},
		{Name: "a tenth far 8x everywhere, unknown/5w", Tasks: 100, Far: .1, FarBy: 8, Everywhere: true},
		{Name: "a tenth far 3x from half, unknown/5w", Tasks: 100, Far: .1, FarBy: 3},
		{Name: "5 GPU 3x faster/6w", Tasks: 120, Fast: 5},
		{Name: "lag 30 s, 10 % 6x/2w", Tasks: 40, Lag: 30, Slow: .1, SlowBy: 6},
		{Name: "5 % hang, timeout 800 s/2w", Tasks: 40, Hang: .05, Timeout: 800},
		{Name: "spell 2x, 5 % 8x/5w", Tasks: 100, Spell: rest, Slow: .05},
		{Name: "25 phases of 1 to 12 tasks, 7 % 6x", Tasks: 12, Phases: 25, Machines: 16, Slow: .07, SlowBy: 6},
	}
}

// Latest lists worlds that were invented after the worlds of Later, when constants were fixed on both.
func Latest() []World {
	die := []Death{{At: 90}, {At: 110}, {At: 130}, {At: 300, Back: 420}, {At: 310, Back: 430}}
	return []World{
		{Name: "healthy/1.5w", Tasks: 30},
		{Name: "spell 4x for 100 s/4w", Tasks: 80, Spell: Bad{By: 4, From: 200, Till: 300}},
		{Name: "one bad 30x/1w", Tasks: 20, Bad: []Bad{{Machines: 1, By: 30}}},
		{Name: "one bad 2.5x/6w", Tasks: 120, Bad: []Bad{{Machines: 1, By: 2.5}}},
		{Name: "four bad 6x/3w", Tasks: 60, Bad: []Bad{{Machines: 4, By: 6}}},
		{Name: "ten mild 1.25x/2w", Tasks: 40, Bad: []Bad{{Machines: 10, By: 1.25}}},
		{Name: "2 % attempts 20x/6w", Tasks: 120, Slow: .02, SlowBy: 20},
		{Name: "20 % attempts 5x/3w", Tasks: 60, Slow: .2, SlowBy: 5},
		{Name: "12 % attempts 2x/8w", Tasks: 160, Slow: .12, SlowBy: 2},
		{Name: "40 % attempts 2x/4w", Tasks: 80, Slow: .4, SlowBy: 2},
		{Name: "Pareto 1.3 sizes, unknown, 8 % 6x/6w", Tasks: 120, Sizes: Pareto, Slow: .08, SlowBy: 6},
		{Name: "two kinds of sizes, unknown/15w", Tasks: 300, Sizes: TwoKinds},
		{Name: "lognormal 1 sizes, known, 5 % 8x/5w", Tasks: 100, Sizes: LogNormal, Known: true, Slow: .05},
		{Name: "a fifth far 4x from half, known/6w", Tasks: 120, Far: .2, FarBy: 4, Paths: true},
		{Name: "a third far 2x everywhere, unknown/4w", Tasks: 80, Far: .33, FarBy: 2, Everywhere: true},
		{Name: "15 GPU 3x faster/4w", Tasks: 80, Fast: 15},
		{Name: "lag 20 s, two bad 4x 12x/2w", Tasks: 40, Lag: 20, Bad: twoBad},
		{Name: "8 % hang, timeout 600 s/4w", Tasks: 80, Hang: .08, Timeout: 600},
		{Name: "5 machines die, two return, checkpoints/4w", Tasks: 80, Deaths: die, Checkpoint: .2},
		{Name: "60 phases of 1 to 8 tasks, one bad 6x of 12", Tasks: 8, Phases: 60, Machines: 12,
			Bad: []Bad{{Machines: 1, By: 6}}},
	}
}
