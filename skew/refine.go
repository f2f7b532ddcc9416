package skew

import (
	"cmp"
	"slices"
	"sort"
)

// mostParts bounds the partitions of a reduce task of which pairs are tried, too: there are as many as half its square.
const mostParts = 64

// part is one or two partitions that a reduce task has, or none.
type part struct {
	size int64
	i, j int // -1: none
}

// refine takes from the reduce task that ends last, as long as another can take up to two of its partitions for up to
// two of its own, and both end sooner than it did. Ties go to the reduce task that ends first, then to the lower index.
func (g *greedy) refine() {
	least, _ := g.bound()
	held := make([][]int, len(g.team.reducers))
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
		if g.plan.End[last] <= least*near || !slices.ContainsFunc(others, better) {
			return
		}
	}
}

// exchange makes the exchange between two reduce tasks that leaves the later end earliest, and reports whether there is
// one by which both end sooner than the first does now.
func (g *greedy) exchange(held [][]int, from, to int) bool {
	out, in := g.parts(held[from]), g.parts(held[to])
	even := g.even(from, to)
	best, deadline := g.plan.End[from], g.team.deadline[to]
	var gives, takes part
	found := false
	for _, give := range out {
		// What is taken back leaves a net size near to even: the largest below, or the smallest above.
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

// parts lists what a reduce task can give of its partitions, the smallest first.
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

// even returns the largest size that can go from one reduce task to the other so that that still ends no later.
func (g *greedy) even(from, to int) int64 {
	load := g.plan.Load[from]
	return mostThat(load, func(size int64) bool {
		return g.endAt(to, g.plan.Load[to]+size) <= g.endAt(from, load-size)
	})
}

func (g *greedy) move(held [][]int, what part, from, to int) {
	for _, i := range [2]int{what.i, what.j} {
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
