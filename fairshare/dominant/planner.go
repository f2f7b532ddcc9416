package dominant

import (
	"cmp"
	"math"
	"slices"

	"github.com/straggler-go/straggler/fairshare/preempt"
	"github.com/straggler-go/straggler/internal/exact"
)

// planner is the working space of a plan.
type planner struct {
	p          *Preemptor
	tasks      []Task
	excess     []int64 // by position: dominant share above what is due
	claims     []bool  // by position: a claimant, or above one
	usage      []int64 // one row a position, without what is killed
	after      []int64 // scratch, by resource
	lacking    []int64 // by resource
	freed      []int64 // by resource: free and freed, less what is granted
	queues     []queue // by resource
	candidates []int32
	grants     []Grant
	victims    []preempt.Victim
	outcomes   []preempt.Outcome
}

// queue is the claims that lack a resource, in their order: the first of them and what it lacks still.
type queue struct {
	grant int
	left  int64
}

// start works out what is lacking and collects the candidates.
func (l *planner) start(claims []preempt.Claim, free []int64) {
	t := l.p.tree
	n, m := t.Len(), len(free)
	l.excess, l.claims = resized(l.excess, n), resized(l.claims, n)
	l.usage, l.after, l.queues = append(l.usage[:0], l.p.usage...), resized(l.after, m), resized(l.queues, m)
	l.lacking, l.freed = resized(l.lacking, m), resized(l.freed, m)
	l.outcomes, l.candidates = resized(l.outcomes, len(l.tasks)), l.candidates[:0]
	l.grants, l.victims = l.grants[:0], l.victims[:0]
	for i := n - 1; i >= 0; i-- {
		node := &t.nodes[i]
		if node.leaf() {
			l.excess[i] = l.p.parts[node.pool] - l.p.facts[node.pool].Slots
		}
		if node.parent >= 0 {
			l.excess[node.parent] += l.excess[i]
		}
	}
	for r := range free {
		l.freed[r] = max(0, free[r])
	}
	for i := range l.tasks {
		if l.outcomes[i] = l.candidacy(&l.tasks[i]); l.outcomes[i] == preempt.Dying {
			l.discount(&l.tasks[i])
		}
	}
	for i := range l.tasks {
		if l.outcomes[i] == preempt.Spared && l.excess[t.at[l.tasks[i].Pool]] > 0 {
			l.candidates = append(l.candidates, int32(i))
		}
	}
	l.sort()
	for _, c := range claims {
		l.claim(c)
	}
	for r := range l.lacking {
		l.queues[r].grant = -1
		l.advance(r, l.freed[r])
		l.lacking[r] -= min(l.lacking[r], l.freed[r])
	}
}

// candidacy is the outcome for a task before anyone's share is considered.
func (l *planner) candidacy(t *Task) preempt.Outcome {
	tree := l.p.tree
	switch {
	case t.Pool < 0 || t.Pool >= tree.Len() || !tree.nodes[tree.at[t.Pool]].leaf() || len(t.Need) != len(tree.capacity):
		return preempt.UnknownPool
	case t.Dying:
		return preempt.Dying
	case t.Protected || l.p.config.Pools[t.Pool].Protected:
		return preempt.Protected
	}
	return preempt.Spared
}

// discount counts a dying task as gone. What it frees is there for others unless its own pool is due it.
func (l *planner) discount(t *Task) {
	at := l.p.tree.at[t.Pool]
	over := l.excess[at] > 0
	l.take(at, l.loss(at, t.Need))
	for r, need := range t.Need {
		if over {
			l.freed[r] = exact.Add(l.freed[r], max(0, need))
		}
	}
}

// sort puts the candidates into the order in which they are tried.
func (l *planner) sort() {
	order := l.p.config.Order
	if order == nil {
		order = preempt.NewestFirst
	}
	slices.SortFunc(l.candidates, func(a, b int32) int {
		return cmp.Or(order(l.tasks[a].Task, l.tasks[b].Task), cmp.Compare(a, b))
	})
}

