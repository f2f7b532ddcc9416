package preempt

import (
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// moveClaimsUp moves each unmet plain claim to the list of its ancestor at the given depth. The claims of a list keep
// their order. moveClaimsUp reports whether a claim is unmet.
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

// slot returns the index of a scope in first and tooLarge.
func (l *planner) slot(scope int32) int {
	if scope < 0 {
		return len(l.first) - 1
	}
	return int(scope)
}

// met reports whether the claim is granted its whole deficit.
func (c *Claim) met() bool { return c.Granted >= c.Deficit }

// need returns how many units the claim may still get from outside the pools between the claimant and the scope.
func (l *planner) need(claim int, scope int32) int64 {
	c := &l.p.claims[claim]
	need := c.Deficit - c.Granted
	for i := int32(c.Pool); i != scope; i = l.p.parent[i] {
		need = min(need, l.room[i])
	}
	return need
}

// grant grants units to a claim. The units come from outside the pools between the claimant and the scope.
func (l *planner) grant(claim int, scope int32, units int64) {
	c := &l.p.claims[claim]
	c.Granted = exact.Add(c.Granted, units)
	for i := int32(c.Pool); i != scope; i = l.p.parent[i] {
		l.room[i] = exact.Sub(l.room[i], units)
	}
}

// tryTask kills a candidate for the first claim in the list of the candidate's ancestor at the given depth that needs
// units. No pool between the candidate and this ancestor may fall below its share. The ancestor and the pools above
// it must be able to spare the units beyond the need.
func (l *planner) tryTask(task int32, depth int32) {
	t := &l.tasks[task]
	scope := int32(t.Pool)
	for ; scope >= 0 && l.p.depth[scope] > depth; scope = l.p.parent[scope] {
		if l.excess[scope] < t.slots() {
			return
		}
	}
	// Needs and spare units only shrink during a plan. So if a task met no claim, a larger task meets none.
	limit := &l.tooLarge[l.slot(scope)]
	if *limit > 0 && t.slots() >= *limit {
		return
	}
	spare := int64(math.MaxInt64) // units that the scope and the pools above it can lose
	for i := scope; i >= 0; i = l.p.parent[i] {
		spare = min(spare, max(0, l.excess[i]))
	}
	for link := &l.first[l.slot(scope)]; *link >= 0; {
		c := int(*link)
		need := l.need(c, scope)
		if need <= 0 { // the claim never needs units of this scope again, because grants are final
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

// take subtracts units from the excess of pools. With a task these are the pools from the task up to the scope,
// without the scope. With task -1 they are the scope and all pools above it.
func (l *planner) take(task, scope int32, units int64) {
	from, end := scope, int32(-1)
	if task >= 0 {
		from, end = int32(l.tasks[task].Pool), scope
	}
	for i := from; i != end; i = l.p.parent[i] {
		l.excess[i] -= units
	}
}

// kill makes the task a victim for the claim.
func (l *planner) kill(task int32, claim int, why Reason) {
	l.outcomes[task] = Killed
	l.victims = append(l.victims, Victim{Task: int(task), For: l.p.claims[claim].Pool, Reason: why})
}

// explain changes the outcome of spared tasks to AtShare if they could not have been killed. If a claim is unmet, a
// task counts as spared only if every pool above it keeps its share without the task. If all claims are met, only the
// task's own pool counts.
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
