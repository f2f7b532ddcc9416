package tracker

import "github.com/straggler-go/straggler/internal/heap"

// queue holds the tasks that wait for a slot as a binary heap: most work first, lowest index first among equals. A task
// that is started while it is not at the top leaves its place in the heap for later: a task is queued at most once, and
// waits or not.
type queue struct {
	heap  []int32
	tasks []taskState // the book's
	waits int         // tasks that wait
}

// maxPassedOver bounds how many waiting tasks are looked at for one that was not tried on the machine.
const maxPassedOver = 8

// newQueue returns the queue in which all tasks wait. O(n).
func newQueue(tasks []taskState) queue {
	q := queue{heap: make([]int32, len(tasks)), tasks: tasks, waits: len(tasks)}
	for i := range q.heap {
		q.heap[i] = int32(i)
		tasks[i].flags |= waits | queued
	}
	heap.Init(q.heap, q.before)
	return q
}

// enter lets a task wait.
func (q *queue) enter(task int32) {
	s := &q.tasks[task]
	s.flags |= waits
	q.waits++
	if s.flags&queued == 0 {
		s.flags |= queued
		q.push(task)
	}
}

// leave lets a task wait no longer.
func (q *queue) leave(s *taskState) {
	if s.flags&waits != 0 {
		s.flags &^= waits
		q.waits--
	}
}

// first returns the task to start on the machine, which waits until it is started; none if no task waits.
func (q *queue) first(machine int32) int32 {
	for len(q.heap) > 0 && q.tasks[q.heap[0]].flags&waits == 0 {
		q.pop()
	}
	switch {
	case len(q.heap) == 0:
		return none
	case !q.tasks[q.heap[0]].wasTried(machine):
		return q.heap[0]
	}
	return q.passOver(machine)
}

// passOver looks behind the first waiting task, which was tried on the machine, for one that was not.
func (q *queue) passOver(machine int32) int32 {
	var passed [maxPassedOver]int32
	n, found := 0, int32(none)
	for n < len(passed) {
		task := q.pop()
		if task == none {
			break
		}
		if q.tasks[task].flags&waits == 0 {
			continue
		}
		passed[n] = task
		n++
		if !q.tasks[task].wasTried(machine) {
			found = task
			break
		}
	}
	for _, task := range passed[:n] {
		q.tasks[task].flags |= queued
		q.push(task)
	}
	if found == none && n > 0 {
		return passed[0] // tried here before, like all near the front; better than an idle slot
	}
	return found
}

func (q *queue) before(a, b int32) bool {
	if q.tasks[a].work != q.tasks[b].work {
		return q.tasks[a].work > q.tasks[b].work
	}
	return a < b
}

func (q *queue) push(task int32) { q.heap = heap.Push(q.heap, task, q.before) }

// pop takes the first task off the heap, whether it still waits or not; none if the heap is empty.
func (q *queue) pop() (task int32) {
	if len(q.heap) == 0 {
		return none
	}
	task, q.heap = heap.Pop(q.heap, q.before)
	q.tasks[task].flags &^= queued
	return task
}
