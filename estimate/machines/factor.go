package machines

import (
	"slices"

	"github.com/straggler-go/straggler/estimate"
)

// find brings what is concluded about a machine up to date with its evidence and with the time.
func (r *Record) find(i int32) {
	m := &r.machines[i]
	now, memory := r.clock.Since, r.config.HalfLife
	r.take(m)
	var s sample
	var ended, failed float64
	for _, e := range m.past[:m.pasts] {
		left := fade(now-e.at, memory)
		ended += left
		if e.failed {
			failed += left
		}
		if e.kind != silent {
			s.add(weighed{float64(e.ratio), e.weight(now, memory), e.kind == bound})
		}
	}
	for _, e := range m.present[:m.presents] {
		if e.kind != silent {
			s.add(weighed{float64(e.ratio), e.weight(now, memory), e.kind == bound})
		}
	}
	m.found, m.weight = now, s.weight
	centre, known := r.centre(m.class), false
	s.add(weighed{centre, r.config.Trust, false})
	if m.location, known = s.median(); !known {
		m.location = r.posterior(m, centre)
	}
	if m.known = m.weight > 0; m.known {
		r.all.Insert(m.location)
		r.levels.found = false
		r.classes[m.class].locations.Insert(m.location)
	}
	r.ended.Add(ended - m.ended)
	r.failed.Add(failed - m.failed)
	m.ended, m.failed = ended, failed
	r.flag(i)
}

// take takes a machine out of the trees.
func (r *Record) take(m *machine) {
	if m.known {
		r.all.Delete(m.location)
		r.levels.found = false
		r.classes[m.class].locations.Delete(m.location)
		m.known = false
	}
}

// refresh finds a machine's factor again if its evidence has faded since.
func (r *Record) refresh(i int32) {
	if r.clock.Since-r.machines[i].found > r.config.HalfLife/16 {
		r.find(i)
	}
}

// centre returns the lower median of a class's machines: half of them are no slower, and that half is never called
// slow. A class of which nothing is known is average.
func (r *Record) centre(class int32) float64 {
	c := &r.classes[class].locations
	if c.Len() == 0 {
		return r.average()
	}
	return c.At((c.Len() - 1) / 2)
}

// average is the lower median of all machines.
func (r *Record) average() float64 {
	if !r.levels.found {
		r.levels.find(&r.all)
	}
	return r.levels.average
}

// levels are the locations that many answers need. They are found once for each change of the locations.
type levels struct {
	found   bool
	average float64    // the lower median; 1 if there is none
	best    [2]float64 // the least and the second
}

func (l *levels) find(all *estimate.Empirical) {
	*l = levels{found: true, average: 1}
	if n := all.Len(); n > 0 {
		l.average, l.best = all.At((n-1)/2), [2]float64{all.At(0), all.At(1)}
	}
}

// Factor returns locationFactor of a machine: how many times longer than on the average machine, the median one, a task
// takes there. It is 1 for a machine of which nothing is known, and that of its class if only that is known.
func (r *Record) Factor(machine int) float64 {
	r.settle()
	i, ok := r.places.get(machine)
	if !ok {
		return 1
	}
	r.refresh(i)
	m := &r.machines[i]
	if !m.known {
		return r.centre(m.class) / r.average()
	}
	return m.location / r.average()
}

// Elsewhere returns the factor that a copy can count on if it runs on none of the given machines: that of the best
// other one, but no better than average, since which machine will be free is not known, and the best of many
// estimates flatters. Known is how many others the record knows something of; if the host has more machines than
// that, the rest count as average, and the answer is 1. O(k log m) for k machines; it allocates only if k is larger
// than ever before.
func (r *Record) Elsewhere(machines ...int) (factor float64, known int) {
	r.settle()
	if len(machines) == 1 { // most tasks have one copy
		return r.elsewhere(machines[0])
	}
	r.asked = append(r.asked[:0], machines...)
	slices.Sort(r.asked)
	r.own = r.own[:0]
	for _, number := range slices.Compact(r.asked) {
		if i, ok := r.places.get(number); ok && r.machines[i].known {
			r.own = append(r.own, r.machines[i].location)
		}
	}
	slices.Sort(r.own)
	known = r.all.Len() - len(r.own)
	if known == 0 {
		return 1, 0
	}
	best := 0
	for _, location := range r.own {
		if r.all.Rank(location) <= best {
			best++
		}
	}
	return max(1, r.all.At(best)/r.average()), known
}

// elsewhere is Elsewhere for one machine.
func (r *Record) elsewhere(machine int) (factor float64, known int) {
	i, ok := r.places.get(machine)
	ok = ok && r.machines[i].known
	if known = r.all.Len(); ok {
		known--
	}
	if known == 0 {
		return 1, 0
	}
	average := r.average() // it finds the levels anew
	best := r.levels.best[0]
	if ok && r.machines[i].location <= best {
		best = r.levels.best[1]
	}
	return max(1, best/average), known
}
