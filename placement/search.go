package placement

import "math"

// search is a tabu search, a kind of local search, from a complete placement. Each step makes the transfer over
// the bottleneck, which is the link with the longest transfer, shorter. A step moves a task out of the
// bottleneck's rack or into it, or swaps two tasks. The search chooses the step after which the three longest
// transfers are shortest, even if the placement becomes worse. For some steps a task may not return to its former
// rack, unless the result is the best placement so far.
type search struct {
	*layout
	best     *layout // the best placement so far
	longest  float64 // the time of the longest transfer of best
	goal     float64 // the search ends if the longest transfer is at most this long
	tabu     []int   // by task and rack: the first step at which the task may return to the rack
	rest     []top   // by rack: the three longest transfers over links of other racks, except the bottleneck's rack
	hotRack  int     // the rack of the bottleneck
	stepped  int     // the number of steps so far
	improved int     // the step that found best
}

// change is a possible step of the search: task k moves to the rack with index to. If other is the index of a task,
// this task moves from there into the former rack of k.
type change struct {
	k, to, other int  // other is nowhere if no second task moves
	after        top  // the three longest transfers after the step
	found        bool // true if the change is a step, and not the zero value
}

// newSearch returns a search that begins at the placement start and ends at a longest transfer of goal. The search
// changes start.
func newSearch(start *layout, goal float64) *search {
	s := &search{
		layout: start, best: newLayout(start.m), goal: goal,
		tabu: make([]int, len(start.m.save)), rest: make([]top, start.m.r),
	}
	s.best.copyFrom(start)
	_, s.longest = start.worst()
	return s
}

// run searches until the goal is reached, until no step makes the transfer over the bottleneck shorter, or until
// the allowed work is used up. It also ends after patience steps without a better placement.
func (s *search) run(w *work, patience int) {
	idle := 0 // the number of steps, since the last change, in which no change was possible
	for s.longest > s.goal && s.stepped-s.improved < patience && idle <= longestBan {
		link, _ := s.worst()
		if !w.take(s.candidateCost(link)) {
			return
		}
		c := s.candidate(link)
		s.stepped++
		idle++
		if !c.found {
			continue // a forbidden change is allowed again after at most longestBan steps
		}
		idle = 0
		s.apply(c)
		if _, longest := s.worst(); longest < s.longest*(1-precise) { // more than rounding errors
			s.longest, s.improved = longest, s.stepped
			s.best.copyFrom(s.layout)
		}
	}
}

// apply carries out the change, and forbids the moved tasks to return to their former racks for some steps.
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

// shortestBan and longestBan are numbers of steps. A task that was moved may not return to its former rack for at
// least shortestBan and at most longestBan steps.
const shortestBan, longestBan = 5, 15

// forbid forbids task k to return to rack j for some steps. The number of steps varies in a fixed sequence. With a
// constant number the search could repeat the same moves for ever.
func (s *search) forbid(k, j int) {
	s.tabu[k*s.m.r+j] = s.stepped + shortestBan + s.stepped*7%(longestBan-shortestBan+1)
}

// candidateCost returns the steps of work to find the best change. The search visits all links and all tasks, and
// tries to swap each task in the bottleneck's rack with each task in another rack. If the bottleneck is a
// downlink, the search also tries to move each task of the rack to each other rack.
func (s *search) candidateCost(link Link) int64 {
	n, r, here := int64(s.m.n), int64(s.m.r), int64(s.count[link.Rack])
	cost := 4*r + n + here*n
	if link.Direction == Down {
		cost += here * r
	}
	return cost
}

// candidate returns the best change that makes the transfer over the link shorter. The link is the bottleneck.
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

// tryMoves tries to move task k out of the bottleneck's rack, into each rack with a free slot.
func (s *search) tryMoves(best *change, k int) {
	for j := range s.m.r {
		if j != s.hotRack && s.room(k, j) {
			s.try(best, k, j, nowhere)
		}
	}
}

// trySwaps tries to swap task k, which is in the bottleneck's rack, with each task that loads the bottleneck less.
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

// try compares a change with *best, and stores the change in *best if it is better. The change must move a task
// out of the bottleneck's rack or into it.
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
