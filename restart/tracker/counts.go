package tracker

import "github.com/straggler-go/straggler/restart"

// reasons is how many reasons there are.
const reasons = restart.FurthestOn + 1

// counts is how often each answer was given, by action and reason.
type counts [restart.Start + 1][reasons]int

func (c *counts) add(d *restart.Decision) {
	if int(d.Action) < len(c) && int(d.Reason) < len(c[0]) {
		c[d.Action][d.Reason]++
	}
}
