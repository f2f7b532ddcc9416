package skew

import (
	"cmp"
	"slices"
)

const (
	// near is how many times later than what is proved to be needed an end may be without a search for a better one.
	near = 1 + 1./1024
	// mostNodes bounds the search, to some 10 ms, and mostSearched its depth.
	mostNodes    = 1 << 16
	mostSearched = 256
)

// search looks for a plan that ends sooner by branch and bound: the largest partition first, on the reduce task where
// it ends first, then on the next. It is exact, to a part in 1024, unless it runs out of nodes.
type search struct {
	*greedy
	least float64
	order []int   // of partitions
	rest  []int64 // the size of all from this one of order on
	load  []int64
	cap   []int64 // below which a load must stay that is to end sooner than the best plan
	at    []int   // the reduce task of each partition, and in the best plan
	best  []int
	tries [][]int // reduce tasks, by depth
	nodes int
}

func (g *greedy) search() {
	s := search{greedy: g, order: LargestFirst(nil, g.sizes)}
	s.order = slices.DeleteFunc(s.order, func(i int) bool { return g.sizes[i] == 0 || g.plan.Reducer[i] < 0 })
	if s.least, _ = g.bound(); len(s.order) > mostSearched || len(s.order) == 0 {
		return
	}
	n := len(g.team.reducers)
	s.load, s.cap = make([]int64, n), make([]int64, n)
	s.at, s.rest = make([]int, len(g.sizes)), make([]int64, len(s.order)+1)
	for k := len(s.order) - 1; k >= 0; k-- {
		s.rest[k] = s.rest[k+1] + g.sizes[s.order[k]]
		s.tries = append(s.tries, make([]int, 0, n))
	}
	s.beat(slices.Max(g.plan.End))
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

// beat sets what a plan may load that ends sooner than so.
func (s *search) beat(end float64) {
	end /= near
	for r := range s.cap {
		by := min(end, s.team.deadline[r])
		s.cap[r] = mostThat(s.rest[0], func(size int64) bool { return s.endAt(r, size) <= by })
	}
	if end < s.least {
		s.nodes = mostNodes
	}
}

// place tries partition k of the order and all behind it on each reduce task.
func (s *search) place(k int) {
	if k == len(s.order) {
		end := 0.
		for r, load := range s.load {
			if load > 0 {
				end = max(end, s.endAt(r, load))
			}
		}
		s.best = append(s.best[:0], s.at...)
		s.beat(end)
		return
	}
	size := s.sizes[s.order[k]]
	room := int64(0)
	tries := s.tries[k][:0]
	for r, load := range s.load {
		if left := s.cap[r] - load; left >= s.sizes[s.order[len(s.order)-1]] {
			room += min(left, s.rest[k]-room)
			if left >= size && !s.tried(tries, r) {
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
		if s.load[r]+size > s.cap[r] { // since a better plan was found
			continue
		}
		s.load[r] += size
		s.at[s.order[k]] = r
		s.place(k + 1)
		s.load[r] -= size
	}
}

// tried says that one of the reduce tasks is like r: what holds for it holds for r.
func (s *search) tried(tries []int, r int) bool {
	t := s.team
	return t.perUnit[r] != 0 && slices.ContainsFunc(tries, func(q int) bool {
		return s.load[q] == s.load[r] && t.ready[q] == t.ready[r] && t.perUnit[q] == t.perUnit[r] &&
			t.deadline[q] == t.deadline[r]
	})
}
