package preempt

import "github.com/straggler-go/straggler/internal/exact"

// levelAfter looks at the pool that claims units, and at the pools above it that are below scope. It returns the
// largest ratio usage/share that such a pool will have if the claimant gets units more. ok is false if any such pool
// has its share already.
func (l *planner) levelAfter(claimant, scope int32, units int64) (best served, ok bool) {
	for i := claimant; i != scope; i = l.p.parent[i] {
		share := l.p.watch[i].share
		if l.room[i] <= 0 || share == 0 {
			return served{}, false
		}
		after := served{exact.Add(max(0, share-l.room[i]), units), share}
		if best.share == 0 || best.less(after) {
			best = after
		}
	}
	return best, best.share > 0
}

// permits reports whether the task may be killed for the claimant, which is a pool. It returns false if the nearest
// common ancestor of the two pools is not the pool scope at the given depth. level is the largest ratio usage/share
// that the claimant, or a pool between the claimant and scope, will have after the grant. permits looks at each pool
// from the pool of the task up to scope, which is not included. Each such pool must use more than its share now.
// After the kill, each such pool must satisfy the first or the second condition:
//
//   - The pool still has its share, and level is at most 1.
//   - The ratio usage/share of the pool is at least level. If this ratio is below 1, cross must be true.
func (l *planner) permits(task, claimant, scope, depth int32, level served, cross bool) bool {
	t := &l.tasks[task]
	below := l.p.ancestor(int32(t.Pool), depth+1)
	if l.p.depth[below] <= depth || l.p.parent[below] != scope || below == l.p.ancestor(claimant, depth+1) {
		return false
	}
	for i := int32(t.Pool); i != scope; i = l.p.parent[i] {
		after := l.excess[i] - t.slots()
		switch {
		case l.excess[i] <= 0 || after < 0 && !cross:
			return false
		case after >= 0 && level.usage <= level.share:
			continue
		}
		share := l.p.watch[i].share
		if left := share + after; left < 0 || (served{left, share}).less(level) {
			return false
		}
	}
	return true
}

// spares reports whether the pool scope and the pools above it can lose units. ok is true if each pool keeps its
// share. If cross is true, a pool may fall below its share, but its ratio usage/share must stay larger than the
// present ratio of the pool of the claim with index c. crossed is true if a pool falls below its share.
func (l *planner) spares(c int, scope int32, units int64, cross bool) (ok, crossed bool) {
	claimant := l.p.claims[c].Pool
	share := l.p.watch[claimant].share
	now := served{max(0, share-l.room[claimant]), share}
	for i := scope; i >= 0 && units > 0; i = l.p.parent[i] {
		after := l.excess[i] - units
		if after >= 0 {
			continue
		}
		share := l.p.watch[i].share
		if left := share + after; !cross || left < 0 || !now.less(served{left, share}) {
			return false, false
		}
		crossed = true
	}
	return true, crossed
}

// below returns how many units the pools of a taken task lack to reach their shares if the task is killed. If several
// pools lack units, it returns the largest number. The pools are the pool of the task and the pools above it, up to
// x.scope, which is not included.
func (l *planner) below(x takenTask) (missing int64) {
	for i := int32(l.tasks[x.task].Pool); i != x.scope; i = l.p.parent[i] {
		missing = max(missing, -l.excess[i])
	}
	return missing
}

// most returns how many units of a taken task may be granted to the claim with index c. The task may have left
// pools below their share. With the returned number of units, each of these pools
// still has at least the claimant's ratio of usage to share.
func (l *planner) most(c int, x takenTask) int64 {
	units := min(l.tasks[x.task].slots(), l.need(c, x.scope))
	for i := int32(l.tasks[x.task].Pool); i != x.scope; i = l.p.parent[i] {
		if l.excess[i] >= 0 {
			continue
		}
		share := l.p.watch[i].share
		for y := int32(l.p.claims[c].Pool); y != x.scope; y = l.p.parent[y] {
			full := l.p.watch[y].share
			most, _ := exact.MulDiv(full, share+l.excess[i], share)
			units = min(units, most-max(0, full-l.room[y]))
		}
	}
	return units
}
