package preempt

import (
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// gathering is the state of a search for tasks for one claim. The tasks are in planner.chosen.
type gathering struct {
	claim     int
	size, sum int64 // units that the claim needs, and units found so far
	scope     int32 // the outermost scope so far
	cross     bool  // a pool may fall below its share
}

// gather takes tasks of the list, from the nearest common ancestor outwards, until they make up size units together
// with have free units. Then it releases the tasks that are not needed. It returns the number of units and the
// outermost scope.
func (l *planner) gather(c int, list []int32, size, have int64, cross bool) (sum int64, scope int32) {
	claimant := int32(l.p.claims[c].Pool)
	t := gathering{claim: c, size: size, sum: have, scope: claimant, cross: cross}
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

// add takes one task if permits allows it.
func (l *planner) add(t *gathering, task, depth int32, level served) {
	claimant := int32(l.p.claims[t.claim].Pool)
	if l.outcomes[task] != Spared || !l.permits(task, claimant, t.scope, depth, level, t.cross) {
		return
	}
	x, units := takenTask{task, t.scope}, l.tasks[task].slots()
	l.take(task, t.scope, units)
	if t.size == 1 { // no other task is taken, so the units beyond the claim are known now
		if ok, _ := l.spares(t.claim, t.scope, units-l.most(t.claim, x), t.cross); !ok {
			l.take(task, t.scope, -units)
			return
		}
	}
	l.chosen = append(l.chosen, x)
	t.sum = exact.Add(t.sum, units)
}

// prune releases each task without which the other tasks are enough.
func (l *planner) prune(t *gathering) {
	if t.sum < t.size {
		return
	}
	l.chosen = slices.DeleteFunc(l.chosen, func(x takenTask) bool {
		units := l.tasks[x.task].slots()
		if t.sum-units < t.size {
			return false
		}
		t.sum -= units
		l.take(x.task, x.scope, -units)
		return true
	})
}

// release adds all taken tasks back to the excess of their pools.
func (l *planner) release() {
	for _, x := range l.chosen {
		l.take(x.task, x.scope, -l.tasks[x.task].slots())
	}
	l.chosen = l.chosen[:0]
}
