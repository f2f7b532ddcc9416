package main

import "github.com/straggler-go/straggler/examples/kit"

// comparison describes the columns of the tables.
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

// heads explains the columns of the tables.
const heads = `
time      from the start of the workflow to its answer; of none, of naive: divided by the time of that policy
copies    attempts that were started beside a running attempt of the same task
restarts  attempts that were killed so that their task starts anew
clones    attempts that were started together with the first attempt of their task
lost      attempts that failed, or were lost with their host or the server
wasted    slot time of attempts that did not end their task, until the answer
events    number of events in the history of the workflow; in every run, a replay of the history gave the same result
correct   number of runs in which every word count was right
`
