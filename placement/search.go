package placement

import "math"

// search is a tabu search from a complete layout. Every step relieves the link with the longest transfer: it moves one
// task out of (or into) the link's rack or swaps two tasks, whichever leaves the least top, even if that is worse than
// before. A task may not go back to the rack that it left for a while, unless that gives the best placement yet.
type search struct {
	*layout
	best     *layout
	longest  float64 // of best
	goal     float64 // a placement this good ends the search
	tabu     []int   // the first step at which a task may return to a rack
	rest     []top   // of the links of all racks except the bottleneck's and this one
	hot      int     // the rack of the bottleneck
	stepped  int
	improved int // the step at which best was found
}

// change is a candidate: task k goes to rack to and, if other is a task, other goes the way back.
type change struct {
	k, to, other int // other may be nowhere
	after        top
	found        bool
}

func newSearch(start *layout, goal float64) *search {
	s := &search{
		layout: start, best: newLayout(start.m), goal: goal,
		tabu: make([]int, len(start.m.save)), rest: make([]top, start.m.r),
	}
	s.best.copyFrom(start)
	_, s.longest = start.worst()
	return s
}

// run searches until the goal is reached, nothing relieves the bottleneck, patience steps in a row found nothing
// better, or the work is spent.
func (s *search) run(w *work, patience int) {
	stuck := 0
	for s.longest > s.goal && s.stepped-s.improved < patience && stuck <= longestBan {
		link, _ := s.worst()
		if !w.take(s.candidateCost(link)) {
			return
		}
		c := s.candidate(link)
		s.stepped++
		if stuck++; !c.found {
			continue // until a ban ends; if none of them was the reason, nothing relieves the bottleneck
		}
		stuck = 0
		s.apply(c)
		if _, longest := s.worst(); longest < s.longest*(1-precise) { // by more than the rounding of many moves
			s.longest, s.improved = longest, s.stepped
			s.best.copyFrom(s.layout)
		}
	}
}

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

// For how many steps a task may not go back.
const shortestBan, longestBan = 5, 15

// forbid keeps a task out of a rack for a while. The span varies, in a fixed sequence, so that the search does not run
// in a circle of the length of the span.
func (s *search) forbid(k, j int) {
	s.tabu[k*s.m.r+j] = s.stepped + shortestBan + s.stepped*7%(longestBan-shortestBan+1)
}

// candidateCost is the work of finding the best step: a pass over links and tasks, a swap of each task in the
// bottleneck's rack with each elsewhere, and a move of it to each rack if it may help.
func (s *search) candidateCost(link Link) int64 {
	n, r, here := int64(s.m.n), int64(s.m.r), int64(s.count[link.Rack])
	cost := 4*r + n + here*n
	if link.Direction == Down {
		cost += here * r
	}
	return cost
}

// candidate finds the best step.
func (s *search) candidate(link Link) (best change) {
	s.hot = link.Rack
	s.fillRest(s.hot, s.rest)
	for k, at := range s.rack {
		switch {
		case at == s.hot:
			if link.Direction == Down {
				s.tryMoves(&best, k)
			}
			s.trySwaps(&best, k, link.Direction)
		case link.Direction == Up && s.m.save[k*s.m.r+s.hot] > 0 && s.room(k, s.hot):
			s.try(&best, k, s.hot, nowhere)
		}
	}
	return best
}

// tryMoves tries to move a task out of the bottleneck's rack.
func (s *search) tryMoves(best *change, k int) {
	for j := range s.m.r {
		if j != s.hot && s.room(k, j) {
			s.try(best, k, j, nowhere)
		}
	}
}

// trySwaps tries to swap a task of the bottleneck's rack for one that burdens the bottleneck less.
func (s *search) trySwaps(best *change, k int, d Direction) {
	m, here := s.m, k*s.m.r+s.hot
	for other, to := range s.rack {
		there := other*m.r + s.hot
		if to == s.hot || d == Down && m.add[there] >= m.add[here] || d == Up && m.save[there] <= m.save[here] {
			continue
		}
		if !math.IsInf(m.add[there], 1) && !math.IsInf(m.add[k*m.r+to], 1) {
			s.try(best, k, to, other)
		}
	}
}

// try keeps the change if it is better than best. One of the two racks must be the bottleneck's.
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
	if to == s.hot {
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
