package trace

import "runtime"

// manyAttempts is the number of attempts from which a garbage collection before join saves memory.
const manyAttempts = 1 << 18

// chunk is the number of attempts in one piece of memory while a log is read. A growing slice would leave several
// times its size as garbage.
const chunk = 4096

// attemptList has the attempts of a phase while the log is read.
type attemptList struct {
	chunks [][]Attempt
	n      int
}

// push adds an attempt and returns its index.
func (l *attemptList) push(a Attempt) int {
	last := len(l.chunks) - 1
	if last < 0 || len(l.chunks[last]) == chunk {
		var next []Attempt // most phases are small
		if last >= 0 {
			next = make([]Attempt, 0, chunk)
		}
		l.chunks = append(l.chunks, next)
		last++
	}
	l.chunks[last] = append(l.chunks[last], a)
	l.n++
	return l.n - 1
}

// at returns the attempt with an index. It is valid until the next push.
func (l *attemptList) at(i int) *Attempt { return &l.chunks[i/chunk][i%chunk] }

// join returns all attempts in one slice, and empties the list.
func (l *attemptList) join() []Attempt {
	if l.n == 0 {
		return nil
	}
	all := l.chunks[0]
	if len(l.chunks) > 1 {
		all = make([]Attempt, 0, l.n)
		for i, c := range l.chunks {
			all = append(all, c...)
			l.chunks[i] = nil
		}
	}
	*l = attemptList{}
	return all
}

// attemptRef refers to an attempt: its phase, and its index there in the order of the log.
type attemptRef struct{ phase, index int32 }

// nowhere is the reference of an attempt that belongs to no phase.
var nowhere = attemptRef{index: -1}

// add adds an attempt to a phase.
func (b *builder) add(phase int, a Attempt) attemptRef {
	return attemptRef{int32(phase), int32(b.lists[phase].push(a))}
}

// attempt returns an attempt. It is valid until the next attempt is added.
func (b *builder) attempt(ref attemptRef) *Attempt { return b.lists[ref.phase].at(int(ref.index)) }

// count returns the number of attempts of a phase so far. It is the number of the next task if the log does not
// number tasks.
func (b *builder) count(phase int) int32 { return int32(min(b.lists[phase].n, maxTask-1)) }

// join moves the attempts into their phases. It first frees the memory that was needed to find tasks by name.
func (b *builder) join() {
	b.named = nil
	total := 0
	for i := range b.lists {
		total += b.lists[i].n
	}
	if total > manyAttempts {
		runtime.GC() // frees memory that is not needed any more, before the attempts are copied
	}
	for i := range b.lists {
		if attempts := b.lists[i].join(); attempts != nil {
			b.log.Phases[i].Attempts = attempts
		}
	}
}

// taskRefs finds attempts by Spark's task IDs, which count up from 0. They are in a slice; IDs far from the others
// are in a map.
type taskRefs struct {
	dense []attemptRef // each index is stored plus 1; 0 is no attempt
	far   map[int64]attemptRef
}

func (t *taskRefs) get(id int64) (ref attemptRef, ok bool) {
	if id >= 0 && id < int64(len(t.dense)) && t.dense[id].index > 0 {
		ref = t.dense[id]
		ref.index--
		return ref, true
	}
	ref, ok = t.far[id]
	return ref, ok
}

func (t *taskRefs) set(id int64, ref attemptRef) {
	if near := 2*int64(len(t.dense)) + chunk; id >= near {
		if t.far == nil {
			t.far = map[int64]attemptRef{}
		}
		t.far[id] = ref
		return
	}
	for int64(len(t.dense)) <= id {
		t.dense = append(t.dense, attemptRef{})
	}
	t.dense[id] = attemptRef{ref.phase, ref.index + 1}
}
