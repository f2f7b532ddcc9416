package placement

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
)

// Effort limits the work of [Assign], and so its running time. Effort counts steps of work and not seconds, so the
// answer is the same on every machine. [Within] converts a time to an effort.
type Effort int64

const (
	// DefaultEffort is 5e6 + 100 n r² + 2 n² r steps for n tasks and r racks, and at most 1e9 steps. The default
	// takes at most 5 s: about 25 ms for 20 tasks on 5 racks, 60 ms for 200 tasks on 20 racks, and 1 s for 1000 tasks
	// on 40 racks.
	DefaultEffort Effort = 0
	// Exhaustive searches until the best placement is proven. The search may take longer than anyone can wait.
	Exhaustive Effort = -1
)

// stepTime is the time of one step of work, on one core of a machine of 2020.
const stepTime = 5 * time.Nanosecond

// Within returns the effort that takes about the time d on one core of a machine of 2020. The smallest effort is 1, also
// for a time of 0 or less. Assign finds a placement with every effort, also with the smallest.
func Within(d time.Duration) Effort { return Effort(max(1, d/stepTime)) }

// Assign places every task so that the longest transfer over the 2r links of the r racks is as short as possible
// [Mantri §5.2]. A rack's uplink carries the bytes that tasks in other racks read from this rack. A rack's downlink
// carries the bytes that the rack's own tasks read from other racks. Reading inside a rack is free.
//
// Quality: with DefaultEffort, the answer is optimal if the problem has at most a million placements. In all other cases
// the answer is optimal if the proof fits into the effort. If the proof does not fit, the answer is a rounded relaxation,
// improved by local search; see the package comment. With any effort, the answer is at least as good as two simple
// placements: tasks dealt out to the racks in turn, and tasks placed one by one.
//
// Order: the same problem has the same answer on every machine. The order of tasks and racks in the problem does not
// change the quality of the answer. For answers that are not optimal, this rule has two exceptions:
//
//   - Some racks are alike in bandwidths, slots and input sizes, and differ only in the tasks that read each input.
//   - The effort is too small, or the problem too large, to improve on the two simple placements, which follow the
//     caller's order.
//
// The error names the first ill-formed number of the problem. The error also names a rack with too few slots, or a
// rack with data to move over a link of bandwidth 0.
//
// The effort bounds the running time, after a start of O(n r log(n r)) for n tasks. Memory is O(n r + r²). Assign
// allocates.
//
// The paper's formula has 2n terms, where each rack has two terms, and has no slots. Assign corrects both.
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

// solver holds the best placement and the best bound so far, while the methods take turns.
type solver struct {
	m         *model
	w         *work
	byDefault bool // the effort is DefaultEffort
	best      *layout
	longest   float64
	bound     float64
	proven    bool
}

// newSolver returns a solver with the steps of work that the effort allows.
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

// offer keeps a layout if the layout is complete and better than every layout before.
func (s *solver) offer(l *layout) {
	if slices.Contains(l.rack, nowhere) {
		return
	}
	l.recount()
	if _, longest := l.worst(); longest < s.longest {
		s.best, s.longest = l, longest
	}
}

// start makes a placement with two methods that cost no effort: a feasible layout and the greedy layout.
func (s *solver) start(feasible *layout) {
	s.offer(feasible)
	greedy := newLayout(s.m)
	greedy.greedy(largestFirst(s.m, sequence(s.m.n)))
	s.offer(greedy)
	s.bound = s.m.floor()
	s.proven = s.closed()
}

// small reports whether the problem is worth a second search and a proof, even within the default effort.
func (s *solver) small() bool { return s.m.n*s.m.r <= 2000 }

// few reports whether the problem has at most a million placements.
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

// closed reports whether the bound proves the best placement optimal.
func (s *solver) closed() bool { return s.bound >= s.longest*(1-precise) }

// improve relaxes, rounds, searches, and tries to prove that the answer is optimal. A step that cannot help is
// skipped.
func (s *solver) improve() {
	if s.proven {
		return
	}
	starts := []*layout{s.best}
	relaxed := relax(s.m, s.w)
	s.bound = max(s.bound, relaxed.best*(1-precise))
	if l, ok := rounded(s.m, relaxed.x); ok {
		starts = []*layout{l, s.best}
	}
	for i, l := range starts {
		if s.closed() || s.byDefault && s.few() || i > 0 && !s.small() {
			break // proven already, or proven soon by branch and bound, or not worth a second search
		}
		t := newSearch(l.clone(), s.bound)
		t.run(s.w, patience)
		s.offer(t.best)
	}
	s.prove()
}

const (
	// patience, in steps: a search ends after this many steps without a better placement.
	patience = 1000
	// proofLimit, in steps: a proof may use at most this part of the default effort.
	proofLimit = 4_000_000
)

// prove runs branch and bound, unless the answer is proven already or the problem is too large for the default effort.
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

// assignment converts the best placement to the caller's indices of tasks and racks, and to seconds.
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
