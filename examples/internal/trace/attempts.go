package trace

import "runtime"

// manyAttempts is from when on it pays to collect garbage first of all.
const manyAttempts = 1 << 18

// chunk is how many attempts are held in one piece while a log is read. A slice that grew by appending would leave
// behind several times what it holds.
const chunk = 4096

// attemptList is the attempts of a phase while the log is read.
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

// at returns the attempt of an index, to be used before the next one is added.
func (l *attemptList) at(i int) *Attempt { return &l.chunks[i/chunk][i%chunk] }

// join returns all attempts in one piece and empties the list.
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

// attemptRef is where an attempt is: its phase, and its index there in the order of the log.
type attemptRef struct{ phase, index int32 }

// nowhere is the place of an attempt that belongs to no phase.
var nowhere = attemptRef{index: -1}

// add adds an attempt to a phase.
func (b *builder) add(phase int, a Attempt) attemptRef {
	return attemptRef{int32(phase), int32(b.lists[phase].push(a))}
}

// attempt returns an attempt, to be used before the next one is added.
func (b *builder) attempt(ref attemptRef) *Attempt { return b.lists[ref.phase].at(int(ref.index)) }

// count is how many attempts a phase has so far, as the index of a task that the log does not number.
func (b *builder) count(phase int) int32 { return int32(min(b.lists[phase].n, maxTask-1)) }

// join brings the attempts into their phases. What was needed to find tasks by their names is given up before that.
func (b *builder) join() {
	b.named = nil
	total := 0
	for i := range b.lists {
		total += b.lists[i].n
	}
	if total > manyAttempts {
		runtime.GC() // what was read in between and is needed no more would stand beside two copies of the attempts
	}
	for i := range b.lists {
		if attempts := b.lists[i].join(); attempts != nil {
			b.log.Phases[i].Attempts = attempts
		}
	}
}

// taskRefs finds attempts by Spark's task IDs, which count up from 0: in a slice, or, what is far from the others, in
// a map.
type taskRefs struct {
	dense []attemptRef // the index is one too high; 0 is none
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
