package tracker

import (
	"iter"

	"github.com/straggler-go/straggler/restart"
)

// reasons is how many reasons there are.
const reasons = restart.FurthestOn + 1

// counts is how often each answer was given, by action and reason.
type counts [restart.Start + 1][reasons]int

// Decisions ranges over how often each action was answered for each reason, in the order of their values, without those
// that never were: the counters that a host exports. Each answer counts once: a Sweep gives one for each task that it
// decided about, Next one for the slot. O(1).
func (t *Tracker) Decisions() iter.Seq2[restart.Decision, int] {
	return func(yield func(restart.Decision, int) bool) {
		for action := range t.judge.counts {
			for reason, n := range t.judge.counts[action] {
				d := restart.Decision{Action: restart.Action(action), Reason: restart.Reason(reason)}
				if n > 0 && !yield(d, n) {
					return
				}
			}
		}
	}
}

func (c *counts) add(d *restart.Decision) {
	if int(d.Action) < len(c) && int(d.Reason) < len(c[0]) {
		c[d.Action][d.Reason]++
	}
}
