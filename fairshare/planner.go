package fairshare

import (
	"math"
	"slices"
	"time"
)

// Plan chooses victims for the claims that are due now, from the usage last observed. Free is the number of units that
// are free and fit for starving pools. They are used first, and so are those of tasks that are dying in pools above their
// share, in the order of the claims.
//
// Victims are taken in [Preemption.Order] from pools with more than their share, for a claimant from the nearest common
// ancestor outwards. No pool is taken below its share, at any level, by a kill for a pool outside it, and none above its
// share by kills outside it: a pool that is short while its parent has its share takes from its siblings only. A pool that
// loses a task here has no claim once the plan is carried out: what it is due is at most its share, by which its excess
// was measured. A task that holds several units may free more than was claimed, where the pools above can spare it.
//
// Pools for which tasks are killed then cool down. The plan is a proposal: if the host does not carry it out, the claims
// come back after that. While it does, it should list the victims as dying.
//
// Cost: O(n + t·log t + t·depth²) for t tasks and n pools if there are claims, O(n) if not, and O(c·depth) more for each
// size of task that is more than c claims need and the pools above can spare; no allocation in steady state.
func (s *Starvation) Plan(now time.Time, tasks []Task, free int64) Plan {
	claims := s.Claims(now)
	if len(claims) == 0 {
		return Plan{}
	}
	p := &s.plan
	p.start(s, tasks, free)
	for depth := p.deepest - 1; depth >= 0 && p.open(s, depth); depth-- {
		for _, task := range p.candidates {
			if p.fates[task] == Spared {
				p.try(s, int(task), &tasks[task], depth)
			}
		}
	}
	p.explain(s, tasks)
	for _, v := range p.victims {
		w := &s.watch[s.at[v.For]]
		w.cooling, w.cool = s.config.Cooldown > 0, now.Add(s.config.Cooldown)
	}
	return Plan{Claims: claims, Victims: p.victims, Fates: p.fates}
}

// planner is the working space of a plan.
type planner struct {
	depth      []int32 // by position: 1 at the top level
	excess     []int64 // by position: usage that is left above the share
	room       []int64 // by position: what may be granted to pools under it before it has more than its share
	first      []int32 // by position of a scope, the top level last: the first claim under it, or -1
	tooLarge   []int64 // by position of a scope, the top level last: units of the smallest task of no use there, or 0
	next       []int32 // by claim: the next claim under the same scope, or -1
	scope      []int32 // by claim: the ancestor among whose pools victims are looked for now
	deepest    int32   // depth of the deepest claimant
	candidates []int32 // tasks, in the order in which they are tried
	crowd      []int64 // by task: units of candidates on its machine, for ByMachine
	victims    []Victim
	fates      []Fate
}

func newPlanner(f *forest) planner {
	n := len(f.nodes)
	p := planner{depth: make([]int32, n), excess: make([]int64, n), room: make([]int64, n), first: make([]int32, n+1), tooLarge: make([]int64, n+1)}
	for i := range f.nodes {
		p.depth[i] = 1
		if parent := f.nodes[i].parent; parent >= 0 {
			p.depth[i] = p.depth[parent] + 1
		}
	}
	return p
}

// start sets the excesses, spends the free units and collects the candidates.
func (p *planner) start(s *Starvation, tasks []Task, free int64) {
	p.victims, p.candidates = p.victims[:0], p.candidates[:0]
	for i := range s.watch {
		p.excess[i] = s.watch[i].usage - s.watch[i].share
	}
	p.fates = zeroed(p.fates, len(tasks))
	free = max(0, free)
	for i := range tasks {
		if p.fates[i] = s.candidacy(&tasks[i]); p.fates[i] == Doomed {
			free = addSaturating(free, p.bury(s, &tasks[i]))
		}
	}
	for i, excess := range p.excess {
		p.room[i] = -max(excess, -math.MaxInt64)
	}
	p.deepest = 0
	p.scope, p.next = p.scope[:0], p.next[:0]
	for c := range s.claims {
		at := s.at[s.claims[c].Pool]
		p.scope, p.next = append(p.scope, at), append(p.next, -1)
		p.deepest = max(p.deepest, p.depth[at])
		granted := min(free, s.claims[c].Deficit)
		p.grant(s, c, -1, granted)
		free -= granted
	}
	for i := range p.first {
		p.first[i], p.tooLarge[i] = -1, 0
	}
	for i := range tasks {
		if p.fates[i] == Spared && p.excess[s.at[tasks[i].Pool]] >= tasks[i].slots() {
			p.candidates = append(p.candidates, int32(i))
		}
	}
	p.sort(s, tasks)
}