// claim counts what the tasks that a claimant misses need.
func (l *planner) claim(c preempt.Claim) {
	t := l.p.tree
	at := t.at[c.Pool]
	for i := at; i >= 0; i = t.nodes[i].parent {
		l.claims[i] = true
	}
	if !t.nodes[at].leaf() {
		return
	}
	g := Grant{Pool: c.Pool}
	need := t.row(l.p.needs, at)
	if r, _ := fullest(need, t.capacity, nil); r >= 0 && need[r] > 0 {
		tasks := float64(t.capacity[r]) / float64(need[r]) // that the cluster holds
		g.Tasks = int64(math.Round(float64(c.Deficit) / whole * tasks))
	}
	for r, n := range need {
		l.lacking[r] = exact.Add(l.lacking[r], exact.Mul(g.Tasks, n))
	}
	l.grants = append(l.grants, g)
}

// loss leaves in after what a pool has without a task, and returns by how much that lowers its dominant share.
func (l *planner) loss(at int32, need []int64) int64 {
	usage := l.p.tree.row(l.usage, at)
	for r, n := range need {
		l.after[r] = usage[r] - min(usage[r], max(0, n))
	}
	return l.p.part(usage, 1) - l.p.part(l.after, 1)
}

// take makes after what the pool has, and lowers what it and the pools above have beyond their shares.
func (l *planner) take(at int32, loss int64) {
	copy(l.p.tree.row(l.usage, at), l.after)
	for i := at; i >= 0; i = l.p.tree.nodes[i].parent {
		l.excess[i] -= loss
	}
}

// try kills a task if it holds something that is lacking, its pool keeps its dominant share, and so do the pools
// above it that have no claimant.
func (l *planner) try(task int) {
	t := &l.tasks[task]
	most := -1 // the resource for which it is taken
	for r, n := range t.Need {
		if n > 0 && l.lacking[r] > 0 && most < 0 {
			most = r
		}
	}
	at := l.p.tree.at[t.Pool]
	if most < 0 || l.excess[at] <= 0 {
		return
	}
	loss := l.loss(at, t.Need)
	for i := at; i >= 0; i = l.p.tree.nodes[i].parent {
		if l.excess[i] < loss && !(l.claims[i] && i != at) {
			l.outcomes[task] = preempt.AtShare
			return
		}
	}
	l.victims = append(l.victims, preempt.Victim{Task: task, For: l.grants[l.queues[most].grant].Pool})
	l.take(at, loss)
	l.outcomes[task] = preempt.Killed
	for r, n := range t.Need {
		n = max(0, n)
		l.advance(r, n)
		l.lacking[r] -= min(l.lacking[r], n)
		l.freed[r] = exact.Add(l.freed[r], n)
	}
}

// advance gives units of a resource to the claims that lack it, in their order.
func (l *planner) advance(r int, units int64) {
	q := &l.queues[r]
	for q.grant < len(l.grants) {
		if q.left > units {
			q.left -= units
			return
		}
		units, q.left = units-q.left, 0
		if q.grant++; q.grant < len(l.grants) {
			g := l.grants[q.grant]
			q.left = exact.Mul(g.Tasks, l.p.tree.row(l.p.needs, l.p.tree.at[g.Pool])[r])
		}
	}
}

// grant gives the claims whole tasks, in their order, of what is free and freed, and says so in the claims.
func (l *planner) grant(claims []preempt.Claim) {
	for k := range l.grants {
		g := &l.grants[k]
		need := l.p.tree.row(l.p.needs, l.p.tree.at[g.Pool])
		for r, n := range need {
			if n > 0 {
				g.Tasks = min(g.Tasks, l.freed[r]/n)
			}
		}
		for r, n := range need {
			l.freed[r] -= g.Tasks * n
		}
		for claims[0].Pool != g.Pool { // one of a pool with children, which is granted nothing by itself
			claims = claims[1:]
		}
		claims[0].Granted = l.p.part(need, g.Tasks)
	}
}

// spare lets a victim live if all grants can be met without it.
func (l *planner) spare(task int) {
	t := &l.tasks[task]
	for r, n := range t.Need {
		if n > l.freed[r] {
			return
		}
	}
	for r, n := range t.Need {
		l.freed[r] -= max(0, n)
	}
	l.outcomes[task] = preempt.Spared
}

// resized returns a slice of n zeros in the place of s, if that is large enough.
func resized[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
