package skew

import (
	"cmp"
	"slices"
	"sort"
)

// mostParts is the largest number of partitions of a reduce task for which pairs of partitions are tried. A reduce
// task with more partitions gives only single partitions, because n partitions have n²/2 pairs.
const mostParts = 64

// part is a set of at most two partitions of a reduce task, with their total size.
type part struct {
	size int64
	i, j int // indices of the partitions; -1 for none
}

// refine improves the plan by exchanges. In each exchange, the reduce task that ends last and another reduce task
// give each other up to two partitions. Afterwards both must end sooner than the last reduce task ended before. If
// several other reduce tasks are possible, refine takes the reduce task that ends first, and then the lowest index.
func (g *greedy) refine() {
	least, _ := g.bound()
	held := make([][]int, len(g.timing.reducers))
	for i, r := range g.plan.Reducer {
		if r >= 0 && g.sizes[i] > 0 {
			held[r] = append(held[r], i)
		}
	}
	order := make([]int, len(held))
	for range 100 * len(held) {
		for r := range order {
			order[r] = r
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.plan.End[a], g.plan.End[b]) })
		last, others := order[len(order)-1], order[:len(order)-1]
		better := func(r int) bool { return g.exchange(held, last, r) }
		if g.plan.End[last] <= least*closeEnough || !slices.ContainsFunc(others, better) {
			return
		}
	}
}

// exchange makes the best exchange of partitions between two reduce tasks. The arguments from and to are their
// indices. The best exchange is the exchange after which the later of the two ends is earliest. If no exchange lets
// both end sooner than the first reduce task (from) ends now, exchange returns false and changes nothing.
func (g *greedy) exchange(held [][]int, from, to int) bool {
	out, in := g.parts(held[from]), g.parts(held[to])
	even := g.evenSize(from, to)
	best, deadline := g.plan.End[from], g.timing.deadline[to]
	var gives, takes part
	found := false
	for _, give := range out {
		// The net size of an exchange is the size that the first reduce task (from) gives, minus the size that it
		// takes back. So for each set that it gives, only two sets to take back can be best. They are the sets for
		// which the net size is next below even and next above even.
		at := sort.Search(len(in), func(k int) bool { return give.size-in[k].size <= even })
		for _, k := range [2]int{at - 1, at} {
			if k < 0 || k == len(in) || give.size <= in[k].size {
				continue
			}
			net := give.size - in[k].size
			other := g.endAt(to, g.plan.Load[to]+net)
			if end := max(g.endAt(from, g.plan.Load[from]-net), other); end < best && other <= deadline {
				best, gives, takes, found = end, give, in[k], true
			}
		}
	}
	if found {
		g.move(held, gives, from, to)
		g.move(held, takes, to, from)
	}
	return found
}

// parts returns the sets of at most two partitions that a reduce task can give, the smallest total size first. The
// empty set is included.
func (g *greedy) parts(held []int) []part {
	list := []part{{0, -1, -1}}
	for a, i := range held {
		list = append(list, part{g.sizes[i], i, -1})
		for _, j := range held[a+1:] {
			if len(held) > mostParts {
				break
			}
			list = append(list, part{g.sizes[i] + g.sizes[j], i, j})
		}
	}
	slices.SortStableFunc(list, func(a, b part) int { return cmp.Compare(a.size, b.size) })
	return list
}

// evenSize returns how much one reduce task can give to another. It is the largest size after which the reduce task
// that receives it ends no later than the reduce task that gives it.
func (g *greedy) evenSize(from, to int) int64 {
	load := g.plan.Load[from]
	return largestThat(load, func(size int64) bool {
		return g.endAt(to, g.plan.Load[to]+size) <= g.endAt(from, load-size)
	})
}

// move moves the partitions of p from one reduce task to another, and computes their loads and ends again.
func (g *greedy) move(held [][]int, p part, from, to int) {
	for _, i := range [2]int{p.i, p.j} {
		if i >= 0 {
			held[from] = slices.DeleteFunc(held[from], func(k int) bool { return k == i })
			held[to] = append(held[to], i)
			g.plan.Load[from] -= g.sizes[i]
			g.put(i, to, g.endAt(to, g.plan.Load[to]+g.sizes[i]))
		}
	}
	if g.plan.End[from] = 0; len(held[from]) > 0 {
		g.plan.End[from] = g.endAt(from, g.plan.Load[from])
	}
}
