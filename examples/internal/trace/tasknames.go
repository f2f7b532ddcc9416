package trace

import (
	"hash/maphash"
	"strconv"
)

// taskNames are the tasks of a phase that names some of them; a number is then a name like others. They are known by
// their hashes, which take a fraction of the memory of the names; that two of a million names have the same is as
// likely as one in 10^7.
type taskNames struct {
	index map[uint64]int32
	next  int32
}

var seed = maphash.MakeSeed()

// task returns the index of a task within a phase, given as an index or, if that is negative, as a name. Names get the
// next free index.
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
