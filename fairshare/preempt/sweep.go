package preempt

import (
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// moveClaimsUp looks at the claims that still lack units and whose pools can use single units. Each scope, which is
// an ancestor of pools, has a list of claims. moveClaimsUp moves each such claim to another list: the list of the
// ancestor of its pool at the given depth. The claims of a list stay in order. The result is true if there is such a
// claim.
func (l *planner) moveClaimsUp(depth int32) (unmet bool) {
	for c := len(l.p.claims) - 1; c >= 0; c-- {
		claim := &l.p.claims[c]
		if claim.met() || !l.p.watch[claim.Pool].waiting.plain() {
			continue
		}
		unmet = true
		if at := l.scope[c]; l.p.depth[at] > depth {
			scope := l.p.parent[at]
			l.scope[c], l.next[c] = scope, l.first[l.slot(scope)]
			l.first[l.slot(scope)] = int32(c)
		}
	}
	return unmet
}

// slot returns the index of a scope in the slices first and tooLarge. A scope is the index of a pool, or -1 for
// the top level, which is the last element of the slices.
func (l *planner) slot(scope int32) int {
	if scope < 0 {
		return len(l.first) - 1
	}
	return int(scope)
}

// met reports whether the claim was granted all units that its pool lacks.
func (c *Claim) met() bool { return c.Granted >= c.Deficit }

// need returns how many units the claim may still get from tasks below scope. The result is limited so that the
// claimant, and each pool between the claimant and scope, gets at most its share.
func (l *planner) need(claim int, scope int32) int64 {
	c := &l.p.claims[claim]
	need := c.Deficit - c.Granted
	for i := int32(c.Pool); i != scope; i = l.p.parent[i] {
		need = min(need, l.room[i])
	}
	return need
}

// grant grants units to the claim. The usage of the claimant rises by these units, and so does the usage of each pool
// between the claimant and scope. So grant subtracts the units from the room of each of these pools.
func (l *planner) grant(claim int, scope int32, units int64) {
	c := &l.p.claims[claim]
	c.Granted = exact.Add(c.Granted, units)
	for i := int32(c.Pool); i != scope; i = l.p.parent[i] {
		l.room[i] = exact.Sub(l.room[i], units)
	}
}

// tryTask kills a task for one claim if possible. scope is the ancestor of the task's pool at the given depth.
// tryTask chooses the first claim in the list of scope that suits the task. Each pool between the task and scope
// must keep its share. If the task has more units than the claim needs, scope and the pools above it must keep
// their shares, too.
func (l *planner) tryTask(task int32, depth int32) {
	t := &l.tasks[task]
	scope := int32(t.Pool)
	for ; scope >= 0 && l.p.depth[scope] > depth; scope = l.p.parent[scope] {
		if l.excess[scope] < t.slots() {
			return
		}
	}
	// During a plan, claims never need more units than before, and pools can never lose more units than before. So
	// if a task suits no claim, a task of more units suits no claim either.
	limit := &l.tooLarge[l.slot(scope)]
	if *limit > 0 && t.slots() >= *limit {
		return
	}
	spare := int64(math.MaxInt64) // units that scope and the pools above it can lose without falling below their shares
	for i := scope; i >= 0; i = l.p.parent[i] {
		spare = min(spare, max(0, l.excess[i]))
	}
	for link := &l.first[l.slot(scope)]; *link >= 0; {
		c := int(*link)
		need := l.need(c, scope)
		if need <= 0 { // the claim will never need units from this scope again, because grants are final
			*link = l.next[c]
			continue
		}
		if beyond := max(0, t.slots()-need); beyond <= spare {
			l.take(task, scope, t.slots())
			l.take(-1, scope, beyond)
			l.grant(c, scope, t.slots()-beyond)
			l.kill(task, c, AboveShare)
			l.free.add(t.Machine, beyond)
			return
		}
		link = &l.next[c]
	}
	*limit = t.slots()
}

// take subtracts units from the excess of some pools. If task is -1, these are scope and all pools above it.
// Otherwise they are the pool of the task and the pools above it, up to scope, which is not included.
func (l *planner) take(task, scope int32, units int64) {
	from, end := scope, int32(-1)
	if task >= 0 {
		from, end = int32(l.tasks[task].Pool), scope
	}
	for i := from; i != end; i = l.p.parent[i] {
		l.excess[i] -= units
	}
}

// kill adds the task to the tasks to kill, for the claim with the given index and for the reason why.
func (l *planner) kill(task int32, claim int, why Reason) {
	l.outcomes[task] = Killed
	l.victims = append(l.victims, Victim{Task: int(task), For: l.p.claims[claim].Pool, Reason: why})
}

// explain sets the outcome of tasks that were not killed. It changes Spared to AtShare for a task that shares
// protected. If all claims are met, this is a task without which its pool would be below its share. If a claim
// still lacks units, this is a task without which its pool, or any pool above it, would be below its share.
func (l *planner) explain() {
	unmet := slices.ContainsFunc(l.p.claims, func(c Claim) bool { return !c.met() })
	for i := range l.tasks {
		if l.outcomes[i] != Spared {
			continue
		}
		t := &l.tasks[i]
		at := int32(t.Pool)
		for unmet && l.p.parent[at] >= 0 && l.excess[at] >= t.slots() {
			at = l.p.parent[at]
		}
		if l.excess[at] < t.slots() {
			l.outcomes[i] = AtShare
		}
	}
}
