package machines

import (
	"slices"

	"github.com/straggler-go/straggler/estimate"
)

// update computes the location of a machine again. The location is the median of time divided by typical time, over
// the attempts on the machine and with their present weights.
func (r *Record) update(i int32) {
	m := &r.machines[i]
	now, memory := r.clock.Since, r.config.HalfLife
	r.removeFromTrees(m)
	var s sample
	var ended, failed float64
	for _, e := range m.past[:m.pasts] {
		left := fade(now-e.at, memory)
		ended += left
		if e.failed {
			failed += left
		}
		if e.kind != silent {
			s.add(weightedRatio{float64(e.ratio), e.weight(now, memory), e.kind == bound})
		}
	}
	for _, e := range m.present[:m.presents] {
		if e.kind != silent {
			s.add(weightedRatio{float64(e.ratio), e.weight(now, memory), e.kind == bound})
		}
	}
	m.found, m.weight = now, s.weight
	centre, known := r.centre(m.class), false
	s.add(weightedRatio{centre, r.config.Trust, false})
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

// removeFromTrees removes the location of a machine from the two sorted sets of locations: all machines, and the
// machines of its class.
func (r *Record) removeFromTrees(m *machine) {
	if m.known {
		r.all.Delete(m.location)
		r.levels.found = false
		r.classes[m.class].locations.Delete(m.location)
		m.known = false
	}
}

// refresh updates a machine if the weights of its attempts have faded noticeably since its last update.
func (r *Record) refresh(i int32) {
	if r.clock.Since-r.machines[i].found > r.config.HalfLife/16 {
		r.update(i)
	}
}

// centre returns the lower median of the locations of a class. At least half of the machines of the class are no
// slower than the centre, and these machines are never called slow. If no machine of the class has evidence, centre
// returns the lower median of all machines.
func (r *Record) centre(class int32) float64 {
	c := &r.classes[class].locations
	if c.Len() == 0 {
		return r.average()
	}
	return c.At((c.Len() - 1) / 2)
}

// average returns the lower median of the locations of all machines.
func (r *Record) average() float64 {
	if !r.levels.found {
		r.levels.find(&r.all)
	}
	return r.levels.average
}

// levels are a few locations that many answers need: the median and the two smallest. They are computed a single
// time after each change of the locations.
type levels struct {
	found   bool
	average float64    // the lower median; 1 if there are no locations
	best    [2]float64 // the smallest and the second smallest location
}

func (l *levels) find(all *estimate.Empirical) {
	*l = levels{found: true, average: 1}
	if n := all.Len(); n > 0 {
		l.average, l.best = all.At((n-1)/2), [2]float64{all.At(0), all.At(1)}
	}
}

// Factor returns how many times longer a task takes on a machine than on the median machine of the cluster. The
// paper calls a part of this locationFactor. If the record has no evidence about the machine, Factor returns the
// factor of the machine's class. If there is no evidence about the class either, or if the machine is not known,
// Factor returns 1.
func (r *Record) Factor(machine int) float64 {
	r.settle()
	i, ok := r.places[machine]
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

// Elsewhere returns the factor that a copy or a restart can expect if it runs on none of the given machines. The
// answer is the factor of the best other machine, but at least 1. The answer is not lower for two reasons: the host
// does not know which machine will be free, and the best of many estimates is usually too good.
//
// known is the number of other machines about which the record has evidence. If the host has more machines than
// known, the rest are treated as average, and the host should use the factor 1. Elsewhere takes O(k log m) for k
// given machines of m. It allocates only if k is larger than ever before.
func (r *Record) Elsewhere(machines ...int) (factor float64, known int) {
	r.settle()
	if len(machines) == 1 { // most tasks have a single attempt
		return r.elsewhere(machines[0])
	}
	r.asked = append(r.asked[:0], machines...)
	slices.Sort(r.asked)
	r.own = r.own[:0]
	for _, number := range slices.Compact(r.asked) {
		if i, ok := r.places[number]; ok && r.machines[i].known {
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

// elsewhere returns the same result as Elsewhere, for a single machine.
func (r *Record) elsewhere(machine int) (factor float64, known int) {
	i, ok := r.places[machine]
	ok = ok && r.machines[i].known
	if known = r.all.Len(); ok {
		known--
	}
	if known == 0 {
		return 1, 0
	}
	average := r.average() // this call also computes r.levels again, if necessary
	best := r.levels.best[0]
	if ok && r.machines[i].location <= best {
		best = r.levels.best[1]
	}
	return max(1, best/average), known
}
