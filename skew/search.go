package skew

import (
	"cmp"
	"slices"
)

const (
	// closeEnough is the factor between an end and the bound at which the search stops.
	closeEnough = 1 + 1./1024
	// mostNodes limits the nodes of a search, which then takes about 10 ms. mostSearched limits the number of
	// partitions.
	mostNodes    = 1 << 16
	mostSearched = 256
)

// search is a branch and bound for a plan that ends sooner. It places the largest partition first. For each partition
// it tries the reduce tasks in the order of their ends. The best plan found ends within a factor of 1 + 1/1024 of the
// best plan, unless the search runs out of nodes.
type search struct {
	*greedy
	least float64 // the bound
	order []int   // partitions, the largest first
	rest  []int64 // rest[k] is the total size of order[k:]
	load  []int64 // by reduce task, in the current plan
	cap   []int64 // by reduce task: the largest load with which a plan ends sooner than the best plan
	at    []int   // by partition: the reduce task in the current plan
	best  []int   // by partition: the reduce task in the best plan; nil if no better plan was found
	tries [][]int // by depth: working space for reduce tasks to try
	nodes int     // nodes visited so far
}

// search replaces the plan by a better plan, if it finds one.
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

// setCaps sets cap for plans that end sooner than end. If no plan can end sooner, it ends the search.
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

// place tries order[k] on each reduce task, and order[k+1:] after it.
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
		if s.load[r]+size > s.cap[r] { // a better plan was found, so cap is smaller now
			continue
		}
		s.load[r] += size
		s.at[s.order[k]] = r
		s.place(k + 1)
		s.load[r] -= size
	}
}

// likeTried reports whether tries contains a reduce task with the same times and load as r. Then a try of r would
// find no better plan.
func (s *search) likeTried(tries []int, r int) bool {
	t := s.timing
	return t.perUnit[r] != 0 && slices.ContainsFunc(tries, func(q int) bool {
		return s.load[q] == s.load[r] && t.ready[q] == t.ready[r] && t.perUnit[q] == t.perUnit[r] &&
			t.deadline[q] == t.deadline[r]
	})
}
