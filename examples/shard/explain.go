package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// unit is a test, or a package that cannot be cut.
type unit struct {
	name
	suite   int
	seconds float64
}

// units returns the units of the suites, the longest first.
func units(suites []suite) (all []unit) {
	for i := range suites {
		s := &suites[i]
		whole := s.whole()
		if !s.split {
			all = append(all, unit{name{pkg: s.pkg}, i, whole})
			continue
		}
		for k, t := range s.tests {
			all = append(all, unit{name{s.pkg, t.name}, i, min(whole, s.again+s.of(s.tests[k:k+1]))})
		}
	}
	slices.SortStableFunc(all, func(a, b unit) int { return cmp.Compare(b.seconds, a.seconds) })
	return all
}

// nextUnits is the number of units that explain prints after the floor.
const nextUnits = 3

// explain prints the floor of the plan, and the plan that would be possible if the floor were cut.
func (r *report) explain(out io.Writer) error {
	all := units(r.suites)
	if len(all) == 0 {
		return nil
	}
	machines, first := r.machines(), all[0]
	fmt.Fprintf(out, "The floor is %s: it takes %s, so no number of machines ends before %s.\n", first.name,
		duration(first.seconds), duration(r.floor))
	if ideal := (&packed{suites: r.suites, machines: machines}).ideal(); ideal > r.floor {
		fmt.Fprintf(out, "It does not decide this plan: the work of all tests takes these machines %s.\n", duration(ideal))
	} else {
		suites := slices.Clone(r.suites)
		n := max(int(math.Ceil(first.seconds/ideal)), 2)
		suites[first.suite] = suites[first.suite].divided(first, n)
		of, err := newPlan(suites, machines)
		if err != nil {
			return err
		}
		if of.seconds > r.seconds*sooner {
			fmt.Fprintf(out, "To cut it would bring nothing: each further piece of a package costs a call of go test, %s.\n",
				duration(r.again))
		} else {
			fmt.Fprintf(out,
				"If it were cut into %d pieces of the same time, these machines would end after %s instead of %s "+
					"(%.0f %% sooner).\n",
				n, duration(of.seconds), duration(r.seconds), 100*(1-of.seconds/r.seconds))
		}
	}
	for _, u := range all[1:min(1+nextUnits, len(all))] {
		fmt.Fprintf(out, "next: %s, %s\n", duration(u.seconds), u.name)
	}
	return nil
}

// divided returns the suite with a unit cut into n tests of the same time.
func (s suite) divided(u unit, n int) suite {
	if s.split {
		at := slices.IndexFunc(s.tests, func(t test) bool { return t.name == u.test })
		each := s.tests[at].seconds / float64(n)
		s.tests = slices.Delete(slices.Clone(s.tests), at, at+1)
		for i := range n {
			s.tests = append(s.tests, test{fmt.Sprintf("%s piece %d", u.test, i+1), each})
		}
		return s
	}
	s.tests = nil
	for i := range n {
		s.tests = append(s.tests, test{fmt.Sprintf("piece %d", i+1), u.seconds / float64(n)})
	}
	s.fixed, s.share, s.split = 0, 1, true
	return s
}
