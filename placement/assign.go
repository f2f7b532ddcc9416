package placement

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
)

// Effort is the number of steps of work that [Assign] may do, and so it limits the running time. It is a number of
// steps and not a time, so that the answer is the same on every machine. [Within] converts a time to an Effort.
type Effort int64

const (
	// DefaultEffort allows 5e6 + 100 n r² + 2 n² r steps for n tasks and r racks, and at most 1e9 steps. This
	// takes at most 5 s: about 25 ms for 20 tasks on 5 racks, 60 ms for 200 tasks on 20 racks, and 1 s for 1000
	// tasks on 40 racks.
	DefaultEffort Effort = 0
	// Exhaustive allows any number of steps. Assign then searches until the placement is proven to be the best,
	// which may take years for a large problem.
	Exhaustive Effort = -1
)

// stepTime is the time that one step of work takes on one core of a machine of 2020.
const stepTime = 5 * time.Nanosecond

// Within returns the Effort that takes about the time d on one core of a machine of 2020. The smallest Effort is
// 1, and a time of 0 or less gives this Effort. Assign finds a placement with every Effort, even with the
// smallest.
func Within(d time.Duration) Effort { return Effort(max(1, d/stepTime)) }

// Assign chooses a rack for every task, so that the longest transfer over a link becomes as short as possible
// [Mantri §5.2]. Each of the r racks has two links. The uplink of a rack carries the bytes that tasks in other
// racks read from this rack. The downlink of a rack carries the bytes that tasks in this rack read from other
// racks. To read inside a rack takes no time.
//
// Quality: an answer is optimal if no placement has a shorter longest transfer. With DefaultEffort, the answer is
// optimal if the problem has at most a million placements. Otherwise the answer is optimal if Assign can prove
// this within the effort. If it cannot, the answer comes from a linear program in which tasks may be split over
// racks. Its solution is rounded to whole tasks and improved by local search; see the package comment. With every
// effort, the answer is at least as good as two simple placements. The first deals the tasks out to the racks in
// turn. The second places one task after another, each in the best rack for it.
//
// Order: the same problem has the same answer on every machine. If the caller lists the tasks or the racks in
// another order, the longest transfer of the answer stays the same. For answers that are not optimal, this rule
// has two exceptions:
//
//   - Some racks have equal bandwidths, equal slots and equal sizes of inputs, and differ only in the tasks that
//     read each input.
//   - The effort is too small, or the problem is too large, to improve on the two simple placements. They depend
//     on the order of the caller.
//
// Assign returns an error for the first number of the problem that is out of range. It also returns an error if
// the racks have too few slots, or if data must move over a link of bandwidth 0. The error contains the name of
// the field, or the rack.
//
// Cost: the effort limits the running time. Before the first step Assign needs O(n r log(n r)) for n tasks and r
// racks. Memory is O(n r). Assign allocates.
//
// The formula of the paper has two terms for each of the n tasks, and it has no slots. Assign corrects both: it
// compares two terms for each rack, and it respects the slots.
func Assign(p Problem, effort Effort) (Assignment, error) {
	if effort < Exhaustive {
		return Assignment{}, check.Bad("placement", "Effort", effort, "DefaultEffort, Exhaustive or one of Within")
	}
	if err := p.check(); err != nil {
		return Assignment{}, err
	}
	if err := p.checkSlots(); err != nil {
		return Assignment{}, err
	}
	m := newModel(&p)
	feasible, err := m.feasible(&p)
	if err != nil {
		return Assignment{}, err
	}
	s := newSolver(m, effort)
	s.start(feasible)
	s.improve()
	s.offer(inTurn(m, &p))
	s.offer(oneByOne(m, &p))
	return s.assignment(), nil
}

// solver is the state that the methods of Assign share: the best placement so far and the best lower bound so far.
type solver struct {
	m         *model
	w         *work
	byDefault bool // true if the effort is DefaultEffort
	best      *layout
	longest   float64
	bound     float64
	proven    bool
}

