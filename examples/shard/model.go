package main

import (
	"maps"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
)

// model predicts times from the history.
type model struct {
	*history
	record  *machines.Record
	numbers map[string]int // number of each machine in record
	tests   map[string][]string
	longest map[string]float64 // time of the longest package of each run
	again   float64            // the overhead of a call of go test, in seconds
}

// usualAgain is the overhead of a call of go test if no run has shown it, in seconds.
const usualAgain = 1

// memory is the half-life of the record of machines: an observation of this age has half its weight.
const memory = 30 * 24 * time.Hour

func newModel(h *history) (*model, error) {
	record, err := machines.New(machines.Config{HalfLife: memory})
	names := sortedNames(h.samples)
	m := &model{h, record, map[string]int{}, map[string][]string{}, map[string]float64{}, 0}
	m.again = m.usual("", usualAgain, func(_ string, r ran) (float64, bool) { return r.gap, r.gap > 0 })
	for _, n := range names {
		if n.test != "" {
			m.tests[n.pkg] = append(m.tests[n.pkg], n.test)
			continue
		}
		for id, t := range h.samples[n] {
			m.longest[id] = max(m.longest[id], t.seconds)
		}
	}
	if err == nil {
		m.learn(names)
	}
	return m, err
}

// learn adds each part of a run to the record of machines. It compares the times of the tests in this part with the
// median times of the same tests on all kinds of machines that ran them.
func (m *model) learn(names []name) {
	ran, usual := map[string]float64{}, map[string]float64{}
	for _, n := range names {
		if len(m.tests[n.pkg]) > 0 == (n.test == "") {
			continue // use the times of the tests of a package if they are known, else the time of the package
		}
		by := map[string][]float64{}
		for id, t := range m.samples[n] {
			if kind := m.runs[id].machine; !t.failed && !t.skipped {
				by[kind] = append(by[kind], t.seconds)
			}
		}
		if len(by) < 2 {
			continue // tests that only one kind of machine ran do not show how machines differ
		}
		var each []float64
		for _, times := range by {
			each = append(each, median(times))
		}
		for id, t := range m.samples[n] {
			if !t.failed && !t.skipped {
				ran[id] += t.seconds
				usual[id] += median(each)
			}
		}
	}
	for i, id := range m.order() {
		machine := m.runs[id].machine
		if _, ok := m.numbers[machine]; !ok {
			m.numbers[machine] = len(m.numbers)
		}
		if usual[id] > 0 {
			attempt := machines.Attempt{Ran: seconds(ran[id]), Usual: seconds(usual[id]), Done: 1}
			m.record.End(m.runs[id].at, m.numbers[machine], uint64(i), attempt, machines.Finished)
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(min(s, 1e9) * float64(time.Second)) }

// factor returns the time of a test on this machine divided by its time on the average machine; 1 for an unknown
// machine.
func (m *model) factor(machine string) float64 {
	number, ok := m.numbers[machine]
	if !ok {
		return 1
	}
	return m.record.Factor(number)
}

// start returns the time until the first test begins on a machine, in seconds. For a new machine it is the median of
// all.
func (m *model) start(machine string) float64 {
	return m.usual(machine, 0, func(_ string, r ran) (float64, bool) {
		return max(r.wall-r.span, 0), r.wall > 0 && r.span > 0
	})
}

// width returns the number of packages that a machine runs at once. A run in which one package takes over half of the
// time shows too small a width. Such runs are used only if there are no other runs.
func (m *model) width(machine string) float64 {
	wide := func(long bool) func(string, ran) (float64, bool) {
		return func(id string, r ran) (float64, bool) {
			return min(max(r.busy/r.span, .25), 64), r.span > 0 && r.busy > 0 && (2*m.longest[id] > r.span) == long
		}
	}
	return m.usual(machine, m.usual(machine, 1, wide(true)), wide(false))
}

// usual returns the median of a value over the runs of a machine. If there is none, it is the median over the runs of
// all machines, and if there is none either, the value otherwise.
func (m *model) usual(machine string, otherwise float64, of func(string, ran) (float64, bool)) float64 {
	var own, all []float64
	for _, id := range m.order() {
		if value, ok := of(id, m.runs[id]); ok {
			all = append(all, value)
			if m.runs[id].machine == machine {
				own = append(own, value)
			}
		}
	}
	switch {
	case len(own) > 0:
		return median(own)
	case len(all) > 0:
		return median(all)
	}
	return otherwise
}

// median returns the median, for an even number of values the mean of the two in the middle, and 0 for no values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	return (sorted[half] + sorted[(len(sorted)-1)/2]) / 2
}

// time returns the time of a test or package on the average machine, in seconds: the median over its runs. Failed
// runs are used only if all runs failed. A test that was skipped whenever it could run takes no time. It returns false
// if the history does not know the test.
func (m *model) time(n name) (float64, bool) {
	var passed, failed []float64
	known := false
	for _, id := range slices.Sorted(maps.Keys(m.samples[n])) {
		t := m.samples[n][id]
		seconds := t.seconds / m.factor(m.runs[id].machine)
		known = true
		switch {
		case t.skipped:
		case t.failed:
			failed = append(failed, seconds)
		default:
			passed = append(passed, seconds)
		}
	}
	if passed == nil {
		passed = failed
	}
	return median(passed), known
}

// skips reports whether a test was skipped in all its runs.
func (m *model) skips(n name) bool {
	return !slices.ContainsFunc(slices.Collect(maps.Values(m.samples[n])), func(t took) bool { return !t.skipped })
}
