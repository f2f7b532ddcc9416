package placement

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
)

// Effort limits how much work [Assign] does, and so how long it takes. It counts work and not time, so that the answer
// is the same on every machine. [Within] makes one from a time.
type Effort int64

const (
	// DefaultEffort grows as tasks times racks times either of them: some 25 ms for 20 tasks on 5 racks, 60 ms for 200 on
	// 20, 1 s for 1000 on 40, and 5 s at most.
	DefaultEffort Effort = 0
	// Exhaustive searches until the best placement is proven, which may be longer than anyone can wait.
	Exhaustive Effort = -1
)

// stepTime is what a step of work takes on one core of a machine of 2020.
const stepTime = 5 * time.Nanosecond

// Within returns the effort that takes about the given time on one core of a machine of 2020, and least effort for a
// time of 0 or less. Whatever the effort, a placement is found first; see [Assign].
func Within(d time.Duration) Effort { return Effort(max(1, d/stepTime)) }

// Assign places every task so that the longest transfer over the 2r links of the racks is as short as possible
// [Mantri §5.2]. A rack's uplink carries what tasks elsewhere read from it, its downlink what its own tasks read from
// elsewhere; reading inside a rack is free.
//
// With the default effort, problems of at most a million placements are solved exactly; larger ones, and all with
// another effort, as often as the proof fits into it. Otherwise the answer comes from a relaxation that is rounded and
// improved by local search; see the package comment. However small the effort, it is never worse than dealing the
// tasks out in turn or placing them one by one.
//
// The answer is the same for the same problem on every machine. It is also equally good in whatever order tasks and
// racks are listed, with two exceptions if it is not optimal: where racks are alike in bandwidth, slots and inputs but
// not in which task reads what, and where the effort, or the size of the problem, leaves nothing better than dealing
// the tasks out or placing them one by one in the order listed.
//
// Besides ill-formed figures, an error names the rack whose slots do not suffice, or that has data to move over a link
// of bandwidth 0. The cost is bounded by the effort, plus O(n r log(n r)) to start from; memory is O(n r + r²). It
// allocates.
//
// The paper's formula counts 2n terms where there are two per rack, and knows no slots; both are put right here.
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

// solver keeps the best placement and the best bound while the methods take turns.
type solver struct {
	m       *model
	w       *work
	modest  bool // the effort is the default one
	best    *layout
	longest float64
	bound   float64
	proven  bool
}

func newSolver(m *model, effort Effort) *solver {
	s := &solver{m: m, w: &work{int64(effort)}, modest: effort == DefaultEffort, longest: math.Inf(1)}
	switch effort {
	case DefaultEffort:
		n, r := float64(m.n), float64(m.r)
		s.w.left = int64(min(5e6+float64(100*n*r*r)+float64(2*n*n*r), 1e9))
	case Exhaustive:
		s.w.left = math.MaxInt64
	}
	return s
}

// offer takes a layout if it is complete and the best one so far.
func (s *solver) offer(l *layout) {
	if slices.Contains(l.rack, nowhere) {
		return
	}
	l.recount()
	if _, longest := l.worst(); longest < s.longest {
		s.best, s.longest = l, longest
	}
}

// start makes a placement that no effort rules out.
func (s *solver) start(feasible *layout) {
	s.offer(feasible)
	greedy := newLayout(s.m)
	greedy.greedy(largestFirst(s.m, sequence(s.m.n)))
	s.offer(greedy)
	s.bound = s.m.floor()
	s.proven = s.closed()
}

// small problems are worth a second search and an attempt to prove the answer best, even within the default effort.
func (s *solver) small() bool { return s.m.n*s.m.r <= 2000 }

// few reports whether there are at most a million placements.
func (s *solver) few() bool {
	placements := 1
	for range s.m.n {
		if placements *= s.m.r; placements > 1_000_000 {
			return false
		}
	}
	return true
}

func (s *solver) closed() bool { return s.bound >= s.longest*(1-precise) }

// improve relaxes, rounds, searches and tries to prove the answer best, for as long as each may help.
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
		if s.closed() || s.modest && s.few() || i > 0 && !s.small() {
			break // proven, or soon to be, or not worth a second search
		}
		t := newSearch(l.clone(), s.bound)
		t.run(s.w, patience)
		s.offer(t.best)
	}
	s.prove()
}

const (
	// patience is how many steps without a better placement end a search.
	patience = 1000
	// proofLimit is how much of the default effort may go into a proof.
	proofLimit = 4_000_000
)

func (s *solver) prove() {
	if s.proven = s.closed(); s.proven || s.modest && !s.small() {
		return
	}
	w := s.w
	switch {
	case s.modest && s.few():
		w = &work{math.MaxInt64}
	case s.modest:
		w = &work{min(w.left, proofLimit)}
	}
	best := s.best.clone()
	bound, proven := prove(s.m, best, w)
	s.offer(best)
	s.bound = max(s.bound, bound*(1-precise))
	s.proven = proven || s.closed()
}

// assignment translates the best placement into the caller's tasks, racks and seconds.
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
