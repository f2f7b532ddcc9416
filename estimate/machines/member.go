package machines

// Member identifies a phase, or another reporter of attempts, in a record. A reporter gets its Member from
// [Record.Join], and the keys of its attempts differ from the keys of other members.
type Member uint16

// Join returns a member that differs from the 65,535 members returned before. A member need not be returned: when
// its number is used again, the evidence of the earlier member has faded. A member stays valid with a restored
// record, so a host may save it.
func (r *Record) Join() Member {
	r.begin()
	m := r.members
	r.members++
	return m
}

// Key returns the key of an attempt of a task, for [Record.Running] and [Record.End]. Tasks and attempts are
// numbered from 0. The key differs from all keys of other members, and from all keys of other tasks below 2^32. For
// one task, keys repeat after 65,536 attempts.
func (m Member) Key(task, attempt int) uint64 {
	return uint64(m)<<48 | uint64(uint32(task))<<16 | uint64(uint16(attempt))
}
