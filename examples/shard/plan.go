package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/straggler-go/straggler/skew"
)

// machine describes a machine on which a shard runs. A test that takes 1 s on the average machine takes factor
// seconds on this machine. The machine runs width packages at once. The first test begins after start seconds.
type machine struct {
	name                 string
	factor, width, start float64
}

// part is a package in a shard: the whole package, or some of its tests.
type part struct {
	*suite
	tests   []test
	seconds float64 // time on the average machine
	whole   bool
	rest    bool     // the part also runs all tests that no other shard has
	others  []test   // if rest is set: the tests of the package that other shards have
	with    []string // further whole packages in the same call
}

// shard is the work of one machine.
type shard struct {
	machine
	parts []part  // the longest first
	end   float64 // when the machine ends, in seconds
}

// plan has a shard for each machine.
type plan struct {
	shards  []shard
	seconds float64 // the latest end
}

// machines returns the machines of the shards.
func (p plan) machines() []machine {
	all := make([]machine, len(p.shards))
	for i := range p.shards {
		all[i] = p.shards[i].machine
	}
	return all
}

// packed is the input of a plan: the suites, the number of pieces into which each suite is cut, and the policy that
// assigns the pieces to the machines.
type packed struct {
	suites   []suite
	machines []machine
	pieces   []int
	policy   skew.Policy
}

const (
	micro  = 1e-6 // the unit of sizes, in seconds
	sooner = .99  // x the end of the plan before; a further cut must end at or before this
	nearly = 1.02 // x the ideal time; a plan that ends before this is not cut further
	// longestPattern is the largest length of the test names in one call, in bytes: systems bound the length of an
	// argument.
	longestPattern = 100_000
)

// newPlan assigns tests to machines. The ideal time is the end if every package could be cut at any point. A package
// that alone takes longer than the ideal time is cut into groups of its tests. Then newPlan cuts the longest package
// of the machine that ends last, again and again, as long as the plan ends 1 % sooner.
func newPlan(suites []suite, machines []machine) (plan, error) {
	p := packed{suites, machines, ones(len(suites)), skew.Policy{Refine: true}}
	best, err := p.assign()
	if err != nil {
		return plan{}, err
	}
	ideal := p.ideal()
	for i := range suites {
		p.pieces[i] = p.bounded(i, int(math.Ceil(suites[i].whole()/ideal)))
	}
	if len(suites) > 0 && slices.Max(p.pieces) > 1 {
		next, err := p.assign()
		if err != nil {
			return plan{}, err
		}
		if next.seconds < best.seconds*sooner {
			best = next
		} else {
			p.pieces = ones(len(suites))
		}
	}
	for best.seconds > ideal*nearly {
		i, before := p.longest(best)
		if i < 0 {
			break
		}
		p.pieces[i] = p.bounded(i, max(2, before+(before+1)/2))
		next, err := p.assign()
		if err != nil {
			return plan{}, err
		}
		if next.seconds >= best.seconds*sooner {
			break
		}
		best = next
	}
	return best, nil
}

// ones returns n times 1: no suite is cut.
func ones(n int) []int { return slices.Repeat([]int{1}, n) }

// whole returns the time of all tests of the suite, in seconds.
func (s *suite) whole() float64 { return s.of(s.tests) }

// bounded returns the number of pieces into which suite i can be cut, at most the given number.
func (p *packed) bounded(i, pieces int) int {
	if s := &p.suites[i]; !s.split || s.patterns() > longestPattern {
		return 1
	}
	return max(1, min(pieces, 4*len(p.machines), len(p.suites[i].tests)))
}

// patterns returns the length of a pattern with the names of all tests, in bytes.
func (s *suite) patterns() (length int) {
	for _, t := range s.tests {
		length += len(t.name) + 1
	}
	return length
}

// ideal returns the time at which all machines would end if every package could be cut at any point, in seconds.
func (p *packed) ideal() float64 {
	work, speed := 0., 0.
	for i := range p.suites {
		work += p.suites[i].whole()
	}
	least := math.Inf(1)
	byStart := func(a, b machine) int { return cmp.Compare(a.start, b.start) }
	for _, m := range slices.SortedFunc(slices.Values(p.machines), byStart) {
		if m.start >= least {
			break
		}
		speed += m.width / m.factor
		work += float64(m.start * m.width / m.factor)
		least = work / speed
	}
	return least
}

// longest returns the longest suite that can be cut further on the machine that ends last, and the number of its pieces
// now. It returns -1 if no suite there can be cut further.
func (p *packed) longest(of plan) (suite, pieces int) {
	last := slices.MaxFunc(of.shards, func(a, b shard) int { return cmp.Compare(a.end, b.end) })
	for _, part := range last.parts {
		if i := part.at; p.bounded(i, p.pieces[i]+1) > p.pieces[i] {
			return i, p.pieces[i]
		}
	}
	return -1, 0
}

// add adds a piece of a package to the shard. If the shard already has a piece of the package, the two pieces become
// one.
func (s *shard) add(p part) {
	at := slices.IndexFunc(s.parts, func(q part) bool { return q.suite == p.suite })
	if at < 0 {
		s.parts = append(s.parts, p)
		return
	}
	q := &s.parts[at]
	q.tests = append(q.tests, p.tests...)
	q.seconds = q.again + q.of(q.tests)
	if q.whole = len(q.tests) == len(q.suite.tests); q.whole {
		q.seconds -= q.again
	}
}

// finish sorts the parts, the longest first, and computes the end of the shard.
func (s *shard) finish() {
	slices.SortStableFunc(s.parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.pkg, b.pkg))
	})
	sum, longest := 0., 0.
	for _, p := range s.parts {
		sum += p.seconds
		longest = max(longest, p.seconds)
	}
	if s.end = 0; len(s.parts) == 0 {
		return
	}
	s.end = s.start + max(float64(sum*s.factor)/s.width, float64(longest*s.factor))
}

// rests chooses for each package that is cut the part that runs all tests which no other part names. It is the part
// with most tests of the package, because then the fewest tests must be named in -skip.
func (p *plan) rests() {
	most := map[*suite]*part{}
	cut := map[*suite][]*part{}
	for i := range p.shards {
		for k := range p.shards[i].parts {
			if q := &p.shards[i].parts[k]; !q.whole {
				cut[q.suite] = append(cut[q.suite], q)
				if best := most[q.suite]; best == nil || len(q.tests) > len(best.tests) {
					most[q.suite] = q
				}
			}
		}
	}
	for s, best := range most {
		best.rest = true
		for _, q := range cut[s] {
			if q != best {
				best.others = append(best.others, q.tests...)
			}
		}
	}
}
