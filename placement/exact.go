package placement

import (
	"cmp"
	"math"
	"slices"
)

// precise is a relative difference: two times that differ by less count as equal, so "optimal" is exact up to precise.
const precise = 1e-9

// exact is a depth-first branch and bound. The search places the tasks one by one, largest first, and tries each rack
// that may still lead to a better placement. Three bounds cut a branch, at O(r) for each node and O(1) for each
// child:
//
//   - the load of each downlink so far, which only grows;
//   - the load of each uplink, if every later task were in the rack of this uplink;
//   - the bound of the relaxation's prices, which counts each task independently of the other tasks.
//
// Tasks with equal inputs are interchangeable, so exact tries only placements in which their racks do not decrease.
type exact struct {
	*layout
	order   []int
	twin    []bool      // by depth: this task has the same inputs as the task before it in the order
	choices [][]choice  // by task: its racks by rising cost
	ahead   [][]float64 // by depth and rack: seconds by which the tasks from this depth on could relieve the uplink
	best    *layout
	longest float64
	scratch *layout
	w       *work
}

// choice is a rack for a task, with its extra cost at the prices of the links, in seconds of the bound.
type choice struct {
	rack int
	cost float64
}

// prove searches for a placement that is shorter than best, and writes such a placement into best. proven is true if the
// search was complete. bound is a lower bound in both cases.
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

// tighten alternates between two steps: it solves the relaxation, and it forbids pairs of task and rack that cannot be in
// a placement shorter than longest. Fewer pairs make the next relaxation tighter. possible is false if no placement is
// shorter than longest.
func tighten(m *model, longest float64, w *work) (_ *model, relaxed *relaxation, possible bool) {
	for {
		relaxed = relax(m, w)
		if relaxed.best >= longest*(1-precise) {
			return m, relaxed, false
		}
		removed, possible := m.prune(relaxed, longest)
		if !possible || removed == 0 || w.left <= 0 {
			return m, relaxed, possible
		}
	}
}

// fork returns a copy of the model with its own add, so that the caller may change add.
func (m *model) fork() *model {
	c := *m
	c.add = slices.Clone(m.add)
	return &c
}

// prune forbids every pair of task and rack that no placement shorter than longest can contain. The task's own
// transfer and the relaxation's prices decide about a pair. prune returns the number of forbidden pairs, and whether
// every task has a rack left.
func (m *model) prune(s *relaxation, longest float64) (removed int, possible bool) {
	cut := float64(longest * (1 - precise))
	for k := range m.n {
		least, open := m.cheapest(k, s.bestPrice), 0
		for i := k * m.r; i < (k+1)*m.r; i++ {
			if math.IsInf(m.add[i], 1) {
				continue
			}
			if m.add[i] >= cut || s.best-least+m.reduced(i, s.bestPrice) >= cut {
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

// newExact orders the tasks and their racks for the search, and sums the possible relief of each uplink.
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
				e.choices[k] = append(e.choices[k], choice{j, m.reduced(i, s.bestPrice)})
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

// sameInputs reports whether two tasks put the same load on every link, wherever they run.
func (m *model) sameInputs(a, b int) bool {
	return slices.Equal(m.add[a*m.r:(a+1)*m.r], m.add[b*m.r:(b+1)*m.r]) &&
		slices.Equal(m.save[a*m.r:(a+1)*m.r], m.save[b*m.r:(b+1)*m.r])
}

// branch places the tasks from depth on. bound is the relaxation's lower bound, given the tasks placed so far. branch
// returns false if the work is spent.
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
		e.up[c.rack], e.down[c.rack] = up, down // restored exactly: rounding must not add up over millions of nodes
		if !done {
			return false
		}
	}
	return true
}

// leaf keeps the complete placement if it is the best so far. The compared sums are added up anew, without noise.
func (e *exact) leaf(cut float64) {
	e.scratch.copyFrom(e.layout)
	e.scratch.recount()
	if _, longest := e.scratch.worst(); longest < cut {
		e.longest = longest
		e.best.copyFrom(e.scratch)
	}
}
