package main

import (
	"maps"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
)

// model is what the history says of the times to come.
type model struct {
	*history
	record  *machines.Record
	numbers map[string]int // of machines, in the record
	tests   map[string][]string
	longest map[string]float64 // package of a run
}

// memory is the age at which what was seen of a machine counts half.
const memory = 30 * 24 * time.Hour

func newModel(h *history) (*model, error) {
	record, err := machines.New(machines.Config{HalfLife: memory})
	names := sortedNames(h.samples)
	m := &model{h, record, map[string]int{}, map[string][]string{}, map[string]float64{}}
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

// learn tells the record of each part of a run: what its tests took, against what they take on the machines that
// ran them.
func (m *model) learn(names []name) {
	ran, usual := map[string]float64{}, map[string]float64{}
	for _, n := range names {
		if len(m.tests[n.pkg]) > 0 == (n.test == "") {
			continue // a package is its tests, if they are known
		}
		by := map[string][]float64{}
		for id, t := range m.samples[n] {
			if kind := m.runs[id].machine; !t.failed {
				by[kind] = append(by[kind], t.seconds)
			}
		}
		if len(by) < 2 {
			continue // that says nothing of how the machines differ
		}
		var each []float64
		for _, times := range by {
			each = append(each, median(times))
		}
		for id, t := range m.samples[n] {
			if !t.failed {
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

// factor says how many times longer than on the average machine things take on this one.
func (m *model) factor(machine string) float64 {
	number, ok := m.numbers[machine]
	if !ok {
		return 1
	}
	return m.record.Factor(number)
}

// start says how long a machine takes until its first test begins; one that is new, as the others.
func (m *model) start(machine string) float64 {
	return m.usual(machine, 0, func(_ string, r ran) (float64, bool) {
		return max(r.wall-r.span, 0), r.wall > 0 && r.span > 0
	})
}

// width says how many packages a machine runs at once. A run of which one package took most could have had no more
// at once than it had: it counts if there is no other.
func (m *model) width(machine string) float64 {
	wide := func(long bool) func(string, ran) (float64, bool) {
		return func(id string, r ran) (float64, bool) {
			return min(max(r.busy/r.span, .25), 64), r.span > 0 && r.busy > 0 && (2*m.longest[id] > r.span) == long
		}
	}
	return m.usual(machine, m.usual(machine, 1, wide(true)), wide(false))
}

// usual is the median of something over the runs of a machine, or else of all.
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

// median of an even number is the mean of the two in the middle; of none 0.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	return (sorted[half] + sorted[(len(sorted)-1)/2]) / 2
}

// time is what something takes on the average machine: the median over its runs, if it is known. What failed counts
// if nothing else does.
func (m *model) time(n name) (float64, bool) {
	var passed, failed []float64
	for _, id := range slices.Sorted(maps.Keys(m.samples[n])) {
		t := m.samples[n][id]
		seconds := t.seconds / m.factor(m.runs[id].machine)
		if t.failed {
			failed = append(failed, seconds)
		} else {
			passed = append(passed, seconds)
		}
	}
	if passed == nil {
		passed = failed
	}
	return median(passed), passed != nil
}
