package main

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/straggler-go/straggler/estimate/knn"
)

// suite is what is known of a package: with some of its tests it takes
//
//	fixed + share * (their times added up)
//
// and never less than the longest of them. Share is below 1 if they run beside each other.
type suite struct {
	at           int // of all
	pkg          string
	tests        []test // the longest first
	fixed, share float64
	known        bool // measured; else guessed
	split        bool // there are tests of known times, to run apart
}

type test struct {
	name    string
	seconds float64
}

// of returns the time of some of the package's tests.
func (s *suite) of(tests []test) float64 {
	sum, longest := 0., 0.
	for _, t := range tests {
		sum += t.seconds
		longest = max(longest, t.seconds)
	}
	return max(s.fixed+float64(s.share*sum), longest)
}

// suites says what is known of packages. What is new is guessed from what is not: by package knn, from the number of its
// tests and of their lines, or if these are not known the median.
func (m *model) suites(sources []source) ([]suite, error) {
	all := make([]suite, len(sources))
	guess, err := knn.New(knn.Config{Dimensions: 2, Neighbours: neighbours, Keep: max(len(sources), 1)})
	if err != nil {
		return nil, err
	}
	var known []float64
	for i, s := range sources {
		all[i] = m.suite(s)
		if all[i].at = i; all[i].known {
			whole := all[i].of(all[i].tests)
			known = append(known, whole)
			if s.seen {
				if err := guess.Add(features(s), whole); err != nil {
					return nil, err
				}
			}
		}
	}
	usual := median(known)
	for i, s := range sources {
		var p knn.Prediction
		switch {
		case all[i].known || s.seen && len(s.tests) == 0:
		case len(known) == 0 && s.seen:
			all[i].fixed = float64(s.lines) * perLine
		case len(known) == 0:
			all[i].fixed = 1
		case s.seen && guess.Predict(&p, features(s)) == nil && p.Known():
			all[i].fixed = p.Mean()
		default:
			all[i].fixed = usual
		}
	}
	return all, nil
}

// perLine is what a line of tests is taken to take in seconds as long as nothing at all is known.
const perLine = .01

// neighbours is how many packages a guess rests on.
const neighbours = 5

// features are in logarithms: twice as many tests are as far from once as four times as many from twice.
func features(s source) []float64 {
	return []float64{math.Log1p(float64(len(s.tests))), math.Log1p(float64(s.lines))}
}

// suite is what the history says of a package. Tests that are gone are left out, and new ones take what a test of the
// package does in the median.
func (m *model) suite(s source) suite {
	all := suite{pkg: s.path, share: 1}
	is := map[string]bool{}
	for _, name := range s.tests {
		is[name] = true
	}
	var times []float64
	for _, of := range m.tests[s.path] {
		if seconds, ok := m.time(name{s.path, of}); ok && (!s.seen || is[of]) {
			all.tests = append(all.tests, test{of, seconds})
			times = append(times, seconds)
		}
	}
	for _, of := range s.tests {
		if len(times) > 0 && m.samples[name{s.path, of}] == nil {
			all.tests = append(all.tests, test{of, median(times)})
		}
	}
	slices.SortStableFunc(all.tests, func(a, b test) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.name, b.name))
	})
	m.fit(&all)
	all.known = len(m.samples[name{pkg: s.path}]) > 0 || times != nil
	all.split = len(times) > 1
	return all
}

// fit sets what a package takes besides its tests, the median over its runs. What failed counts if nothing else is there.
func (m *model) fit(all *suite) {
	runs := m.samples[name{pkg: all.pkg}]
	passed := slices.ContainsFunc(slices.Collect(maps.Values(runs)), func(t took) bool { return !t.failed })
	var fixed, share []float64
	for _, id := range slices.Sorted(maps.Keys(runs)) {
		if passed && runs[id].failed {
			continue
		}
		sum := 0.
		for _, of := range m.tests[all.pkg] {
			sum += m.samples[name{all.pkg, of}][id].seconds
		}
		fixed = append(fixed, max(runs[id].seconds-sum, 0)/m.factor(m.runs[id].machine))
		if sum > 0 {
			share = append(share, min(runs[id].seconds/sum, 1))
		}
	}
	if all.fixed = median(fixed); share != nil {
		all.share = median(share)
	}
}
