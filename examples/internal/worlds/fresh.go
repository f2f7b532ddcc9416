package worlds

// Fresh lists worlds that were invented before the default policy was written anew, and that no policy had played by then:
// no constant may be chosen by them.
func Fresh() []World {
	ramp := []Bad{{Machines: 1, By: 2}, {Machines: 1, By: 3}, {Machines: 1, By: 5}, {Machines: 1, By: 8}, {Machines: 1, By: 13}}
	relay := []Bad{
		{Machines: 2, By: 6, Till: 120}, {Machines: 2, By: 6, From: 120, Till: 240}, {Machines: 2, By: 6, From: 240, Till: 360},
	}
	late := []Bad{{Machines: 4, By: 9, From: 260}}
	blackout := []Death{{At: 70, Back: 200}, {At: 70, Back: 200}, {At: 70, Back: 200}, {At: 70, Back: 200}, {At: 70, Back: 200}}
	return []World{
		{Name: "four machines, one bad 5x/6w", Tasks: 24, Machines: 4, Bad: []Bad{{Machines: 1, By: 5}}},
		{Name: "three machines, 12 % 6x/10w", Tasks: 30, Machines: 3, Slow: .12, SlowBy: 6},
		{Name: "80 machines, 6 % 10x/1w", Tasks: 80, Machines: 80, Slow: .06, SlowBy: 10},
		{Name: "80 machines, nine bad 3x/1.25w", Tasks: 100, Machines: 80, Bad: []Bad{{Machines: 9, By: 3}}},
		{Name: "60 machines for 12 tasks, 30 % 4x/0.2w", Tasks: 12, Machines: 60, Slow: .3, SlowBy: 4},
		{Name: "five bad, each worse than the last/4w", Tasks: 80, Bad: ramp},
		{Name: "two bad 6x at a time, in turns/4w", Tasks: 80, Bad: relay},
		{Name: "4 turn bad 9x in the last wave/3w", Tasks: 60, Bad: late},
		{Name: "half of the attempts 1.6x/5w", Tasks: 100, Slow: .5, SlowBy: 1.6},
		{Name: "1 % attempts 60x/7w", Tasks: 140, Slow: .01, SlowBy: 60},
		{Name: "10 % 5x and 3 % hang, timeout 900 s/2w", Tasks: 40, Slow: .1, SlowBy: 5, Hang: .03, Timeout: 900},
		{Name: "20 % hang, timeout 300 s/4w", Tasks: 80, Hang: .2, Timeout: 300},
		{Name: "lag 90 s, three bad 7x/2.5w", Tasks: 50, Lag: 90, Bad: []Bad{{Machines: 3, By: 7}}},
		{Name: "lag 40 s, two kinds of sizes, unknown, 4 % 12x/3w", Tasks: 60, Lag: 40, Sizes: TwoKinds, Slow: .04, SlowBy: 12},
		{Name: "lognormal 1 sizes, unknown, two bad 4x 12x/6w", Tasks: 120, Sizes: LogNormal, Bad: twoBad},
		{Name: "Pareto 1.3 sizes, known, 6 % hang, timeout 1500 s/4w", Tasks: 80, Sizes: Pareto, Known: true, Hang: .06},
		{Name: "half far 2.5x from half, unknown, 6 GPU 3x faster/5w", Tasks: 100, Far: .5, FarBy: 2.5, Fast: 6},
		{Name: "50 % interference, 12 % 7x/1.5w", Tasks: 30, Interference: .5, Slow: .12, SlowBy: 7},
		{Name: "5 machines away from 70 to 200 s, 8 % 5x, checkpoints/3w", Tasks: 60, Deaths: blackout, Slow: .08, SlowBy: 5,
			Checkpoint: .1},
		{Name: "120 phases of 1 to 3 tasks, 5 % 10x, of 6 machines", Tasks: 3, Phases: 120, Machines: 6, Slow: .05, SlowBy: 10},
	}
}
