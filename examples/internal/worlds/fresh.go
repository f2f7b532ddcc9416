package worlds

// Fresh lists worlds that were invented after the constants of the default policy were fixed, and before any policy
// was simulated in them. No constant may be chosen by these worlds.
func Fresh() []World {
	stairs := []Bad{{Machines: 3, By: 1.4}, {Machines: 3, By: 2}, {Machines: 3, By: 2.8}}
	brief := []Bad{{Machines: 6, By: 12, From: 60, Till: 140}}
	fades := []Bad{{Machines: 3, By: 10, Till: 90}, {Machines: 3, By: 4, From: 90, Till: 180}}
	worse := []Bad{{Machines: 2, By: 2, Till: 200}, {Machines: 2, By: 14, From: 200}}
	rolling := []Death{{At: 60, Back: 110}, {At: 110, Back: 160}, {At: 160, Back: 210}, {At: 210, Back: 260}}
	return []World{
		{Name: "seven machines, 9 % 9x/5w", Tasks: 35, Machines: 7, Slow: .09, SlowBy: 9},
		{Name: "two machines, one bad 4x/12w", Tasks: 24, Machines: 2, Bad: []Bad{{Machines: 1, By: 4}}},
		{Name: "150 machines, 4 % 7x/1w", Tasks: 150, Machines: 150, Slow: .04, SlowBy: 7},
		{Name: "50 machines, four bad 8x/2w", Tasks: 100, Machines: 50, Bad: []Bad{{Machines: 4, By: 8}}},
		{Name: "40 machines for 30 tasks, 12 % 6x/0.75w", Tasks: 30, Machines: 40, Slow: .12, SlowBy: 6},
		{Name: "nine bad, 1.4x, 2x and 2.8x/5w", Tasks: 100, Bad: stairs},
		{Name: "six bad 12x from 60 to 140 s/4w", Tasks: 80, Bad: brief},
		{Name: "three bad 10x that turn 4x and recover/3w", Tasks: 60, Bad: fades},
		{Name: "two bad 2x that turn 14x at 200 s/6w", Tasks: 120, Bad: worse},
		{Name: "35 % attempts 2.5x/3w", Tasks: 60, Slow: .35, SlowBy: 2.5},
		{Name: "3 % attempts 40x/2w", Tasks: 40, Slow: .03, SlowBy: 40},
		{Name: "6 % 4x and 4 % hang, timeout 700 s/5w", Tasks: 100, Slow: .06, SlowBy: 4, Hang: .04, Timeout: 700},
		{Name: "15 % hang, timeout 2000 s/1w", Tasks: 20, Hang: .15, Timeout: 2000},
		{Name: "lag 25 s, 20 % 4x/4w", Tasks: 80, Lag: 25, Slow: .2, SlowBy: 4},
		{Name: "lognormal 1 sizes, known, three bad 6x/4w", Tasks: 80, Sizes: LogNormal, Known: true, Bad: []Bad{{Machines: 3, By: 6}}},
		{Name: "Pareto 1.3 sizes, unknown, 10 % 5x/2w", Tasks: 40, Sizes: Pareto, Slow: .1, SlowBy: 5},
		{Name: "two kinds of sizes, known, 6 % hang, timeout 900 s/3w", Tasks: 60, Sizes: TwoKinds, Known: true, Hang: .06, Timeout: 900},
		{Name: "a fifth far 6x from half, known, 5 % 6x/4w", Tasks: 80, Far: .2, FarBy: 6, Paths: true, Slow: .05, SlowBy: 6},
		{Name: "30 % interference, two bad 5x, machines away in turns/4w", Tasks: 80, Interference: .3, Bad: []Bad{{Machines: 2, By: 5}},
			Deaths: rolling},
		{Name: "60 phases of 1 to 8 tasks, 8 % 12x, of 10 machines", Tasks: 8, Phases: 60, Machines: 10, Slow: .08, SlowBy: 12},
	}
}
