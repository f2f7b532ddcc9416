package engine

import (
	"slices"

	"github.com/straggler-go/straggler/internal/pages"
)

// rows is the part of the book that a growing phase needs: each task that is not forgotten has a row in book.tasks.
type rows struct {
	of      pages.Index // the row of each task
	indexes []int       // the index of the task in each row; -1 if the row is free
	free    []int       // the free rows
	next    int         // the index of the next task
	spare   *attempt    // memory of forgotten attempts, each with a pointer to the next
	leaving []int       // the tasks that are to be forgotten when they are over and have no open request
}

// newRows returns the rows of the first tasks of a growing phase.
func newRows(tasks int) *rows {
	r := &rows{indexes: make([]int, tasks), next: tasks}
	for i := range tasks {
		r.of.Set(i, i)
		r.indexes[i] = i
	}
	return r
}

// newTask returns a task without attempts.
func newTask() task { return task{} }

// task returns the state of a task that the phase has.
func (b *book) task(index int) *task {
	if b.rows != nil {
		index, _ = b.rows.of.Row(index)
	}
	return &b.tasks[index]
}

// has reports whether the phase has a task with this index.
func (b *book) has(index int) bool {
	if b.rows == nil {
		return index >= 0 && index < len(b.tasks)
	}
	_, is := b.rows.of.Row(index)
	return is
}

// forgot reports whether the phase had a task with this index, and has forgotten it.
func (b *book) forgot(index int) bool {
	return b.rows != nil && index >= 0 && index < b.rows.next && !b.has(index)
}

// next returns the index of the next task.
func (b *book) next() int {
	if b.rows == nil {
		return len(b.tasks)
	}
	return b.rows.next
}

// count returns the number of tasks.
func (b *book) count() int {
	if b.rows == nil {
		return len(b.tasks)
	}
	return b.rows.of.Len()
}

// all ranges over the tasks with their indexes, in the order of their rows.
func (b *book) all(yield func(index int, t *task) bool) {
	for row := range b.tasks {
		index := row
		if b.rows != nil {
			index = b.rows.indexes[row]
		}
		if index >= 0 && !yield(index, &b.tasks[row]) {
			return
		}
	}
}

// Add adds a task to a growing phase (Config.Recent), and returns its index: one more than that of the task before. An index
// is never used again. Work is the amount of work of the task, as in Config.Work; a negative or NaN number is unknown. The
// next Poll or Push submits the task, unless the phase is Preloaded. In a phase of a fixed number of tasks, Add returns -1.
//
// A host that saves snapshots also saves which of its jobs has which index. After [Restore] it adds the jobs that came since
// the snapshot. A job may then get an index, and its attempts IDs, that another job had after the snapshot. So let the name
// of an attempt in the engine begin with the name of its job. O(log n), amortised.
func (p *Phase) Add(work float64) (task int) {
	if task = p.ready().Add(work); task < 0 {
		return task
	}
	b := &p.book
	r, row := b.rows, len(b.tasks)
	if n := len(r.free); n > 0 {
		row, r.free = r.free[n-1], r.free[:n-1]
	} else {
		b.tasks, r.indexes = append(b.tasks, newTask()), append(r.indexes, 0)
	}
	r.of.Set(task, row)
	r.indexes[row] = task
	r.next = task + 1
	return task
}

// Forget says that the host needs to know nothing more about a task of a growing phase. A task that is not over is given up:
// its attempts are cancelled, and no Turn lists it among its GivenUp. As soon as the task has no open request, the phase
// forgets it, and uses its memory again. From then on, Poll returns a Cancel for each attempt of the task that the engine
// shows and that has not ended.
//
// Forget changes nothing if there is no such task, or if the phase has a fixed number of tasks. O(attempts of the task).
func (p *Phase) Forget(task int) {
	if p.ready(); p.book.rows == nil || !p.book.has(task) || p.book.task(task).leaving {
		return
	}
	t := p.book.task(task)
	t.leaving = true
	if !t.over {
		p.scratch.live = t.live(p.scratch.live)
		for _, a := range p.scratch.live {
			p.tracker.Kill(p.time.now, task, a.number)
			p.markDying(a)
			a.why, a.firstAsked, a.lastAsked, a.repeats = nil, p.time.clock.Since, never, 0
			p.book.addPending(a) // the next call returns the Cancel
		}
		p.book.endTask(t, nil)
		t.givenUp = true
	}
	if p.forget(task) {
		return
	}
	if p.tracker.Task(task).Waits {
		p.tracker.GiveUp(p.time.now, task)
	}
	p.book.rows.leaving = append(p.book.rows.leaving, task)
}

// forgetLeaving forgets the tasks that the host needs no more and that have no open request any more.
func (p *Phase) forgetLeaving() {
	if r := p.book.rows; r != nil {
		r.leaving = slices.DeleteFunc(r.leaving, p.forget)
	}
}

// forget forgets a task that is over, unless it has an open request. It reports whether it has forgotten the task.
func (p *Phase) forget(task int) bool {
	b := &p.book
	t := b.task(task)
	for a := t.past; a != nil; a = a.older {
		if a.pending || !a.ended {
			return false
		}
	}
	for a := t.past; a != nil; {
		next := a.older
		delete(b.attempts, a.id)
		*a = attempt{older: b.rows.spare}
		b.rows.spare, a = a, next
	}
	if t.listed {
		b.resting = slices.DeleteFunc(b.resting, func(other int) bool { return other == task })
	}
	if t.again {
		b.again = slices.DeleteFunc(b.again, func(other int) bool { return other == task })
	}
	delete(p.shown, task)
	b.over--
	b.free(task)
	p.tracker.Forget(task)
	return true
}

// free makes the row of a task free.
func (b *book) free(task int) {
	row, _ := b.rows.of.Row(task)
	b.rows.of.Delete(task)
	b.tasks[row], b.rows.indexes[row] = newTask(), -1
	b.rows.free = append(b.rows.free, row)
}
