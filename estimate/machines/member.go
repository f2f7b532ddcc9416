package machines

// Member is what a phase, or whoever else reports attempts, gets from a record that it joins: it tells its attempts
// from those of the others.
type Member uint16

// Join returns a member that none of the 65,535 that joined before has. Nothing has to be given back: when a number
// comes round, the evidence of the one that had it is past. A member outlives its record: it may be saved, and go on
// with the restored record.
func (r *Record) Join() Member {
	r.begin()
	m := r.members
	r.members++
	return m
}

// Key is the key of an attempt of a task, both numbered from 0, for [Record.Running] and [Record.End]. It differs from
// those of all other members, of other tasks below 2^32, and of the task's 65,535 attempts before.
func (m Member) Key(task, attempt int) uint64 {
	return uint64(m)<<48 | uint64(uint32(task))<<16 | uint64(uint16(attempt))
}
