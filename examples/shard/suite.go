package main

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/straggler-go/straggler/estimate/knn"
)

// suite is a package and the known times of its tests, in seconds. A run of some of the tests takes
//
//	fixed + share * (sum of the times of these tests)
//
// and at least the time of the longest of these tests. Share is below 1 if tests of the package run side by side.
type suite struct {
	at           int // index in the list of all suites
	pkg          string
	tests        []test // the longest first
	fixed, share float64
	again        float64 // the overhead of one more call of go test for the package, which is linked and started once more
	known        bool    // the times are measured, not guessed
	split        bool    // at least two tests have known times, so the package can be cut
}

// test is a test and its time on the average machine.
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

// suites returns the suites of the packages. The times of a package that the history does not know are guessed.
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

// guess guesses the time of a package that the history does not know. It finds the known packages that are most
// alike, with package knn, by the logarithms of the number of tests and of the number of their lines. Because of the
// logarithms, the distance from 1 to 2 tests is the distance from 2 to 4. If the files of the package are not known,
// the guess is the median of all known packages. If no package is known at all, the guess is perLine for each line.
type guess struct {
	like  *knn.Regressor
	known []float64
}

const (
	neighbours = 7   // packages from which a guess is made
	perLine    = .01 // seconds for each line of tests
)

// newGuess returns a guess from all known packages except the package with the index except; -1 excludes none.
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

// features returns the two numbers by which packages are compared.
func features(s source) []float64 {
	return []float64{math.Log1p(float64(len(s.tests))), math.Log1p(float64(s.lines))}
}

// of returns the guessed time of a package in seconds.
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

// doubt guesses the time of each known package from the other packages, and compares the guess with the known time.
// It returns the median factor by which such a guess is wrong, and the median factor if the guess is the median of
// all packages. Both are 0 if fewer than seven packages are known.
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

// suite returns a package with the times in the history. Tests that no longer exist are left out. A test that the
// history does not know takes the median time of the tests of the package.
func (m *model) suite(s source) suite {
	all := suite{pkg: s.path, share: 1, again: m.again}
	is := map[string]bool{}
	for _, name := range s.tests {
		is[name] = true
	}
	var times []float64
	for _, of := range m.tests[s.path] {
		if seconds, ok := m.time(name{s.path, of}); ok && (!s.seen || is[of]) {
			all.tests = append(all.tests, test{of, seconds})
			if !m.skips(name{s.path, of}) {
				times = append(times, seconds)
			}
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

// fit sets the fixed time and the share of a suite to the medians over its runs. Failed runs are used only if all runs
// failed.
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
