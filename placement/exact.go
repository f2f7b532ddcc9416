package placement

import (
	"cmp"
	"math"
	"slices"
)

// precise is a relative difference. Two times that differ by less are treated as equal, so a placement is called
// optimal if it is optimal up to this difference.
const precise = 1e-9

// exact is a depth-first branch and bound: it searches all placements except branches that cannot contain a better
// placement. It places the tasks one by one, largest first, and tries each possible rack. Three lower bounds
// exclude branches. They cost O(r) for each node, where r is the number of racks, and O(1) for each child:
//
//   - the time of each downlink for the tasks placed so far, because further tasks only add to it;
//   - the time of each uplink, if every task that is not yet placed were in the rack of this uplink;
//   - the bound of the relaxation, a linear program in which tasks may be split: each task adds its own cost to
//     this bound.
//
// Tasks with equal inputs can be exchanged without effect. So exact tries only placements in which the rack
// indices of such tasks do not decrease.
type exact struct {
	*layout
	order   []int       // by depth: the task that is placed at this depth
	twin    []bool      // by depth: true if this task has the same inputs as the task at the depth before
	choices [][]choice  // by task: its possible racks, the rack with the smallest cost first
	ahead   [][]float64 // by depth and rack: the seconds that its uplink saves if all tasks from this depth on run there
	best    *layout
	longest float64
	scratch *layout
	w       *work
}

// choice is a possible rack for a task. cost is the increase of the lower bound, in seconds, if the task runs in
// this rack and not in its cheapest rack.
type choice struct {
	rack int
	cost float64
}

// prove searches for a placement with a shorter longest transfer than best, and writes such a placement into best.
// proven is true if the search was complete, so that best is optimal. bound is a lower bound in both cases.
func prove(m *model, best *layout, w *work) (bound float64, proven bool) {
	_, longest := best.worst()
	m, relaxed, possible := tighten(m.fork(), longest, w)
	if !possible {
		return longest, true
	}
	e := newExact(m, relaxed, best, w)
	if e.branch(0, relaxed.best) {
		return e.longest, true
	}
	return min(relaxed.best, e.longest), false
}

// tighten repeats two steps. First it solves the relaxation, the linear program in which tasks may be split over
// racks. Then it forbids pairs of a task and a rack that cannot be part of a placement shorter than longest. With
// fewer pairs the next relaxation gives a larger lower bound. possible is false if no placement is shorter than
// longest.
func tighten(m *model, longest float64, w *work) (_ *model, relaxed *relaxation, possible bool) {
	for {
		relaxed = relax(m, longest, w)
		if relaxed.best >= longest*(1-precise) {
			return m, relaxed, false
		}
		removed, possible := m.prune(relaxed, longest)
		if !possible || removed == 0 || w.left <= 0 {
			return m, relaxed, possible
		}
	}
}

// fork returns a copy of the model with its own slice add, so that the caller may change this slice.
func (m *model) fork() *model {
	c := *m
	c.add = slices.Clone(m.add)
	return &c
}

// prune forbids every pair of a task and a rack that cannot be part of a placement whose longest transfer takes less
// than longest. A pair is forbidden if the task's own transfer into the rack takes too long, or if the lower bound of
// the relaxation s becomes too large. prune returns the number of forbidden pairs. possible is true if every task has
// at least one possible rack left.
func (m *model) prune(s *relaxation, longest float64) (removed int, possible bool) {
	cut := float64(longest * (1 - precise))
	for k := range m.n {
		least, open := m.cheapest(k, s.bestPrice), 0
		for j := range m.r {
			i := k*m.r + j
			if math.IsInf(m.add[i], 1) {
				continue
			}
			if m.add[i] >= cut || s.best-least+reduced(m.save[i], m.add[i], j, s.bestPrice) >= cut {
				m.add[i] = math.Inf(1)
				removed++
			} else {
				open++
			}
		}
		if open == 0 {
			return removed, false
		}
	}
	return removed, true
}

// newExact prepares the search: it sorts the tasks and the possible racks of each task, and computes the field
// ahead.
func newExact(m *model, s *relaxation, best *layout, w *work) *exact {
	e := &exact{
		layout: newLayout(m), order: largestFirst(m, sequence(m.n)), twin: make([]bool, m.n), choices: make([][]choice, m.n),
		ahead: make([][]float64, m.n+1), best: best, scratch: newLayout(m), w: w,
	}
	_, e.longest = best.worst()
	e.ahead[m.n] = make([]float64, m.r)
	for d := m.n - 1; d >= 0; d-- {
		k := e.order[d]
		e.ahead[d] = slices.Clone(e.ahead[d+1])
		for j := range m.r {
			if i := k*m.r + j; !math.IsInf(m.add[i], 1) {
				e.ahead[d][j] += m.save[i]
				e.choices[k] = append(e.choices[k], choice{j, reduced(m.save[i], m.add[i], j, s.bestPrice)})
			}
		}
		slices.SortStableFunc(e.choices[k], func(a, b choice) int { return cmp.Compare(a.cost, b.cost) })
		least := e.choices[k][0].cost
		for i := range e.choices[k] {
			e.choices[k][i].cost -= least
		}
		e.twin[d] = d > 0 && m.sameInputs(k, e.order[d-1])
	}
	return e
}

// sameInputs reports whether tasks a and b have the same effect on all links: if both ran in the same rack, each link
// would get the same time from a as from b. This must hold for every rack.
func (m *model) sameInputs(a, b int) bool {
	return slices.Equal(m.add[a*m.r:(a+1)*m.r], m.add[b*m.r:(b+1)*m.r]) &&
		slices.Equal(m.save[a*m.r:(a+1)*m.r], m.save[b*m.r:(b+1)*m.r])
}

// branch tries all racks for the tasks at the given depth and below. bound is the lower bound of the relaxation
// for the tasks placed so far. branch returns false if the allowed work is used up before the search is complete.
func (e *exact) branch(depth int, bound float64) bool {
	if !e.w.take(int64(e.m.r)) {
		return false
	}
	cut := float64(e.longest * (1 - precise))
	for j, v := range e.up {
		if v-e.ahead[depth][j] >= cut+e.m.noise {
			return true
		}
	}
	if depth == e.m.n {
		e.leaf(cut)
		return true
	}
	k := e.order[depth]
	for _, c := range e.choices[k] {
		cut = float64(e.longest * (1 - precise))
		if bound+c.cost >= cut {
			break
		}
		if !e.room(k, c.rack) || e.down[c.rack]+e.m.add[k*e.m.r+c.rack] >= cut ||
			e.twin[depth] && c.rack < e.rack[e.order[depth-1]] {
			continue
		}
		up, down := e.up[c.rack], e.down[c.rack]
		e.place(k, c.rack)
		done := e.branch(depth+1, bound+c.cost)
		e.remove(k)
		e.up[c.rack], e.down[c.rack] = up, down // exact, because rounding errors must not add up over millions of nodes
		if !done {
			return false
		}
	}
	return true
}

// leaf stores the complete placement as the best placement if its longest transfer is shorter than cut. It adds up
// the times again, so that the comparison has no rounding errors of earlier moves.
func (e *exact) leaf(cut float64) {
	e.scratch.copyFrom(e.layout)
	e.scratch.recount()
	if _, longest := e.scratch.worst(); longest < cut {
		e.longest = longest
		e.best.copyFrom(e.scratch)
	}
}
