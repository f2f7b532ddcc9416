package fairshare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/straggler-go/straggler/internal/check"
)

// forest is a validated set of pools in breadth-first order, so that a loop forwards sees a parent before its
// children, a loop backwards after them, and siblings are adjacent. It is never changed once built.
type forest struct {
	policy Policy
	nodes  []node
	groups []group // groups[0] is the top level; a group stands after the group of its parent
	at     []int32 // pool index to position
}

// node is a pool with the defaults filled in. Positions refer to forest.nodes; -1 is the top level.
type node struct {
	weight, min, max, demand int64
	pool, rank               int32
	parent                   int32 // position
	group, children          int32 // the group that it is in and that of its children; no children: -1
}

func (n *node) leaf() bool { return n.children < 0 }

// group is the siblings nodes[first:end], sorted by rank, then weightless last, then pool index.
type group struct {
	parent, first, end int32
	discipline         Discipline
}

// maxPools keeps every index into twice as many entries within int32.
const maxPools = 1 << 30

func newForest(pools []Pool, policy Policy) (*forest, error) {
	if err := policy.Validate(); err != nil {
		return nil, err
	}
	if len(pools) >= maxPools {
		return nil, fmt.Errorf("fairshare: %d pools, want fewer than 2^30", len(pools))
	}
	f := &forest{
		policy: policy,
		nodes:  make([]node, 0, len(pools)),
		groups: make([]group, 0, 1),
		at:     make([]int32, len(pools)),
	}
	parents := make([]bool, len(pools))
	for i := range pools {
		if err := pools[i].check(i, len(pools)); err != nil {
			return nil, err
		}
		if p := pools[i].Parent.Index(); p >= 0 {
			parents[p] = true
		}
	}
	for i := range pools {
		if parents[i] && pools[i].Demand != 0 {
			return nil, check.Bad("fairshare", check.At("pools", i, "Demand"), pools[i].Demand, "0 for a pool with children")
		}
	}
	f.build(pools, parents)
	if len(f.nodes) < len(pools) {
		return nil, f.cycle(pools)
	}
	return f, f.checkSums()
}

// build appends the groups of a tree in breadth-first order.
func (f *forest) build(pools []Pool, parents []bool) {
	// Children of parent p stand in children[starts[p+1]:starts[p+2]], the top level, p = -1, first.
	starts := make([]int32, len(pools)+2)
	for i := range pools {
		starts[int(pools[i].Parent)+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	children := make([]int32, len(pools))
	next := slices.Clone(starts)
	for i := range pools {
		slot := &next[pools[i].Parent]
		children[*slot] = int32(i)
		*slot++
	}
	f.appendGroup(pools, -1, children[:starts[1]])
	for at := 0; at < len(f.nodes); at++ {
		if p := f.nodes[at].pool; parents[p] {
			f.appendGroup(pools, int32(at), children[starts[p+1]:starts[p+2]])
		}
	}
}

// appendGroup appends a group of siblings.
func (f *forest) appendGroup(pools []Pool, parent int32, children []int32) {
	g := group{parent: parent, first: int32(len(f.nodes)), discipline: f.policy.Discipline}
	if parent >= 0 {
		g.discipline = pools[f.nodes[parent].pool].Discipline
		f.nodes[parent].children = int32(len(f.groups))
	}
	for _, i := range children {
		n := node{
			weight: pools[i].weight(), min: pools[i].Min, max: pools[i].limit(), demand: pools[i].Demand,
			pool: i, parent: parent, group: int32(len(f.groups)), children: -1,
		}
		if g.discipline != Fair {
			n.rank = pools[i].Rank
		}
		if g.discipline == FIFO {
			n.weight = 1 // only the order counts
		}
		f.nodes = append(f.nodes, n)
	}
	g.end = int32(len(f.nodes))
	siblings := f.nodes[g.first:g.end]
	if !slices.IsSortedFunc(siblings, bySection) {
		slices.SortFunc(siblings, bySection)
	}
	for i := range siblings {
		f.at[siblings[i].pool] = g.first + int32(i)
	}
	f.groups = append(f.groups, g)
}

// bySection orders siblings so that those served together are adjacent, in the order in which they are served.
func bySection(a, b node) int {
	if c := cmp.Compare(a.rank, b.rank); c != 0 {
		return c
	}
	if (a.weight == 0) != (b.weight == 0) {
		return cmp.Compare(b.weight, a.weight)
	}
	return cmp.Compare(a.pool, b.pool)
}

// section returns the end of the siblings that are served together with the one at position i.
func (f *forest) section(g group, i int32) int32 {
	if g.discipline == FIFO {
		return i + 1
	}
	a := &f.nodes[i]
	for i < g.end && f.nodes[i].rank == a.rank && (f.nodes[i].weight == 0) == (a.weight == 0) {
		i++
	}
	return i
}

// cycle names the pools of one cycle. Every pool that was not reached leads up into one.
func (f *forest) cycle(pools []Pool) error {
	reached := make([]bool, len(pools))
	for i := range f.nodes {
		reached[f.nodes[i].pool] = true
	}
	i := slices.Index(reached, false)
	for !reached[i] {
		reached[i] = true
		i = pools[i].Parent.Index()
	}
	return fmt.Errorf("fairshare: pools[%d].Parent leads through pool %d back to pool %d, want a tree", i,
		pools[i].Parent.Index(), i)
}

// checkSums makes sure that no sum of minimums or weights can overflow later, and that a pool's maximum allows what
// its children are guaranteed when they want all of it.
func (f *forest) checkSums() error {
	guarantees := make([]int64, len(f.nodes))
	for _, g := range slices.Backward(f.groups) {
		var least, weight int64
		for i := g.first; i < g.end; i++ {
			n := &f.nodes[i]
			guarantees[i] = max(guarantees[i], n.min)
			if least += guarantees[i]; least < 0 {
				return fmt.Errorf("fairshare: pools[%d].Min is %d, which takes the sum of its siblings' beyond int64", n.pool,
					n.min)
			}
			if weight += max(n.weight, 1); weight < 0 {
				return fmt.Errorf("fairshare: pools[%d].Weight is %d, which takes the sum of its siblings' beyond int64", n.pool,
					n.weight)
			}
		}
		if g.parent < 0 {
			continue
		}
		p := &f.nodes[g.parent]
		if least > p.max {
			at := check.At("pools", p.pool, "Max")
			return check.Badf("fairshare", at, p.max, "at least the %d guaranteed to its children", least)
		}
		guarantees[g.parent] = least
	}
	return nil
}
