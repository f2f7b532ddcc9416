package machines

// Member identifies a phase, or another reporter of attempts, in a record. A reporter gets its Member from
// [Record.Join]. The keys that a Member gives to attempts differ from the keys of other members.
type Member uint16

// Join returns a new member. The member differs from the 65,535 members that were returned before it. There is no
// call to give a member back: when its number is used again, the evidence of the earlier member has faded. After a
// record is restored from a snapshot, its members are still valid, so a host may save them.
func (r *Record) Join() Member {
	r.begin()
	m := r.members
	r.members++
	return m
}

// Key returns a number that identifies an attempt of a task in [Record.Running] and [Record.End]. Tasks and
// attempts are numbered from 0. The key differs from all keys of other members, and from all keys of other tasks
// below 2^32. For a single task, keys repeat after 65,536 attempts.
func (m Member) Key(task, attempt int) uint64 {
	return uint64(m)<<48 | uint64(uint32(task))<<16 | uint64(uint16(attempt))
}
