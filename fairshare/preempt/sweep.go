package preempt

import (
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// open moves the claims for single units that are not met yet out to their ancestors at the given depth, and lists
// them there in their order. It reports whether any are left.
func (l *planner) open(depth int32) (unmet bool) {
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

// slot is where the claims under a scope are listed.
func (l *planner) slot(scope int32) int {
	if scope < 0 {
		return len(l.first) - 1
	}
	return int(scope)
}

// met reports whether enough was found for the claim.
func (c *Claim) met() bool { return c.Granted >= c.Deficit }

// need returns what the claim may still get from outside its pools under the scope.
func (l *planner) need(claim int, scope int32) int64 {
	c := &l.p.claims[claim]
	need := c.Deficit - c.Granted
	for i := int32(c.Pool); i != scope; i = l.p.parent[i] {
		need = min(need, l.room[i])
	}
	return need
}

// grant gives a claim units from outside its pools under the scope.
func (l *planner) grant(claim int, scope int32, units int64) {
	c := &l.p.claims[claim]
	c.Granted = exact.Add(c.Granted, units)
	for i := int32(c.Pool); i != scope; i = l.p.parent[i] {
		l.room[i] = exact.Sub(l.room[i], units)
	}
}

// try kills a candidate for the first claim under its ancestor at the given depth that needs it, if no pool between
// the two would fall below its share. What the task frees beyond the need counts as lost to the pools above as well.
func (l *planner) try(task int32, depth int32) {
	t := &l.tasks[task]
	scope := int32(t.Pool)
	for ; scope >= 0 && l.p.depth[scope] > depth; scope = l.p.parent[scope] {
		if l.excess[scope] < t.slots() {
			return
		}
	}
	// What is needed and what can be spared only shrink, so where one task was of no use a larger one is none either.
	limit := &l.tooLarge[l.slot(scope)]
	if *limit > 0 && t.slots() >= *limit {
		return
	}
	spare := int64(math.MaxInt64) // what the pools above can lose
	for i := scope; i >= 0; i = l.p.parent[i] {
		spare = min(spare, max(0, l.excess[i]))
	}
	for link := &l.first[l.slot(scope)]; *link >= 0; {
		c := int(*link)
		need := l.need(c, scope)
		if need <= 0 { // for good: no grant is taken back
			*link = l.next[c]
			continue
		}
		if beyond := max(0, t.slots()-need); beyond <= spare {
			l.take(task, scope, t.slots())
			l.take(-1, scope, beyond)
			l.grant(c, scope, t.slots()-beyond)
			l.kill(task, c, AboveShare)
			l.pot.add(t.Machine, beyond)
			return
		}
		link = &l.next[c]
	}
	*limit = t.slots()
}

// take counts units as gone: those of a task in its pool and above up to the scope, and without one from the scope up.
func (l *planner) take(task, scope int32, units int64) {
	from, end := scope, int32(-1)
	if task >= 0 {
		from, end = int32(l.tasks[task].Pool), scope
	}
	for i := from; i != end; i = l.p.parent[i] {
		l.excess[i] -= units
	}
}

func (l *planner) kill(task int32, claim int, why Reason) {
	l.outcomes[task] = Killed
	l.victims = append(l.victims, Victim{Task: int(task), For: l.p.claims[claim].Pool, Reason: why})
}

// explain says of the tasks that were not needed whether they could have been taken: if a claim is unmet, by pools
// outside of all that they stand under, and if not, by any.
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
