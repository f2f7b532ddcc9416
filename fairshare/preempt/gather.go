package preempt

import (
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// trial is a set of tasks, chosen in the planner, that is being gathered for a claim.
type trial struct {
	claim     int
	size, sum int64 // units that are wanted, and those there are
	scope     int32 // the outermost yet
	cross     bool
}

// gather takes tasks of the list, from the nearest common ancestor outwards, until they make up the size with what
// there is, and lets go of those that turn out not to be needed. It returns the sum and the outermost scope.
func (l *planner) gather(c int, list []int32, size, have int64, cross bool) (sum int64, scope int32) {
	claimant := int32(l.p.claims[c].Pool)
	t := trial{claim: c, size: size, sum: have, scope: claimant, cross: cross}
	for depth := l.p.depth[claimant] - 1; depth >= 0 && t.sum < size; depth-- {
		t.scope = l.p.ancestor(claimant, depth)
		level, ok := l.levelAfter(claimant, t.scope, size)
		if !ok || !cross && level.usage > level.share {
			break
		}
		for i := 0; i < len(list) && t.sum < size; i++ {
			if l.steps--; l.steps < 0 {
				break
			}
			l.add(&t, list[i], depth, level)
		}
	}
	l.prune(&t)
	return t.sum, t.scope
}

// add takes one task for now, if its pools can do without it.
func (l *planner) add(t *trial, task, depth int32, level served) {
	claimant := int32(l.p.claims[t.claim].Pool)
	if l.outcomes[task] != Spared || !l.permits(task, claimant, t.scope, depth, level, t.cross) {
		return
	}
	x, units := piece{task, t.scope}, l.tasks[task].slots()
	l.take(task, t.scope, units)
	if t.size == 1 { // it is the only one, and what it frees beyond the claim is known
		if ok, _ := l.spares(t.claim, t.scope, units-l.most(t.claim, x), t.cross); !ok {
			l.take(task, t.scope, -units)
			return
		}
	}
	l.chosen = append(l.chosen, x)
	t.sum = exact.Add(t.sum, units)
}

// prune lets go of tasks without which the rest is enough.
func (l *planner) prune(t *trial) {
	if t.sum < t.size {
		return
	}
	l.chosen = slices.DeleteFunc(l.chosen, func(x piece) bool {
		units := l.tasks[x.task].slots()
		if t.sum-units < t.size {
			return false
		}
		t.sum -= units
		l.take(x.task, x.scope, -units)
		return true
	})
}

// release lets go of all that was taken for now.
func (l *planner) release() {
	for _, x := range l.chosen {
		l.take(x.task, x.scope, -l.tasks[x.task].slots())
	}
	l.chosen = l.chosen[:0]
}
