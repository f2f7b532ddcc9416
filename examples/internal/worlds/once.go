package worlds

import "slices"

// Once lists twenty cells that were designed together with the rules of the default policy, and committed before any
// of these rules was played in them. They vary what the other lists keep: several slots a machine, machines that are
// slow in turns, attempts with a heavy tail, sizes that a host is told wrongly, and streams. Twelve of them are silent.
//
// Run once: after the rules are fixed, each policy plays this list one time, with the seeds of Proof. No rule and no
// constant may be chosen by these cells. The list has then served, and judges nothing again. Its test plays the run
// without action alone.
func Once() []Cell {
	turns := make([]Bad, 6) // one machine after the other is slow for 150 s
	for i := range turns {
		turns[i] = Bad{Machines: 1, By: 6, From: float64(150 * i), Till: float64(150 * (i + 1))}
	}
	worse := []Bad{{Machines: 2, By: 2.2, Till: 300}, {Machines: 1, By: 7, From: 300}}
	away := []Death{{At: 200, Back: 350}, {At: 450}}
	return slices.Concat(under([]World{
		{Name: "90 tasks on 5 machines of 4 slots, 7 % 10x", Tasks: 90, Machines: 5, Slots: 4, Slow: .07, SlowBy: 10},
		{Name: "200 tasks on 9 machines of 2 slots, heavy tail 2 of the attempts", Tasks: 200, Machines: 9, Slots: 2, Tail: 2},
		{Name: "exponential sizes, 4 % 12x, 100 tasks on 8 machines of 2 slots", Tasks: 100, Machines: 8, Slots: 2,
			Sizes: Exponential, Slow: .04, SlowBy: 12},
		{Name: "stretched sizes, one bad 5x of 11, 28 tasks", Tasks: 28, Machines: 11, Sizes: Stretched,
			Bad: []Bad{{Machines: 1, By: 5}}},
		{Name: "lognormal 1 sizes, told with an error of .5, 6 % 6x, 70 tasks on 18", Tasks: 70, Machines: 18,
			Sizes: LogNormal, Known: true, Wrong: .5, Slow: .06, SlowBy: 6},
		{Name: "exponential sizes, told, 3 % hang, timeout 900 s, 180 tasks on 16", Tasks: 180, Machines: 16,
			Sizes: Exponential, Known: true, Hang: .03, Timeout: 900},
		{Name: "5 % hang, timeout 1200 s, 55 tasks on 60", Tasks: 55, Machines: 60, Hang: .05, Timeout: 1200},
		{Name: "stream at a load of 0.6 on 6 machines of 4 slots, 8 % 5x", Tasks: 10, Phases: 120, Machines: 6, Slots: 4,
			Load: .6, Slow: .08, SlowBy: 5},
		{Name: "six machines slow 6x in turns, 110 tasks on 22", Tasks: 110, Machines: 22, Bad: turns},
		{Name: "two kinds of sizes, unknown, 350 tasks on 14", Tasks: 350, Machines: 14, Sizes: TwoKinds},
		{Name: "two bad 6x of 12 ask first, 9 tasks", Tasks: 9, Machines: 12, Bad: []Bad{{Machines: 2, By: 6}}, Asks: BadFirst},
		{Name: "6 of 240 tasks long 7x, two bad 3x of 15, lag 5 s", Tasks: 240, Machines: 15, Long: 6, LongBy: 7, Lag: 5,
			Bad: []Bad{{Machines: 2, By: 3}}},
	}, None), under([]World{
		{Name: "stream at a load of 0.5, 3 % hang, timeout 600 s", Tasks: 7, Phases: 150, Load: .5, Hang: .03, Timeout: 600},
		{Name: "75 tasks on 3 machines of 8 slots, one 2.5x", Tasks: 75, Machines: 3, Slots: 8, Bad: []Bad{{Machines: 1, By: 2.5}}},
		{Name: "machines die and turn bad, lag 15 s, 130 tasks on 13", Tasks: 130, Machines: 13, Lag: 15, Bad: worse, Deaths: away},
	}, Linear), under([]World{
		{Name: "Pareto 1.3 sizes, told with an error of .3, 5 % 7x, 65 tasks on 24", Tasks: 65, Machines: 24, Sizes: Pareto,
			Known: true, Wrong: .3, Slow: .05, SlowBy: 7},
		{Name: "5 of 200 tasks long 8x, one bad 4x of 17", Tasks: 200, Machines: 17, Long: 5, LongBy: 8,
			Bad: []Bad{{Machines: 1, By: 4}}},
	}, Noisy), under([]World{
		{Name: "exponential sizes, 5 % 9x, 140 tasks on 10 machines of 2 slots", Tasks: 140, Machines: 10, Slots: 2,
			Sizes: Exponential, Slow: .05, SlowBy: 9},
		{Name: "10 % 3x, 40 tasks on 25 machines of 2 slots that ask anew", Tasks: 40, Machines: 25, Slots: 2, Asks: EachTime,
			Slow: .1, SlowBy: 3},
		{Name: "sizes below the median, heavy tail 3 of the attempts, 100 tasks on 30", Tasks: 100, Machines: 30, Sizes: Below,
			Tail: 3},
	}, Stalls))
}
