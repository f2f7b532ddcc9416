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

// fillQueue makes all tasks wait. O(n) in the number of tasks.
func (b *book) fillQueue() {
	b.waiting = queue{heap: make([]int32, len(b.tasks)), waits: len(b.tasks), equal: sameWork(b.tasks)}
	for i := range b.tasks {
		b.waiting.heap[i] = int32(i)
		b.tasks[i].flags |= waits | queued
	}
	heap.Init(b.waiting.heap, b.before)
}

// sameWork reports whether all tasks have the same work.
func sameWork(tasks []taskState) bool {
	return !slices.ContainsFunc(tasks, func(s taskState) bool { return s.work != tasks[0].work })
}

// enter records that a task waits, and puts it into the heap.
func (b *book) enter(task int32) {
	s := &b.tasks[task]
	s.flags |= waits
	b.waiting.waits++
	if s.flags&queued == 0 {
		s.flags |= queued
		b.push(task)
	}
}

// leave records that a task no longer waits. The task stays in the heap until it becomes the first.
func (b *book) leave(s *taskState) {
	if s.flags&waits != 0 {
		s.flags &^= waits
		b.waiting.waits--
	}
}

// firstWaiting returns the task to start on the machine; none if no task waits. The task keeps waiting until it is started.
func (b *book) firstWaiting(machine int32) int32 {
	for len(b.waiting.heap) > 0 && b.tasks[b.waiting.heap[0]].flags&waits == 0 {
		b.pop()
	}
	switch {
	case len(b.waiting.heap) == 0:
		return none
	case !b.tasks[b.waiting.heap[0]].ranOn(machine):
		return b.waiting.heap[0]
	}
	return b.passOver(machine)
}

// passOver is called if the first waiting task was tried on the machine before. It returns the next waiting task that
// was not tried there. If there is no such task among the first maxPassedOver, it returns the first waiting task.
func (b *book) passOver(machine int32) int32 {
	var passed [maxPassedOver]int32
	n, found := 0, int32(none)
	for n < len(passed) {
		task := b.pop()
		if task == none {
			break
		}
		if b.tasks[task].flags&waits == 0 {
			continue
		}
		passed[n] = task
		n++
		if !b.tasks[task].ranOn(machine) {
			found = task
			break
		}
	}
	for _, task := range passed[:n] {
		b.tasks[task].flags |= queued
		b.push(task)
	}
	if found == none && n > 0 {
		return passed[0] // all these tasks were tried here; to try again is better than an idle slot
	}
	return found
}

// allWaiting ranges over the waiting tasks in their order. It takes each task from the heap, and at the end of the loop, however
// it ends, puts back those that still wait.
func (b *book) allWaiting(yield func(task int) bool) {
	shown := b.waiting.shown[:0]
	b.waiting.shown = nil // a loop within the loop has memory of its own
	defer func() {
		for _, task := range shown {
			if s := &b.tasks[task]; s.flags&waits != 0 && s.flags&queued == 0 {
				s.flags |= queued
				b.push(task)
			}
		}
		b.waiting.shown = shown
	}()
	for len(b.waiting.heap) > 0 {
		task := b.pop()
		if b.tasks[task].flags&waits == 0 {
			continue
		}
		if shown = append(shown, task); !yield(b.index(task)) {
			return
		}
	}
}

// before is the order of the heap: more work first, then lower index.
func (b *book) before(i, j int32) bool {
	if !b.waiting.equal && b.tasks[i].work != b.tasks[j].work {
		return b.tasks[i].work > b.tasks[j].work
	}
	return b.index(i) < b.index(j)
}

// push adds a task to the heap.
func (b *book) push(task int32) {
	if q := &b.waiting; b.rows != nil { // the works of the tasks to come are not known
		q.equal = len(q.heap) == 0 || q.equal && b.tasks[task].work == b.tasks[q.heap[0]].work
	}
	b.waiting.heap = heap.Push(b.waiting.heap, task, b.before)
}

// pop removes the first task from the heap, even if the task no longer waits, and returns it; none if the heap is
// empty.
func (b *book) pop() (task int32) {
	if len(b.waiting.heap) == 0 {
		return none
	}
	task, b.waiting.heap = heap.Pop(b.waiting.heap, b.before)
	b.unqueue(task)
	return task
}

// addCandidate adds a task to the list of candidates, unless the task is in the list already.
func (b *book) addCandidate(task int32) {
	if s := &b.tasks[task]; s.candidate == none {
		s.candidate = int32(len(b.candidates))
		b.candidates = append(b.candidates, task)
	}
}

// dropCandidate removes a task from the list of candidates. The last candidate takes its place in the list.
func (b *book) dropCandidate(task int32) {
	at := b.tasks[task].candidate
	if at == none {
		return
	}
	last := b.candidates[len(b.candidates)-1]
	b.candidates[at] = last
	b.tasks[last].candidate = at
	b.candidates = b.candidates[:len(b.candidates)-1]
	b.tasks[task].candidate = none
}
