package preempt

import "github.com/straggler-go/straggler/internal/exact"

// levelAfter returns the highest service level that the claimant and the pools between it and the scope will have
// after a grant of units. ok is false if any of these pools has its share already.
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

// permits reports whether the task may be killed for the claimant. The scope, at the given depth, must be the nearest
// common ancestor of the task's pool and the claimant. level is the claimant's service level after the grant. Each
// pool between the task and the scope must have more than its share now, and must meet a condition afterwards:
//
//   - Either the pool keeps its share, and the claimant gets no more than its own share.
//   - Or the pool is at least as well served as the claimant. Only if cross is true may the pool fall below its
//     share.
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

// spares reports whether the scope and the pools above it can lose units. Each pool must keep its share. If cross is
// true, it may instead stay better served than the claimant is now. crossed is true if a pool does not keep its
// share.
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

// below returns the largest number of units by which a taken task has left any of its pools below the share.
func (l *planner) below(x takenTask) (missing int64) {
	for i := int32(l.tasks[x.task].Pool); i != x.scope; i = l.p.parent[i] {
		missing = max(missing, -l.excess[i])
	}
	return missing
}

// most returns how many units of a taken task the claim may be granted. With this limit, no pool that the task has
// left below its share is served worse than the claimant.
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
