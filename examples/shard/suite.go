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

// suites says what is known of packages, and guesses the rest.
func (m *model) suites(sources []source) ([]suite, error) {
	all := make([]suite, len(sources))
	for i, s := range sources {
		all[i] = m.suite(s)
		all[i].at = i
	}
	g, err := newGuess(sources, all, -1)
	for i := 0; err == nil && i < len(all); i++ {
		if !all[i].known {
			all[i].fixed, err = g.of(sources[i])
		}
	}
	return all, err
}

// guess says how long new packages take, by those that are not: by package knn, from the number of their tests and
// of the lines of these, in logarithms: twice as many tests are as far from once as four times as many from twice.
// Of packages that it does not see it says the median, and if nothing at all is known, that a line takes perLine.
type guess struct {
	like  *knn.Regressor
	known []float64
}

const (
	neighbours = 7
	perLine    = .01 // seconds
)

// newGuess learns from all packages that are known except one.
func newGuess(sources []source, all []suite, except int) (g guess, err error) {
	g.like, err = knn.New(knn.Config{Dimensions: 2, Neighbours: neighbours, Keep: max(len(all), 1)})
	for i := 0; err == nil && i < len(all); i++ {
		if !all[i].known || i == except || sources[i].seen && len(sources[i].tests) == 0 {
			continue
		}
		seconds := all[i].whole()
		if g.known = append(g.known, seconds); sources[i].seen {
			err = g.like.Observe(features(sources[i]), math.Log1p(seconds*1000))
		}
	}
	return g, err
}

func features(s source) []float64 {
	return []float64{math.Log1p(float64(len(s.tests))), math.Log1p(float64(s.lines))}
}

func (g *guess) of(s source) (float64, error) {
	switch {
	case s.seen && len(s.tests) == 0:
		return 0, nil
	case len(g.known) == 0 && s.seen:
		return float64(s.lines) * perLine, nil
	case len(g.known) == 0:
		return 1, nil
	case !s.seen || g.like.Len() == 0:
		return median(g.known), nil
	}
	var p knn.Prediction
	err := g.like.Predict(&p, features(s))
	return math.Expm1(p.Mean()) / 1000, err
}

// doubt says by which factor, in half of the cases, the guess of a package is off that is known, were it new; and the
// median of all. 0 if there are too few to tell.
func doubt(sources []source, all []suite) (guessed, usual float64, err error) {
	var by, against []float64
	for i := range all {
		seconds := all[i].whole()
		if !all[i].known || !sources[i].seen || seconds < .001 {
			continue
		}
		g, err := newGuess(sources, all, i)
		if err != nil {
			return 0, 0, err
		}
		said, err := g.of(sources[i])
		if err != nil {
			return 0, 0, err
		}
		off := func(s float64) float64 { return math.Exp(math.Abs(math.Log(max(s, .001) / seconds))) }
		by, against = append(by, off(said)), append(against, off(median(g.known)))
	}
	if len(by) < neighbours {
		return 0, 0, nil
	}
	return median(by), median(against), nil
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

// fit sets what a package takes besides its tests, the median over its runs. What failed counts if nothing else is
// there.
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
