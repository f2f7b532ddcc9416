package machines

// This file finds the index of a machine. If there are too many machines, it removes the machine that has had no
// event for the longest time.

// touch returns the index of the machine with the given number, and makes it the newest machine in the list of
// machines. touch adds the machine if it is not known. For a negative number touch returns none.
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

// makeNewest moves a machine to the newest end of the list of machines.
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

// place adds a machine that is not yet known, with a number, a name or both, and returns its index.
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

// drop removes the machine at index i and all evidence about it.
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

// centreTolerance is a share of the median of a class. If the median moves by more than this share, the list of
// flagged machines, which may be slow, is built again.
const centreTolerance = 1. / 16

// flag adds a machine to the list of flagged machines or removes it from the list. The list contains all machines
// that may be slow or failing, and some that are slightly below the threshold.
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

// reflag builds the list of flagged machines again if the median of a class has moved by more than a sixteenth
// since the last time.
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
