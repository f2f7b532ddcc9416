package dominant

import (
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/internal/check"
)

// Pool is one claimant of several resources: a queue, a user or a job whose tasks need the same, or a group of them.
// Amounts are whole units of each resource, in the order of the capacity. Task and Demand are what the host observes;
// the rest is an operator's choice.
type Pool struct {
	// Parent, Weight, Discipline and Rank are those of [fairshare.Pool].
	Parent     fairshare.Parent
	Weight     int64
	Discipline fairshare.Discipline
	Rank       int32
	// Min is what the pool is guaranteed of each resource as long as it wants it; nil means nothing. A pool with children
	// is guaranteed at least the sum of what they are, as far as each wants it.
	Min []int64
	// Max is the most that the pool may have of each resource; nil means no maximum. An entry of 0 means no maximum of
	// that resource, [fairshare.Zero] that it may have none of it.
	Max []int64
	// Task is what the next task needs of each resource, for a pool without children. It is not read of one with
	// children.
	Task []int64
	// Demand is how many tasks run and wait together, for a pool without children, and zero for one with children.
	Demand int64
}

// Policy is what an operator chooses about the tree as a whole.
type Policy struct {
	// Discipline divides among the pools of the top level.
	Discipline fairshare.Discipline
	// Surplus says whether what a pool has as its minimum counts beyond it: [fairshare.WaterLevel] compares dominant
	// shares of all that pools have, as Hadoop YARN and Volcano do; [fairshare.AboveMinimum] those of what they have
	// beyond their minimums, as Kueue does of what its queues borrow.
	Surplus fairshare.Surplus
}

// Tree is a validated set of pools of several resources. The zero value has no pools. A Tree is not changed once
// built, and is safe for concurrent use.
type Tree struct{ layout }

// layout is the pools by position. It is never changed once built.
type layout struct {
	capacity       []int64
	policy         Policy
	nodes          []node // parents before their children, siblings adjacent
	groups         []group
	at             []int32 // pool index to position
	min, max, task []int64 // one row a position, one entry a resource
}

// node is a pool by its position.
type node struct {
	weight, demand  int64
	pool, rank      int32
	parent          int32 // position; -1 at the top level
	group, children int32 // the group that it is in and that of its children; no children: -1
}

func (n *node) leaf() bool { return n.children < 0 }

// group is the siblings nodes[first:end].
type group struct {
	parent, first, end int32
	discipline         fairshare.Discipline
}

// New checks the pools for a cluster that has so much of each resource. Errors name the pool and the field. It keeps
// copies.
//
// Cost: O(n·m) memory and time for n pools and m resources.
func New(pools []Pool, capacity []int64, policy Policy) (*Tree, error) {
	for r, c := range capacity {
		if c < 0 {
			return nil, check.Bad("fairshare/dominant", check.At("capacity", r, ""), c, "at least 0")
		}
	}
	shape := make([]fairshare.Pool, len(pools))
	for i, p := range pools {
		shape[i] = fairshare.Pool{Parent: p.Parent, Weight: p.Weight, Discipline: p.Discipline, Rank: p.Rank,
			Demand: p.Demand}
	}
	tree, err := fairshare.New(shape, fairshare.Policy{Discipline: policy.Discipline, Surplus: policy.Surplus})
	if err != nil {
		return nil, fmt.Errorf("fairshare/dominant: %s", strings.TrimPrefix(err.Error(), "fairshare: "))
	}
	t := newTree(tree, pools, capacity, policy)
	for i := range pools {
		if err := t.fill(i, &pools[i]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// newTree lays the pools out in the order of the tree.
func newTree(tree *fairshare.Tree, pools []Pool, capacity []int64, policy Policy) *Tree {
	n, m := len(pools), len(capacity)
	t := &Tree{layout{
		capacity: append([]int64(nil), capacity...), policy: policy, nodes: make([]node, 0, n), at: make([]int32, n),
		min: make([]int64, n*m), max: make([]int64, n*m), task: make([]int64, n*m),
	}}
	last := int32(-2)
	for pool, parent := range tree.Walk() {
		at, above := int32(len(t.nodes)), int32(-1)
		if parent >= 0 {
			above = t.at[parent]
		}
		if above != last {
			g := group{parent: above, first: at, discipline: policy.Discipline}
			if last = above; above >= 0 {
				g.discipline = pools[parent].Discipline
				t.nodes[above].children = int32(len(t.groups))
			}
			t.groups = append(t.groups, g)
		}
		p := &pools[pool]
		t.at[pool] = at
		t.groups[len(t.groups)-1].end = at + 1
		t.nodes = append(t.nodes, node{
			weight: weight(p.Weight), demand: p.Demand, pool: int32(pool), rank: p.Rank,
			parent: above, group: int32(len(t.groups) - 1), children: -1,
		})
	}
	return t
}

func weight(w int64) int64 {
	switch w {
	case 0:
		return 1
	case fairshare.Zero:
		return 0
	}
	return w
}

// fill checks a pool's vectors and copies them into their rows.
func (t *layout) fill(i int, p *Pool) error {
	m, at := len(t.capacity), int(t.at[i])
	leaf := t.nodes[at].leaf()
	for _, v := range []struct {
		name   string
		values []int64
		least  int64
		given  bool
	}{{"Min", p.Min, 0, p.Min != nil}, {"Max", p.Max, fairshare.Zero, p.Max != nil}, {"Task", p.Task, 0, leaf}} {
		if v.given && len(v.values) != m {
			return check.Badf("fairshare/dominant", fmt.Sprintf("len(pools[%d].%s)", i, v.name), len(v.values), "one for each of the %d resources", m)
		}
		for r, x := range v.values {
			if v.given && x < v.least {
				return check.Badf("fairshare/dominant", fmt.Sprintf("pools[%d].%s[%d]", i, v.name, r), x, "at least %d", v.least)
			}
		}
	}
	for r := range m {
		row := at*m + r
		t.max[row] = fairshare.Unlimited
		if p.Max != nil && p.Max[r] != 0 {
			t.max[row] = max(0, p.Max[r])
		}
		if p.Min != nil {
			t.min[row] = p.Min[r]
		}
		if t.min[row] > t.max[row] {
			return check.Badf("fairshare/dominant", fmt.Sprintf("pools[%d].Min[%d]", i, r), t.min[row], "at most its Max of %d", t.max[row])
		}
		if leaf {
			t.task[row] = p.Task[r]
		}
	}
	return nil
}

// Len returns the number of pools.
func (t *Tree) Len() int { return len(t.nodes) }

func (t *layout) row(values []int64, i int32) []int64 {
	m := len(t.capacity)
	return values[int(i)*m : int(i)*m+m : int(i)*m+m]
}
