package placement

import "math"

// search is a tabu search from a complete layout. Each step relieves the link with the longest transfer. A step moves a
// task out of the link's rack or into it, or swaps two tasks. The search takes the step with the least top, even if the
// placement becomes worse. A task may not return to its former rack for some steps, unless the result is the best
// placement yet.
type search struct {
	*layout
	best     *layout
	longest  float64 // longest transfer of best
	goal     float64 // the search ends at a placement this short
	tabu     []int   // by task and rack: the first step at which the task may return to the rack
	rest     []top   // by rack: top of the links outside of this rack and outside of the bottleneck's rack
	hotRack  int     // the rack of the bottleneck
	stepped  int
	improved int // the step that found best
}

// change is a candidate step: task k moves to rack to. If other is a task, it moves from rack to into the rack of k.
type change struct {
	k, to, other int // other is nowhere for a move without a swap
	after        top
	found        bool
}

// newSearch returns a search that begins at start. The search changes start.
func newSearch(start *layout, goal float64) *search {
	s := &search{
		layout: start, best: newLayout(start.m), goal: goal,
		tabu: make([]int, len(start.m.save)), rest: make([]top, start.m.r),
	}
	s.best.copyFrom(start)
	_, s.longest = start.worst()
	return s
}

// run searches until the goal is reached, until no step relieves the bottleneck, or until the work is spent. The
// search also ends after patience steps without a better placement.
func (s *search) run(w *work, patience int) {
	idle := 0 // steps in a row without a candidate
	for s.longest > s.goal && s.stepped-s.improved < patience && idle <= longestBan {
		link, _ := s.worst()
		if !w.take(s.candidateCost(link)) {
			return
		}
		c := s.candidate(link)
		s.stepped++
		idle++
		if !c.found {
			continue // a ban may end at a later step; after the longest ban, no step relieves the bottleneck
		}
		idle = 0
		s.apply(c)
		if _, longest := s.worst(); longest < s.longest*(1-precise) { // a gain beyond the rounding of many moves
			s.longest, s.improved = longest, s.stepped
			s.best.copyFrom(s.layout)
		}
	}
}

// apply makes the step and forbids the moved tasks to return.
func (s *search) apply(c change) {
	from := s.rack[c.k]
	s.forbid(c.k, from)
	s.remove(c.k)
	if c.other != nowhere {
		s.forbid(c.other, c.to)
		s.remove(c.other)
		s.place(c.other, from)
	}
	s.place(c.k, c.to)
}

// shortestBan and longestBan, in steps: a task may not return to its former rack for this long.
const shortestBan, longestBan = 5, 15

// forbid bans a task from a rack for some steps. The number of steps varies in a fixed sequence, because the search could
// cycle with a constant number.
func (s *search) forbid(k, j int) {
	s.tabu[k*s.m.r+j] = s.stepped + shortestBan + s.stepped*7%(longestBan-shortestBan+1)
}

// candidateCost returns the steps of work for finding the best change. The search passes over all links and tasks,
// and tries a swap of each task in the bottleneck's rack with each task elsewhere. If a move can help, the search
// also tries to move each task of the rack to each other rack.
func (s *search) candidateCost(link Link) int64 {
	n, r, here := int64(s.m.n), int64(s.m.r), int64(s.count[link.Rack])
	cost := 4*r + n + here*n
	if link.Direction == Down {
		cost += here * r
	}
	return cost
}

// candidate returns the best step that relieves the link.
func (s *search) candidate(link Link) (best change) {
	s.hotRack = link.Rack
	s.fillRest(s.hotRack, s.rest)
	for k, at := range s.rack {
		switch {
		case at == s.hotRack:
			if link.Direction == Down {
				s.tryMoves(&best, k)
			}
			s.trySwaps(&best, k, link.Direction)
		case link.Direction == Up && s.m.save[k*s.m.r+s.hotRack] > 0 && s.room(k, s.hotRack):
			s.try(&best, k, s.hotRack, nowhere)
		}
	}
	return best
}

// tryMoves tries each move of task k out of the bottleneck's rack.
func (s *search) tryMoves(best *change, k int) {
	for j := range s.m.r {
		if j != s.hotRack && s.room(k, j) {
			s.try(best, k, j, nowhere)
		}
	}
}

// trySwaps tries each swap of task k, which is in the bottleneck's rack, for a task that loads the bottleneck less.
func (s *search) trySwaps(best *change, k int, d Direction) {
	m, here := s.m, k*s.m.r+s.hotRack
	for other, to := range s.rack {
		there := other*m.r + s.hotRack
		if to == s.hotRack || d == Down && m.add[there] >= m.add[here] || d == Up && m.save[there] <= m.save[here] {
			continue
		}
		if !math.IsInf(m.add[there], 1) && !math.IsInf(m.add[k*m.r+to], 1) {
			s.try(best, k, to, other)
		}
	}
}

// try keeps the change in best if the change is better. The change must concern the bottleneck's rack.
func (s *search) try(best *change, k, to, other int) {
	m, from := s.m, s.rack[k]
	i, j := k*m.r+from, k*m.r+to
	upFrom, downFrom := s.up[from]+m.save[i], s.down[from]-m.add[i]
	upTo, downTo := s.up[to]-m.save[j], s.down[to]+m.add[j]
	tabu := s.tabu[j] > s.stepped
	if other != nowhere {
		i, j = other*m.r+from, other*m.r+to
		upFrom, downFrom = upFrom-m.save[i], downFrom+m.add[i]
		upTo, downTo = upTo+m.save[j], downTo-m.add[j]
		tabu = tabu || s.tabu[i] > s.stepped
	}
	highest := max(upFrom, downFrom, upTo, downTo)
	if best.found && highest > best.after[0] {
		return
	}
	after := s.rest[to]
	if to == s.hotRack {
		after = s.rest[from]
	}
	if tabu && max(highest, after[0]) >= s.longest {
		return
	}
	after.insert(upFrom)
	after.insert(downFrom)
	after.insert(upTo)
	after.insert(downTo)
	if !best.found || after.less(best.after) {
		*best = change{k: k, to: to, other: other, after: after, found: true}
	}
}
