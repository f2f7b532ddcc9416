package main

import "github.com/straggler-go/straggler/examples/kit"

// comparison is what the tables show.
var comparison = kit.Comparison[*outcome]{
	Seconds: func(o *outcome) float64 { return o.Seconds },
	Right:   func(o *outcome) bool { return len(o.Wrong) == 0 },
	Measures: []kit.Measure[*outcome]{
		kit.Count("copies", func(o *outcome) int { return o.Copies }),
		kit.Count("restarts", func(o *outcome) int { return o.Restarts }),
		kit.Count("clones", func(o *outcome) int { return o.Clones }),
		kit.Count("lost", func(o *outcome) int { return o.Lost }),
		{Head: "wasted", Format: "%.1f s", Of: func(o *outcome) float64 { return o.Wasted }},
		kit.Count("events", func(o *outcome) int { return int(o.Events) }),
	},
}

// heads explains the tables.
const heads = `
time      from the start of the workflow to its answer; of none, of naive: relative to that policy
copies    launched beside a running attempt; a restart kills that first, a clone is launched together with it
lost      attempts that failed, or were lost with their host or the server
wasted    time of slots, up to the answer, on attempts whose result did not count
events    in the workflow's history, which a replay went through again in every run without a difference
correct   in how many runs every word was counted as a direct count does
`