// newSolver returns a solver that may do the number of steps that effort allows.
func newSolver(m *model, effort Effort) *solver {
	s := &solver{m: m, w: &work{int64(effort)}, byDefault: effort == DefaultEffort, longest: math.Inf(1)}
	switch effort {
	case DefaultEffort:
		n, r := float64(m.n), float64(m.r)
		s.w.left = int64(min(5e6+float64(100*n*r*r)+float64(2*n*n*r), 1e9))
	case Exhaustive:
		s.w.left = math.MaxInt64
	}
	return s
}

// offer stores the placement l as the best placement if every task has a rack in l, and if the longest transfer of
// l is shorter than in every placement before.
func (s *solver) offer(l *layout) {
	if slices.Contains(l.rack, nowhere) {
		return
	}
	l.recount()
	if _, longest := l.worst(); longest < s.longest {
		s.best, s.longest = l, longest
	}
}

// start offers two placements that cost no effort. The first only respects the slots, and moves no data over
// a link of bandwidth 0. The second places the largest task first, each task where the longest transfers become
// shortest.
func (s *solver) start(feasible *layout) {
	s.offer(feasible)
	greedy := newLayout(s.m)
	greedy.greedy(largestFirst(s.m, sequence(s.m.n)))
	s.offer(greedy)
	s.bound = s.m.floor()
	s.proven = s.closed()
}

// small reports whether the problem is small enough for a second search and for a proof within DefaultEffort.
func (s *solver) small() bool { return s.m.n*s.m.r <= 2000 }

// few reports whether the problem has at most a million placements. There are r^n placements of n tasks on r
// racks.
func (s *solver) few() bool {
	placements := 1
	for range s.m.n {
		placements *= s.m.r
		if placements > 1_000_000 {
			return false
		}
	}
	return true
}

// closed reports whether the lower bound proves that the best placement is optimal.
func (s *solver) closed() bool { return s.bound >= s.longest*(1-precise) }

// improve makes the best placement better. It solves the linear program in which tasks may be split over racks,
// and rounds its solution to whole tasks. Then it improves placements by local search, and tries to prove that the
// best placement is optimal. It skips a method that cannot help.
func (s *solver) improve() {
	if s.proven {
		return
	}
	starts := []*layout{s.best}
	relaxed := relax(s.m, s.longest, s.w)
	s.bound = max(s.bound, relaxed.best*(1-precise))
	if l, ok := rounded(s.m, relaxed.x); ok {
		starts = []*layout{l, s.best}
	}
	for i, l := range starts {
		if s.closed() || s.byDefault && s.few() || i > 0 && !s.small() {
			break // the placement is proven, or prove will soon prove it, or a second search is not worth its time
		}
		t := newSearch(l.clone(), s.bound)
		t.run(s.w, patience)
		s.offer(t.best)
	}
	s.prove()
}

const (
	// patience is a number of steps. A local search ends after this many steps without a better placement.
	patience = 1000
	// proofLimit is a number of steps. With DefaultEffort a proof may take at most this many steps.
	proofLimit = 4_000_000
)

// prove tries to prove by branch and bound that the best placement is optimal. It does nothing if this is proven
// already, or if the problem is too large for DefaultEffort.
func (s *solver) prove() {
	s.proven = s.closed()
	if s.proven || s.byDefault && !s.small() {
		return
	}
	w := s.w
	switch {
	case s.byDefault && s.few():
		w = &work{math.MaxInt64}
	case s.byDefault:
		w = &work{min(w.left, proofLimit)}
	}
	best := s.best.clone()
	bound, proven := prove(s.m, best, w)
	s.offer(best)
	s.bound = max(s.bound, bound*(1-precise))
	s.proven = proven || s.closed()
}

// assignment converts the best placement to the caller's indices of tasks and racks, and its times to seconds.
func (s *solver) assignment() Assignment {
	m := s.m
	a := Assignment{Rack: make([]int, m.n), Optimal: s.proven}
	for k, j := range s.best.rack {
		a.Rack[m.tasks[k]] = m.racks[j]
	}
	if m.r == 0 {
		return a
	}
	link, longest := s.best.worst()
	a.Bottleneck = Link{m.racks[link.Rack], link.Direction}
	a.Seconds = math.Ldexp(longest, m.exponent)
	a.Bound = math.Ldexp(min(s.bound, longest), m.exponent)
	if s.proven {
		a.Bound = a.Seconds
	}
	return a
}
