package tracker

import (
	"cmp"
	"slices"

	"github.com/straggler-go/straggler/restart"
)

// reasons is how many reasons there are.
const reasons = restart.LossBound + 1

// counts is how often each answer was given, by action and reason: only those that ever were, in this order.
type counts []count

type count struct {
	action restart.Action
	reason restart.Reason
	n      int
}

func (c *counts) add(d *restart.Decision) {
	for i := range *c {
		if one := &(*c)[i]; one.action == d.Action && one.reason == d.Reason {
			one.n++
			return
		}
	}
	if d.Action <= restart.Start && d.Reason < reasons {
		*c = append(*c, count{d.Action, d.Reason, 1})
		slices.SortFunc(*c, func(a, b count) int {
			return cmp.Or(cmp.Compare(a.action, b.action), cmp.Compare(a.reason, b.reason))
		})
	}
}
