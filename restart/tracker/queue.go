package tracker

import (
	"slices"

	"github.com/straggler-go/straggler/internal/heap"
)

// queue is a binary heap of the tasks that wait for a slot. The task with the most work is first; of tasks with equal
// work, the task with the lowest index. If a task starts while it is not the first, it stays in the heap until it
// becomes the first. Each task has two flags: waits means that the task still waits, and queued means that it is in
// the heap. So no task is in the heap twice.
type queue struct {
	heap  []int32
	waits int     // number of waiting tasks
	equal bool    // all tasks have the same work, so that the order is that of the indices
	shown []int32 // memory of all
}

// maxPassedOver is how many waiting tasks the queue looks at, to find a task that was not tried on the machine.
const maxPassedOver = 8

// newQueue returns a queue in which all tasks wait. O(n) in the number of tasks.
func newQueue(tasks []taskState) queue {
	q := queue{heap: make([]int32, len(tasks)), waits: len(tasks), equal: sameWork(tasks)}
	for i := range q.heap {
		q.heap[i] = int32(i)
		tasks[i].flags |= waits | queued
	}
	heap.Init(q.heap, func(a, b int32) bool { return q.before(tasks, a, b) })
	return q
}

// sameWork reports whether all tasks have the same work.
func sameWork(tasks []taskState) bool {
	return !slices.ContainsFunc(tasks, func(s taskState) bool { return s.work != tasks[0].work })
}

// enter records that a task waits, and puts it into the heap.
func (q *queue) enter(tasks []taskState, task int32) {
	s := &tasks[task]
	s.flags |= waits
	q.waits++
	if s.flags&queued == 0 {
		s.flags |= queued
		q.push(tasks, task)
	}
}

// leave records that a task no longer waits. The task stays in the heap until it becomes the first.
func (q *queue) leave(s *taskState) {
	if s.flags&waits != 0 {
		s.flags &^= waits
		q.waits--
	}
}

// first returns the task to start on the machine; none if no task waits. The task keeps waiting until it is started.
func (q *queue) first(tasks []taskState, machine int32) int32 {
	for len(q.heap) > 0 && tasks[q.heap[0]].flags&waits == 0 {
		q.pop(tasks)
	}
	switch {
	case len(q.heap) == 0:
		return none
	case !tasks[q.heap[0]].ranOn(machine):
		return q.heap[0]
	}
	return q.passOver(tasks, machine)
}

// passOver is called if the first waiting task was tried on the machine before. It returns the next waiting task that
// was not tried there. If there is no such task among the first maxPassedOver, it returns the first waiting task.
func (q *queue) passOver(tasks []taskState, machine int32) int32 {
	var passed [maxPassedOver]int32
	n, found := 0, int32(none)
	for n < len(passed) {
		task := q.pop(tasks)
		if task == none {
			break
		}
		if tasks[task].flags&waits == 0 {
			continue
		}
		passed[n] = task
		n++
		if !tasks[task].ranOn(machine) {
			found = task
			break
		}
	}
	for _, task := range passed[:n] {
		tasks[task].flags |= queued
		q.push(tasks, task)
	}
	if found == none && n > 0 {
		return passed[0] // all these tasks were tried here; to try again is better than an idle slot
	}
	return found
}

// all ranges over the waiting tasks in their order. It takes each task from the heap, and at the end of the loop, however
// it ends, puts back those that still wait.
func (q *queue) all(tasks []taskState, yield func(task int) bool) {
	shown := q.shown[:0]
	q.shown = nil // a loop within the loop has memory of its own
	defer func() {
		for _, task := range shown {
			if s := &tasks[task]; s.flags&waits != 0 && s.flags&queued == 0 {
				s.flags |= queued
				q.push(tasks, task)
			}
		}
		q.shown = shown
	}()
	for len(q.heap) > 0 {
		task := q.pop(tasks)
		if tasks[task].flags&waits == 0 {
			continue
		}
		if shown = append(shown, task); !yield(int(task)) {
			return
		}
	}
}

// before is the order of the heap: more work first, then lower index.
func (q *queue) before(tasks []taskState, a, b int32) bool {
	if !q.equal && tasks[a].work != tasks[b].work {
		return tasks[a].work > tasks[b].work
	}
	return a < b
}

// push adds a task to the heap.
func (q *queue) push(tasks []taskState, task int32) {
	q.heap = heap.Push(q.heap, task, func(a, b int32) bool { return q.before(tasks, a, b) })
}

// pop removes the first task from the heap, even if the task no longer waits, and returns it; none if the heap is
// empty.
func (q *queue) pop(tasks []taskState) (task int32) {
	if len(q.heap) == 0 {
		return none
	}
	task, q.heap = heap.Pop(q.heap, func(a, b int32) bool { return q.before(tasks, a, b) })
	tasks[task].flags &^= queued
	return task
}

// candidates are the tasks that are worth a copy. The last decision about such a task was Copy, or the task would
// have been copied if there had been a slot, or a suitable slot, for the copy. The order has no meaning.
type candidates struct{ list []int32 }

// add adds a task to the list of candidates, unless the task is in the list already.
func (cands *candidates) add(tasks []taskState, task int32) {
	if s := &tasks[task]; s.candidate == none {
		s.candidate = int32(len(cands.list))
		cands.list = append(cands.list, task)
	}
}

// drop removes a task from the list of candidates. The last candidate takes its place in the list.
func (cands *candidates) drop(tasks []taskState, task int32) {
	at := tasks[task].candidate
	if at == none {
		return
	}
	last := cands.list[len(cands.list)-1]
	cands.list[at] = last
	tasks[last].candidate = at
	cands.list = cands.list[:len(cands.list)-1]
	tasks[task].candidate = none
}
