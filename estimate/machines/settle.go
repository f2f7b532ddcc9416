package machines

import (
	"cmp"
	"slices"

	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
)

// This file keeps the evidence of all processes in the same order in each process. So the result does not depend on
// the order in which evidence arrives.

// put stores the evidence of an ended attempt at its position in the order that all processes use. If the machine
// already has enough newer evidence, put ignores the attempt.
func (r *Record) put(m *machine, e evidence, by merge.Origin) {
	place, gone, from, first := int(m.pasts), none, 0, none
	for j := int(m.pasts) - 1; j >= 0 && by != merge.Nobody; j-- {
		switch order := r.fleet.compare(e, m.past[j], by, m.by[j]); {
		case order == 0:
			return
		case order < 0:
			place = j
		}
		if r.fleet.origins.Same(by, m.by[j]) {
			from, first = from+1, j
		}
	}
	switch {
	case from == maxFromOne:
		gone = first
	case m.pasts == recent:
		gone = 0
	}
	times := &r.classes[m.class].spread
	if gone != none {
		if place <= gone {
			return // the new evidence is older than the evidence that it would replace
		}
		times.count(m.past[gone], -1)
		m.remove(gone, gone+1)
		place--
	}
	times.count(e, 1)
	copy(m.past[place+1:], m.past[place:m.pasts])
	copy(m.by[place+1:], m.by[place:m.pasts])
	m.past[place], m.by[place] = e, by
	m.pasts++
}

// remove removes the ended attempts with the indexes from, from+1, ..., to-1.
func (m *machine) remove(from, to int) {
	copy(m.past[from:], m.past[to:m.pasts])
	copy(m.by[from:], m.by[to:m.pasts])
	m.pasts -= uint8(to - from)
}

// compare compares two ended attempts by the order that all processes use: by instant, then by origin, then by
// content. The argument named of is the origin of a, and the argument by is the origin of b.
func (f *fleet) compare(a, b evidence, of, by merge.Origin) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Or(f.origins.Compare(of, by), cmp.Compare(a.ratio, b.ratio),
		cmp.Compare(a.seen, b.seen), cmp.Compare(a.bits(), b.bits()))
}

// settle computes the factors of all machines again after a merge. settle uses only the evidence, machine by
// machine in the order of the names. So the order in which evidence arrived does not matter.
func (r *Record) settle() {
	if !r.fleet.merged {
		return
	}
	r.fleet.merged = false
	r.forgetOld()
	r.all.Reset()
	r.levels.found = false
	for i := range r.classes {
		r.classes[i].locations.Reset()
	}
	r.ended, r.failed = num.Sum{}, num.Sum{}
	order := r.byName()
	for _, i := range order {
		m := &r.machines[i]
		m.known, m.ended, m.failed = false, 0, 0
	}
	// The result for a machine depends on the other machines. In the first round, each machine knows only the
	// machines that come before it. In the second round, each machine knows all machines.
	for range 2 {
		for _, i := range order {
			r.update(i)
		}
	}
	for i := range r.classes {
		r.classes[i].base = r.centre(int32(i))
	}
	for _, i := range order {
		r.flag(i)
	}
}

// forgetOld removes evidence that no other process would accept, because it is too old or too far in the future.
func (r *Record) forgetOld() {
	c := r.config.choices()
	since, by := c.Since(r.clock.Since), c.By(r.clock.Since)
	for i := r.newest; i != none; i = r.machines[i].older {
		m, old := &r.machines[i], 0
		for old < int(m.pasts) && m.past[old].at < since {
			r.classes[m.class].spread.count(m.past[old], -1)
			old++
		}
		m.remove(0, old)
		for n := m.pasts; n > 0 && m.past[n-1].at > by; n-- {
			r.classes[m.class].spread.count(m.past[n-1], -1)
			m.pasts--
		}
	}
	r.fleet.origins.Forget(since, by)
}

// byName returns the indexes of all machines in the order that all processes use: by name. Machines without a name
// come last, sorted by number.
func (r *Record) byName() []int32 {
	if r.fleet.order == nil {
		for i := r.newest; i != none; i = r.machines[i].older {
			r.fleet.order = append(r.fleet.order, i)
		}
		slices.SortFunc(r.fleet.order, func(a, b int32) int {
			x, y := &r.machines[a], &r.machines[b]
			if (x.name == "") != (y.name == "") {
				return cmp.Compare(y.name, x.name)
			}
			return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.number, y.number))
		})
	}
	return r.fleet.order
}
