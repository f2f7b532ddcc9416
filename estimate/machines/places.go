package machines

// This file finds the index of a machine, and forgets the machine without an event for the longest time if there
// are too many.

// touch returns the index of a machine and makes the machine the newest. touch adds an unknown machine, and returns
// none for a negative number.
func (r *Record) touch(number int) int32 {
	if number < 0 {
		return none
	}
	r.begin()
	i, ok := r.places[number]
	switch {
	case !ok:
		i = r.place(number, "")
	default:
		r.makeNewest(i)
	}
	return i
}

// makeNewest moves a machine to the new end of the list.
func (r *Record) makeNewest(i int32) {
	if i == r.newest {
		return
	}
	r.unlink(i)
	r.link(i)
}

func (r *Record) link(i int32) {
	m := &r.machines[i]
	m.newer, m.older = none, r.newest
	if r.newest != none {
		r.machines[r.newest].newer = i
	} else {
		r.oldest = i
	}
	r.newest = i
}

// place adds a machine that is not yet known, with a number, a name or both.
func (r *Record) place(number int, name string) int32 {
	if r.Len() >= r.config.MaxMachines {
		r.drop(r.oldest)
	}
	i := int32(len(r.machines))
	if n := len(r.free); n > 0 {
		i = r.free[n-1]
		r.free = r.free[:n-1]
	} else {
		r.machines = append(r.machines, machine{})
	}
	r.machines[i] = machine{number: number, name: name, newer: none, older: none, flag: none}
	r.indexNames(i)
	r.progress.join()
	r.link(i)
	return i
}

// drop forgets the machine at an index.
func (r *Record) drop(i int32) {
	m := &r.machines[i]
	r.removeFromTrees(m)
	r.classes[m.class].spread.countAll(m, -1)
	r.progress.leave(m.total)
	r.unflag(i)
	r.ended.Add(-m.ended)
	r.failed.Add(-m.failed)
	r.unlink(i)
	delete(r.places, m.number)
	if m.name != "" {
		delete(r.fleet.names, m.name)
	}
	r.fleet.order = nil
	r.free = append(r.free, i)
	r.machines[i] = machine{}
}

func (r *Record) unlink(i int32) {
	m := &r.machines[i]
	if m.newer != none {
		r.machines[m.newer].older = m.older
	} else {
		r.newest = m.older
	}
	if m.older != none {
		r.machines[m.older].newer = m.newer
	} else {
		r.oldest = m.newer
	}
}

// centreTolerance is the share by which the centre of a class may move before its machines are flagged again.
const centreTolerance = 1. / 16

// flag adds a machine to the flagged machines or removes it. The flagged machines are all that may be slow or
// failing, and some that are slightly below the threshold.
func (r *Record) flag(i int32) {
	m := &r.machines[i]
	least := r.config.SlowFactor * (1 - 2*centreTolerance) * r.classes[m.class].base
	switch suspect := m.location >= least || m.failed > r.config.Trust; {
	case suspect && m.flag == none:
		m.flag = int32(len(r.flagged))
		r.flagged = append(r.flagged, i)
	case !suspect:
		r.unflag(i)
	}
}

// reflag flags all machines again if the centre of a class has moved.
func (r *Record) reflag() {
	moved := false
	for i := range r.classes {
		centre, base := r.centre(int32(i)), &r.classes[i].base
		if centre < *base*(1-centreTolerance) || centre > *base*(1+centreTolerance) {
			*base, moved = centre, true
		}
	}
	if !moved {
		return
	}
	for i := r.oldest; i != none; i = r.machines[i].newer {
		r.flag(i)
	}
}

func (r *Record) unflag(i int32) {
	at := r.machines[i].flag
	if at == none {
		return
	}
	last := len(r.flagged) - 1
	moved := r.flagged[last]
	r.flagged[at] = moved
	r.machines[moved].flag = at
	r.flagged = r.flagged[:last]
	r.machines[i].flag = none
}
