package preempt

import (
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// gathering is the state of a search for tasks that could be killed for one claim. The tasks are in
// planner.chosen.
type gathering struct {
	claim     int
	size, sum int64 // units that the claim needs, and units found so far
	scope     int32 // the ancestor of the claimant below which tasks are sought now
	cross     bool  // true if a pool may fall below its share
}

// gather chooses tasks of the list for the claim with index c. The argument have is a number of free units. gather
// ends when the tasks and these free units make up size units. First it seeks tasks below the parent of the claimant,
// then below the parent above that, and so on. At the end it releases chosen tasks that are not needed. It returns
// the number of units and the last such ancestor, which is called scope. If cross is true, a pool may fall below its
// share.
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

// add adds one task to the chosen tasks if permits and spares allow it.
func (l *planner) add(t *gathering, task, depth int32, level served) {
	claimant := int32(l.p.claims[t.claim].Pool)
	if l.outcomes[task] != Spared || !l.permits(task, claimant, t.scope, depth, level, t.cross) {
		return
	}
	x, units := takenTask{task, t.scope}, l.tasks[task].slots()
	l.take(task, t.scope, units)
	if t.size == 1 { // a single task is enough, so the units beyond the claim are known now
		if ok, _ := l.spares(t.claim, t.scope, units-l.most(t.claim, x), t.cross); !ok {
			l.take(task, t.scope, -units)
			return
		}
	}
	l.chosen = append(l.chosen, x)
	t.sum = exact.Add(t.sum, units)
}

// prune releases each chosen task that is not needed, because the other chosen tasks and the free units are at least
// t.size units.
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

// release adds the units of all chosen tasks back to the excess of their pools, and empties the list of chosen
// tasks.
func (l *planner) release() {
	for _, x := range l.chosen {
		l.take(x.task, x.scope, -l.tasks[x.task].slots())
	}
	l.chosen = l.chosen[:0]
}
