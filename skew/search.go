package skew

import (
	"cmp"
	"slices"
)

const (
	// closeEnough is a factor: the search stops when the plan ends within this factor of the lower bound.
	closeEnough = 1 + 1./1024
	// mostNodes is the largest number of nodes that a search visits; with this limit a search takes about 10 ms.
	// mostSearched is the largest number of partitions for which there is a search.
	mostNodes    = 1 << 16
	mostSearched = 256
)

// search is a branch-and-bound search for a plan that ends sooner than the greedy plan. It places the largest
// partition first. For each partition it tries the reduce tasks in the order in which they would end. The plan that
// it finds ends within a factor of 1 + 1/1024 of the best plan, unless the search stops because it has visited
// mostNodes nodes.
type search struct {
	*greedy
	least float64 // lower bound of the end of every plan, in seconds
	order []int   // indices of the partitions, the largest first
	rest  []int64 // rest[k] is the total size of the partitions order[k:]
	load  []int64 // for each reduce task, the total size that it has in the current plan
	// For each reduce task, the largest load with which it ends sooner than the best plan found so far.
	cap   []int64
	at    []int   // for each partition, its reduce task in the current plan
	best  []int   // for each partition, its reduce task in the best plan; nil if no better plan was found
	tries [][]int // working space: for each depth of the search, the reduce tasks to try
	nodes int     // number of nodes visited so far
}

// search replaces the greedy plan by a better plan, if it finds a better plan.
func (g *greedy) search() {
	s := search{greedy: g, order: LargestFirst(nil, g.sizes)}
	s.order = slices.DeleteFunc(s.order, func(i int) bool { return g.sizes[i] == 0 || g.plan.Reducer[i] < 0 })
	if s.least, _ = g.bound(); len(s.order) > mostSearched || len(s.order) == 0 {
		return
	}
	n := len(g.timing.reducers)
	s.load, s.cap = make([]int64, n), make([]int64, n)
	s.at, s.rest = make([]int, len(g.sizes)), make([]int64, len(s.order)+1)
	for k := len(s.order) - 1; k >= 0; k-- {
		s.rest[k] = s.rest[k+1] + g.sizes[s.order[k]]
		s.tries = append(s.tries, make([]int, 0, n))
	}
	s.setCaps(slices.Max(g.plan.End))
	s.place(0)
	if s.best == nil {
		return
	}
	clear(g.plan.Load)
	clear(g.plan.End)
	for i, r := range g.plan.Reducer {
		if r >= 0 && g.sizes[i] > 0 {
			r = s.best[i]
		}
		if r >= 0 {
			g.put(i, r, g.endWith(i, r))
		}
	}
}

// setCaps sets the largest load of each reduce task, so that only plans which end sooner than end are found. If no
// plan can end sooner, setCaps ends the search.
func (s *search) setCaps(end float64) {
	end /= closeEnough
	for r := range s.cap {
		by := min(end, s.timing.deadline[r])
		s.cap[r] = largestThat(s.rest[0], func(size int64) bool { return s.endAt(r, size) <= by })
	}
	if end < s.least {
		s.nodes = mostNodes
	}
}

// place tries to put the partition order[k] on each reduce task in turn. For each try, it places the partitions
// order[k+1:] in the same way.
func (s *search) place(k int) {
	if k == len(s.order) {
		end := 0.
		for r, load := range s.load {
			if load > 0 {
				end = max(end, s.endAt(r, load))
			}
		}
		s.best = append(s.best[:0], s.at...)
		s.setCaps(end)
		return
	}
	size := s.sizes[s.order[k]]
	room := int64(0)
	tries := s.tries[k][:0]
	for r, load := range s.load {
		if left := s.cap[r] - load; left >= s.sizes[s.order[len(s.order)-1]] {
			room += min(left, s.rest[k]-room)
			if left >= size && !s.likeTried(tries, r) {
				tries = append(tries, r)
			}
		}
	}
	if room < s.rest[k] {
		return
	}
	slices.SortStableFunc(tries, func(a, b int) int {
		return cmp.Compare(s.endAt(a, s.load[a]+size), s.endAt(b, s.load[b]+size))
	})
	for _, r := range tries {
		if s.nodes++; s.nodes > mostNodes {
			return
		}
		if s.load[r]+size > s.cap[r] { // a better plan was found meanwhile, so cap is smaller now
			continue
		}
		s.load[r] += size
		s.at[s.order[k]] = r
		s.place(k + 1)
		s.load[r] -= size
	}
}

// likeTried reports whether tries contains a reduce task with the same times and the same load as r. In this case
// it is useless to try r as well.
func (s *search) likeTried(tries []int, r int) bool {
	t := s.timing
	return t.perUnit[r] != 0 && slices.ContainsFunc(tries, func(q int) bool {
		return s.load[q] == s.load[r] && t.ready[q] == t.ready[r] && t.perUnit[q] == t.perUnit[r] &&
			t.deadline[q] == t.deadline[r]
	})
}
