package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/straggler-go/straggler/skew"
)

// machine is where a shard is to run: what takes a second on the average machine takes factor seconds there, width
// such things run at once, and the first begins after start seconds.
type machine struct {
	name                 string
	factor, width, start float64
}

// part is a package on a machine: all of it, or some of its tests, and the rest on one.
type part struct {
	*suite
	tests   []test
	seconds float64 // on the average machine
	whole   bool
	rest    bool   // these tests, and all that no other shard has
	others  []test // the tests that other shards have, if it is the rest
}

type shard struct {
	machine
	parts []part // the longest first
	end   float64
}

type plan struct {
	shards  []shard
	seconds float64 // the latest end
}

// packed is a plan in the making: the suites, into how many pieces each is cut, and the rule by which they are
// dealt out.
type packed struct {
	suites   []suite
	machines []machine
	pieces   []int
	policy   skew.Policy
}

const (
	micro  = 1e-6 // the unit of sizes, in seconds
	sooner = .99  // a cut more must end so much sooner
	again  = 1    // what a piece takes more, in seconds: its package is linked and started there, too
	nearly = 1.02 // so near to the ideal no more is cut
	// longestPattern bounds the tests that are named in one call: systems bound the length of an argument.
	longestPattern = 100_000
)

// newPlan says which machine runs what. A package is cut by its tests if it alone takes longer than all would with
// all cut at will; and as long as that ends 1 % sooner, the longest package of the machine that ends last.
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
	if slices.Max(p.pieces) > 1 {
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

func ones(n int) []int { return slices.Repeat([]int{1}, n) }

func (s *suite) whole() float64 { return s.of(s.tests) }

// bounded is into how many pieces a suite can be cut, if it should be into so many.
func (p *packed) bounded(i, pieces int) int {
	if s := &p.suites[i]; !s.split || s.patterns() > longestPattern {
		return 1
	}
	return max(1, min(pieces, 4*len(p.machines), len(p.suites[i].tests)))
}

// patterns is the length of the names of all tests in a pattern.
func (s *suite) patterns() (length int) {
	for _, t := range s.tests {
		length += len(t.name) + 1
	}
	return length
}

// ideal is when all would end if everything could be cut at will.
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

// longest is the longest suite of the machine that ends last that can be cut further, and into how many pieces it
// is; -1 if there is none.
func (p *packed) longest(of plan) (suite, pieces int) {
	last := slices.MaxFunc(of.shards, func(a, b shard) int { return cmp.Compare(a.end, b.end) })
	for _, part := range last.parts {
		if i := part.at; p.bounded(i, p.pieces[i]+1) > p.pieces[i] {
			return i, p.pieces[i]
		}
	}
	return -1, 0
}

// add adds a piece of a package to a shard, to another piece of it if there is one.
func (s *shard) add(p part) {
	at := slices.IndexFunc(s.parts, func(q part) bool { return q.suite == p.suite })
	if at < 0 {
		s.parts = append(s.parts, p)
		return
	}
	q := &s.parts[at]
	q.tests = append(q.tests, p.tests...)
	q.seconds = again + q.of(q.tests)
	if q.whole = len(q.tests) == len(q.suite.tests); q.whole {
		q.seconds -= again
	}
}

// finish puts the parts in order and says when the shard ends.
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

// rests gives what of a package no shard names to the shard that has most of its tests: then the fewest are to be
// named.
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
