package dominant

import (
	"slices"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/internal/exact"
)

// Index answers whose task should run next, in O(depth), after O(m·log k) at each level with k siblings and m
// resources for each change of one pool. It starts from no running tasks and the demands of the pools. It is not safe
// for concurrent use; one per scheduler.
type Index struct {
	*layout
	entries []entry // by position
	usage   []int64 // one row a position, as in the tree
	least   []int64 // the minimum, as far as the pool and those under it want theirs
	want    []int64 // used and wanted together, up to the maximum
	needs   []int64 // of the next task
	total   []int64 // used by all, saturating
	// winners holds one knock-out tournament a group: that of nodes[first:end] is winners[2*first:2*end], with the final
	// at 1, the matches that feed match k at 2k and 2k+1, and the pools themselves from end-first on. Below the top level
	// each match has a row of sums over the pools that took part, which saturate: usage, least and want.
	winners []int32
	sums    []int64
}

// entry is the state of one pool.
type entry struct {
	standing
	running, demand int64 // tasks, of pools without children
	held            bool
}

// Index returns an index over the pools of the tree.
//
// Cost: O(n·m) time and memory.
func (t *Tree) Index() *Index {
	n, m := len(t.nodes), len(t.capacity)
	x := &Index{
		layout: &t.layout, entries: make([]entry, n),
		usage: make([]int64, n*m), least: make([]int64, n*m), want: make([]int64, n*m),
		needs: slices.Clone(t.task), total: make([]int64, m), winners: make([]int32, 2*n),
	}
	if n > 0 {
		x.sums = make([]int64, 2*(n-int(t.groups[0].end))*3*m)
	}
	for i := range x.entries {
		x.entries[i].demand = t.nodes[i].demand
	}
	for _, g := range slices.Backward(t.groups) {
		for i := g.first; i < g.end; i++ {
			x.enter(i)
		}
		for k := g.end - g.first - 1; k > 0; k-- {
			x.play(g, k)
		}
	}
	return x
}

// Next returns the pool whose task should run next: from the top level down, the one that stands first among its
// siblings.
//
//  1. A pool that wants more stands before one that does not. It wants more while tasks wait and the next one leaves
//
// it     within its maximums.  2. A pool below its minimum stands before one that is not: one that has less than its
// minimum of every resource of     which it has one, as far as it wants it. Of two such, the one that has the smaller
// part, of the resource of which     it has most.  3. Of the others the one with the smallest dominant share per
// weight comes first: the largest of its parts of what the     cluster has of each resource. Pools of weight zero
// come last, and ties go to the lower index.
//
// Under [fairshare.FIFO] and [fairshare.MultiLevel] rank replaces or precedes rule 3. It changes nothing: tell the
// index what was done with [Index.Add]. Where the task does not fit, as the pick says or as the host sees on the
// machine on offer, [Index.Hold] the pool and ask again.
//
// Cost: O(depth·m), no allocation.
func (x *Index) Next() Pick {
	if x.layout == nil || len(x.nodes) == 0 {
		return nobody()
	}
	g := x.groups[0]
	for {
		i := x.winners[2*g.first+1]
		switch n := &x.nodes[i]; {
		case x.entries[i].turn == turnNone:
			return nobody()
		case n.leaf():
			return x.pick(g, i)
		default:
			g = x.groups[n.children]
		}
	}
}

// Add counts tasks of a pool without children that start, or, if tasks is negative, that end. Need is what each of
// them takes of each resource; nil means what the pool's next task needs. What a pool has stops at 0 and at the
// largest int64. It reports false, and does nothing, for an index that is not such a pool or a need of the wrong
// length.
//
// Cost: O(m·log k) for the k siblings at each level above, no allocation.
func (x *Index) Add(pool int, tasks int64, need []int64) bool {
	i, ok := x.position(pool)
	if !ok || need != nil && len(need) != len(x.capacity) {
		return false
	}
	if need == nil {
		need = x.row(x.needs, i)
	}
	e, usage := &x.entries[i], x.row(x.usage, i)
	e.running = shift(e.running, tasks, 1)
	for r := range usage {
		was := usage[r]
		usage[r] = shift(was, tasks, max(0, need[r]))
		x.total[r] = shift(x.total[r], usage[r]-was, 1)
	}
	x.update(i)
	return true
}

// shift returns v + n·by within 0 and the largest int64.
func shift(v, n, by int64) int64 {
	if n >= 0 {
		return exact.Add(v, exact.Mul(n, by))
	}
	return v - min(v, exact.Mul(-max(n, -fairshare.Unlimited), by))
}

// SetDemand changes how many tasks of a pool without children run and wait together; less than 0 counts as 0. It
// reports false, and does nothing, for an index that is not such a pool.
//
// Cost: as [Index.Add].
func (x *Index) SetDemand(pool int, tasks int64) bool {
	i, ok := x.position(pool)
	if ok {
		x.entries[i].demand = max(0, tasks)
		x.update(i)
	}
	return ok
}

// SetTask changes what the next task of a pool without children needs. It reports false, and does nothing, for an
// index that is not such a pool or a need of the wrong length. Negative amounts count as 0.
//
// Cost: as [Index.Add].
func (x *Index) SetTask(pool int, need []int64) bool {
	i, ok := x.position(pool)
	if !ok || len(need) != len(x.capacity) {
		return false
	}
	row := x.row(x.needs, i)
	for r := range row {
		row[r] = max(0, need[r])
	}
	x.update(i)
	return true
}

// Hold passes a pool over, with its children if it has any, until it is held no longer: one whose next task does not
// fit, or that waits for a machine with its data. It reports false for an unknown pool.
//
// Cost: as [Index.Add].
func (x *Index) Hold(pool int, held bool) bool {
	if x.layout == nil || pool < 0 || pool >= len(x.at) {
		return false
	}
	i := x.at[pool]
	x.entries[i].held = held
	x.update(i)
	return true
}

// Usage returns what a pool has of a resource, its children's together; 0 for an unknown pool or resource.
func (x *Index) Usage(pool, resource int) int64 {
	if x.layout == nil || pool < 0 || pool >= len(x.at) || resource < 0 || resource >= len(x.capacity) {
		return 0
	}
	return x.row(x.usage, x.at[pool])[resource]
}

// Running returns how many tasks a pool without children runs; 0 for any other.
func (x *Index) Running(pool int) int64 {
	if i, ok := x.position(pool); ok {
		return x.entries[i].running
	}
	return 0
}

// position returns where a pool without children stands.
func (x *Index) position(pool int) (i int32, ok bool) {
	if x.layout == nil || pool < 0 || pool >= len(x.at) || !x.nodes[x.at[pool]].leaf() {
		return 0, false
	}
	return x.at[pool], true
}
