package fairshare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/straggler-go/straggler/internal/check"
)

// forest is a validated set of pools, which are the nodes of trees. The slice nodes is in breadth-first order, so
// a parent stands before its children, and pools with the same parent are adjacent. A position is an index into
// nodes. It differs from the index of the pool in the slice that the caller passed. A forest never changes after
// newForest.
type forest struct {
	policy    Policy
	nodes     []node
	groups    []group // groups[0] is the top level; the group of a parent stands before the group of its children
	positions []int32 // the position in nodes of each pool, by the index of the pool
}

// node is one pool of the caller, in which the defaults have been replaced by numbers.
type node struct {
	weight, min, max, demand int64
	pool, rank               int32
	parent                   int32 // position of the parent in nodes; -1 at the top level
	group, children          int32 // indices into groups: its own group, and its children (-1 for none)
}

func (n *node) leaf() bool { return n.children < 0 }

// group is one set of pools with the same parent: nodes[first:end]. The pools are sorted by rank. Pools of equal
// rank are sorted so that pools of weight zero come last. Further ties are sorted by pool index.
type group struct {
	parent, first, end int32
	discipline         Discipline
}

// maxPools is the limit on the number of pools. With fewer pools, an index into a slice of twice that length fits
// in an int32.
const maxPools = 1 << 30

func newForest(pools []Pool, policy Policy) (*forest, error) {
	if err := policy.Validate(); err != nil {
		return nil, err
	}
	if len(pools) >= maxPools {
		return nil, fmt.Errorf("fairshare: %d pools, want fewer than 2^30 pools", len(pools))
	}
	f := &forest{
		policy:    policy,
		nodes:     make([]node, 0, len(pools)),
		groups:    make([]group, 0, 1),
		positions: make([]int32, len(pools)),
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

// build appends the groups of pools with the same parent to f, in breadth-first order. parents[i] says whether
// pool i has children. If the parents of some pools form a cycle, build never reaches these pools, nor the pools
// below them.
func (f *forest) build(pools []Pool, parents []bool) {
	// The children of the pool with index p are children[starts[p+1]:starts[p+2]]. The pools of the top level are
	// the children of p = -1, so they come first.
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

// appendGroup appends the given children, which are indices of pools, as one group. parent is the position of
// their parent, or -1 for the top level.
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
			n.weight = 1 // FIFO ignores weights
		}
		f.nodes = append(f.nodes, n)
	}
	g.end = int32(len(f.nodes))
	siblings := f.nodes[g.first:g.end]
	if !slices.IsSortedFunc(siblings, bySection) {
		slices.SortFunc(siblings, bySection)
	}
	for i := range siblings {
		f.positions[siblings[i].pool] = g.first + int32(i)
	}
	f.groups = append(f.groups, g)
}

// bySection orders pools with the same parent: first by rank, then pools with a weight before pools of weight
// zero, then by pool index. So pools that are served together are adjacent, and pools that are served earlier
// stand earlier.
func bySection(a, b node) int {
	if c := cmp.Compare(a.rank, b.rank); c != 0 {
		return c
	}
	if (a.weight == 0) != (b.weight == 0) {
		return cmp.Compare(b.weight, a.weight)
	}
	return cmp.Compare(a.pool, b.pool)
}

// section returns the end of the section that starts at position i. A section is a run of adjacent pools that are
// served together: they have equal rank, and their weights are all positive or all zero. Under FIFO each pool is a
// section by itself.
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

// cycle returns an error with the indices of two pools whose parents form a cycle. It starts at a pool that build
// has not reached and goes from parent to parent. This path always ends in a cycle.
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

// checkSums returns an error if a sum of minimums or weights does not fit in an int64. It also returns an error if
// the maximum of a pool is smaller than the sum of the guarantees of its children.
func (f *forest) checkSums() error {
	guarantees := make([]int64, len(f.nodes))
	for _, g := range slices.Backward(f.groups) {
		var least, weight int64
		for i := g.first; i < g.end; i++ {
			n := &f.nodes[i]
			guarantees[i] = max(guarantees[i], n.min)
			if least += guarantees[i]; least < 0 {
				return fmt.Errorf("fairshare: pools[%d].Min is %d, want a sum of siblings' minimums within int64", n.pool,
					n.min)
			}
			if weight += max(n.weight, 1); weight < 0 {
				return fmt.Errorf("fairshare: pools[%d].Weight is %d, want a sum of siblings' weights within int64", n.pool,
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