// bury counts a dying task as gone and returns what will be free for others: nothing if its own pool is due it.
func (p *planner) bury(s *Starvation, t *Task) (units int64) {
	at := s.at[t.Pool]
	if p.excess[at] >= t.slots() {
		units = t.slots()
	}
	for ; at >= 0; at = s.nodes[at].parent {
		p.excess[at] = subSaturating(p.excess[at], t.slots())
	}
	return units
}

// open moves the claims that are not met yet out to their ancestors at the given depth, and lists them there in their
// order. It reports whether any are left.
func (p *planner) open(s *Starvation, depth int32) (unmet bool) {
	for c := len(s.claims) - 1; c >= 0; c-- {
		if s.claims[c].met() {
			continue
		}
		unmet = true
		if at := p.scope[c]; p.depth[at] > depth {
			scope := s.nodes[at].parent
			p.scope[c], p.next[c] = scope, p.first[p.slot(scope)]
			p.first[p.slot(scope)] = int32(c)
		}
	}
	return unmet
}

// slot is where the claims under a scope are listed.
func (p *planner) slot(scope int32) int {
	if scope < 0 {
		return len(p.first) - 1
	}
	return int(scope)
}

// met reports whether enough was found for the claim.
func (c *Claim) met() bool { return c.Granted >= c.Deficit }

// need returns what the claim may still get from outside its pools under the scope.
func (p *planner) need(s *Starvation, claim int, scope int32) int64 {
	c := &s.claims[claim]
	need := c.Deficit - c.Granted
	for at := s.at[c.Pool]; at != scope; at = s.nodes[at].parent {
		need = min(need, p.room[at])
	}
	return need
}

// grant gives a claim units from outside its pools under the scope.
func (p *planner) grant(s *Starvation, claim int, scope int32, units int64) {
	c := &s.claims[claim]
	c.Granted += units
	for at := s.at[c.Pool]; at != scope; at = s.nodes[at].parent {
		p.room[at] = subSaturating(p.room[at], units)
	}
}

// try kills a candidate for the first claim under its ancestor at the given depth that needs it, if no pool between the
// two would fall below its share. What the task frees beyond the need counts as lost to the pools above as well.
func (p *planner) try(s *Starvation, task int, t *Task, depth int32) {
	scope := s.at[t.Pool]
	for ; scope >= 0 && p.depth[scope] > depth; scope = s.nodes[scope].parent {
		if p.excess[scope] < t.slots() {
			return
		}
	}
	// What is needed and what can be spared only shrink, so where one task was of no use a larger one is none either.
	limit := &p.tooLarge[p.slot(scope)]
	if *limit > 0 && t.slots() >= *limit {
		return
	}
	spare := int64(math.MaxInt64) // what the pools above can lose
	for at := scope; at >= 0; at = s.nodes[at].parent {
		spare = min(spare, max(0, p.excess[at]))
	}
	for link := &p.first[p.slot(scope)]; *link >= 0; {
		c := *link
		need := p.need(s, int(c), scope)
		if need <= 0 { // for good: no grant is taken back
			*link = p.next[c]
			continue
		}
		if beyond := max(0, t.slots()-need); beyond <= spare {
			p.take(s, t, scope, beyond)
			p.grant(s, int(c), scope, t.slots()-beyond)
			p.fates[task] = Killed
			p.victims = append(p.victims, Victim{Task: task, For: s.claims[c].Pool})
			return
		}
		link = &p.next[c]
	}
	*limit = t.slots()
}

// take counts a task as gone up to the scope, and what is beyond the claim above it too.
func (p *planner) take(s *Starvation, t *Task, scope int32, beyond int64) {
	at := s.at[t.Pool]
	for ; at != scope; at = s.nodes[at].parent {
		p.excess[at] -= t.slots()
	}
	for ; at >= 0; at = s.nodes[at].parent {
		p.excess[at] -= beyond
	}
}

// explain says of the tasks that were not needed whether they could have been taken: if a claim is unmet, by pools outside
// of all that they stand under, and if not, by any.
func (p *planner) explain(s *Starvation, tasks []Task) {
	unmet := slices.ContainsFunc(s.claims, func(c Claim) bool { return !c.met() })
	for i := range tasks {
		if p.fates[i] != Spared {
			continue
		}
		at := s.at[tasks[i].Pool]
		for unmet && s.nodes[at].parent >= 0 && p.excess[at] >= tasks[i].slots() {
			at = s.nodes[at].parent
		}
		if p.excess[at] < tasks[i].slots() {
			p.fates[i] = AtShare
		}
	}
}

// zeroed returns a slice of n zeros in the place of s, if that is large enough.
func zeroed[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
