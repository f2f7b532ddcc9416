package trace

import (
	"hash/maphash"
	"strconv"
)

// taskNames has the tasks of a phase in which some tasks have names. A number is then a name like others. The map has
// hashes of the names, which need less memory than the names. The probability that two of a million names have the
// same hash is 10^-7.
type taskNames struct {
	index map[uint64]int32
	next  int32
}

var seed = maphash.MakeSeed()

// task returns the number of a task in a phase. index is its number in the log, or negative if the task has a name. A
// new name gets the next free number.
func (b *builder) task(phase int, index int32, name []byte) int32 {
	named := b.named[phase]
	if named == nil {
		if index >= 0 {
			return index
		}
		named = &taskNames{index: map[uint64]int32{}}
		for i := range b.lists[phase].n {
			task := b.lists[phase].at(i).Task
			named.index[maphash.String(seed, strconv.Itoa(int(task)))] = task
			named.next = max(named.next, task+1)
		}
		b.named[phase] = named
	}
	key := maphash.Bytes(seed, name)
	if index >= 0 {
		key = maphash.String(seed, strconv.Itoa(int(index)))
	}
	i, ok := named.index[key]
	if !ok {
		i = named.next
		named.index[key] = i
		named.next++
	}
	return i
}
