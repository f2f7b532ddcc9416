package tracker

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/heap"
	"github.com/straggler-go/straggler/internal/pages"
)

// A growing phase gets tasks, and forgets them. The index of a task is never used again, but its row in the list of
// tasks is: so the memory of a phase is that of the tasks which it has not forgotten. A phase of a fixed number of tasks
// has no rows: the index of a task is its place in the list.

// rows is the part of the book that a growing phase needs.
type rows struct {
	of      pages.Index // the row of each task that is not forgotten
	indexes []int       // the index of the task in each row
	next    int         // the index of the next task
	free    []int32     // the rows without a task; the row of a forgotten task is free when it has left the heap of waiting tasks
	// The histories without a task.
	histories []int32
	// The tasks that have ended lately, the first to end first.
	ends ring[end]
	// The number of tasks that have ended lately, and how many of them have finished.
	ended, finished int
	// For each row, the place of the end of its task among all ends; none if its task has not finished.
	endOf []int
}

// end is the end of a task.
type end struct {
	at       time.Duration
	finished bool // the task has finished; otherwise it was forgotten before
	void     bool // the output of the task was lost after its end
}

// newRows returns the rows of the first tasks of a growing phase.
func newRows(tasks int) *rows {
	r := &rows{indexes: make([]int, tasks), next: tasks, endOf: make([]int, tasks)}
	for i := range tasks {
		r.of.Set(i, i)
		r.indexes[i], r.endOf[i] = i, none
	}
	return r
}

// row returns the row of a task; none if there is no such task.
func (b *book) row(index int) int {
	if b.rows == nil {
		return index
	}
	if row, is := b.rows.of.Row(index); is {
		return row
	}
	return none
}

// index returns the index of the task in a row.
func (b *book) index(row int32) int {
	if b.rows == nil || row == none {
		return int(row)
	}
	return b.rows.indexes[row]
}

// open returns the number of tasks that have not finished.
func (b *book) open() int {
	if b.rows == nil {
		return len(b.tasks) - b.finished
	}
	return b.rows.of.Len() - b.finished
}

// lately returns the number of tasks that have ended lately, and how many of them have finished. In a phase of a fixed
// number of tasks, these are all tasks that have finished.
func (b *book) lately() (ended, done int) {
	if b.rows == nil {
		return b.finished, b.finished
	}
	return b.rows.ended, b.rows.finished
}

// add adds a task that waits, and returns its index. Known says whether the work of the task is known.
func (b *book) add(work float64, known bool) int {
	r := b.rows
	row := int32(len(b.tasks))
	if n := len(r.free); n > 0 {
		row, r.free = r.free[n-1], r.free[:n-1]
	} else {
		b.tasks, r.indexes, r.endOf = append(b.tasks, taskState{}), append(r.indexes, 0), append(r.endOf, 0)
	}
	b.tasks[row] = newTask(work, known)
	r.indexes[row], r.endOf[row] = r.next, none
	r.of.Set(r.next, int(row))
	r.next++
	b.enter(row)
	return r.indexes[row]
}

// forget forgets a task without attempts. A task that has not finished ends now.
func (b *book) forget(row int32) {
	r, s := b.rows, &b.tasks[row]
	b.leave(s)
	b.dropCandidate(row)
	if s.flags&finished != 0 {
		b.finished--
	} else {
		r.ends.push(end{at: b.now})
		r.ended++
	}
	if s.flags&cloning != 0 {
		b.cloning = slices.DeleteFunc(b.cloning, func(other int32) bool { return other == row })
	}
	if s.history != none {
		b.histories[s.history] = newHistory()
		r.histories = append(r.histories, s.history)
		s.history = none
	}
	r.of.Delete(r.indexes[row])
	if s.flags = s.flags&queued | forgotten; s.flags&queued == 0 {
		r.free = append(r.free, row)
	}
	b.sweepQueue()
}

// sweepQueue removes from the heap the tasks that do not wait, if they are most of the heap. So the rows of forgotten
// tasks become free. Its cost is O(1) for each task that was forgotten, amortised.
func (b *book) sweepQueue() {
	if len(b.waiting.heap) <= 2*b.waiting.waits+sweepFrom {
		return
	}
	b.waiting.heap = slices.DeleteFunc(b.waiting.heap, func(row int32) bool {
		if b.tasks[row].flags&waits != 0 {
			return false
		}
		b.unqueue(row)
		return true
	})
	heap.Init(b.waiting.heap, b.before)
}

// sweepFrom is the number of tasks that do not wait from which the heap of waiting tasks is swept.
const sweepFrom = 64

// unqueue records that a task has left the heap of waiting tasks. If the task was forgotten, its row is free from now on.
func (b *book) unqueue(row int32) {
	s := &b.tasks[row]
	if s.flags &^= queued; s.flags&forgotten != 0 {
		b.rows.free = append(b.rows.free, row)
	}
}

// noteEnd records that a task has finished.
func (b *book) noteEnd(row int32) {
	if r := b.rows; r != nil {
		r.endOf[row] = r.ends.first + r.ends.n
		r.ends.push(end{at: b.now, finished: true})
		r.ended++
		r.finished++
	}
}

// voidEnd records that a task that has finished is open again. It returns false if its end was not lately.
func (b *book) voidEnd(row int32) (lately bool) {
	r := b.rows
	if r == nil {
		return true
	}
	at := r.endOf[row] - r.ends.first
	if at < 0 {
		return false
	}
	r.ends.at(at).void = true
	r.ended--
	r.finished--
	return true
}

// expire removes the ends before a time, and returns how many of them were of finished tasks.
func (b *book) expire(before time.Duration) (done int) {
	for r := b.rows; r.ends.n > 0 && r.ends.at(0).at < before; {
		switch e := r.ends.pop(); {
		case e.void:
		case e.finished:
			r.finished--
			done++
			fallthrough
		default:
			r.ended--
		}
	}
	return done
}

// ring is a list that grows at its end and shrinks at its begin. It uses its memory again.
type ring[T any] struct {
	list  []T
	head  int // index of the first item
	n     int // number of items
	first int // number of items that were removed so far
}

// at returns the i-th item.
func (r *ring[T]) at(i int) *T { return &r.list[(r.head+i)%len(r.list)] }

// push adds an item at the end. O(1) amortised.
func (r *ring[T]) push(item T) {
	if r.n == len(r.list) {
		grown := make([]T, max(2*r.n, 8))
		for i := range r.n {
			grown[i] = *r.at(i)
		}
		r.list, r.head = grown, 0
	}
	r.n++
	*r.at(r.n - 1) = item
}

// pop removes the first item.
func (r *ring[T]) pop() T {
	item := r.list[r.head]
	r.head, r.n, r.first = (r.head+1)%len(r.list), r.n-1, r.first+1
	return item
}
