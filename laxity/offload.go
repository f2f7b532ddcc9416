package laxity

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Pending is the present state of a task on an overloaded worker.
type Pending struct {
	// UntilDeadline is the time from now until the task must end. This is the time until the deadline of its job,
	// minus the time that the job needs after the task. [NoDeadline] means no deadline, and so does any time above
	// 146 years.
	UntilDeadline time.Duration
	// Remaining is the time that the task still needs on this worker, without waiting, or [estimate.Unknown].
	Remaining time.Duration
	// EndElsewhere is the time from now until the task would end on the best other worker. It is
	// [estimate.Unknown] if no other worker can run the task.
	EndElsewhere time.Duration
	// Started is true if the task runs now. Such a task stays on this worker.
	Started bool
}

// Transfer says whether a task should move to another worker, and why. Transfers can be compared with ==.
type Transfer struct {
	// Move is true if the task should move to another worker.
	Move bool
	// Reason says why the task should move or stay.
	Reason Reason
	// Laxity is the time between the end of the task and its deadline. If the task should move, the end is its end
	// on the other worker. If it stays and ends in time, the end is its end on this worker. In all other cases
	// Laxity is [estimate.Unknown].
	Laxity time.Duration
}

// Offload decides which tasks of an overloaded worker should run on other workers. It appends a Transfer for each
// task to dst and returns dst. The paper leaves this choice open [DynamicShare §3.3].
//
// Offload assumes that the worker first ends its started tasks. Then it runs its other tasks one after another,
// the task with the earliest deadline first. Offload makes as few tasks late as possible, in two steps:
//
//  1. Take only the tasks that would be late on other workers. Keep as many such tasks as can end on this worker
//     in time: while they take too long together, give up the longest task [Moore 1968]. The host should run the
//     tasks that were given up after all other tasks.
//  2. Add the other tasks, which would end in time on other workers. While a task on this worker would be late, move
//     the longest added task. So as few tasks as possible move, and all tasks that stay end in time, except the
//     tasks that were given up.
//
// Offload ignores tasks with an unknown remaining time, whether they have started or not. For a worker with s
// slots, divide each Remaining by s; the result is then an approximation. Cost: O(n log n) for n tasks; Offload
// allocates 16 bytes for each task.
func Offload(dst []Transfer, tasks []Pending) []Transfer {
	start := len(dst)
	w := worker{tasks: tasks, byDeadline: make([]int, 0, len(tasks))}
	for i, t := range tasks {
		switch {
		case t.Started:
			dst = append(dst, Transfer{Reason: Started, Laxity: estimate.Unknown})
			w.busy = num.Add(w.busy, max(t.Remaining, 0))
		case t.Remaining == estimate.Unknown:
			dst = append(dst, Transfer{Reason: NoEstimate, Laxity: estimate.Unknown})
		default: // until the method finish, Laxity is the laxity on another worker
			dst = append(dst, Transfer{Laxity: Job{UntilDeadline: t.UntilDeadline, Projected: t.EndElsewhere}.Laxity()})
			w.byDeadline = append(w.byDeadline, i)
		}
	}
	slices.SortFunc(w.byDeadline, func(a, b int) int {
		return cmp.Or(cmp.Compare(tasks[a].UntilDeadline, tasks[b].UntilDeadline), cmp.Compare(a, b))
	})
	w.transfers = dst[start:]
	w.longest = longestFirst{tasks: tasks, heap: make([]int, 0, len(w.byDeadline))}
	w.shed(LateElsewhere)
	w.shed(MakesRoom)
	w.finish()
	return dst
}

// worker is the state of Offload for one overloaded worker.
type worker struct {
	tasks      []Pending
	transfers  []Transfer    // by task
	byDeadline []int         // indices of the tasks that may stay or move, the earliest deadline first
	busy       time.Duration // time until the started tasks have ended
	longest    longestFirst  // scratch space
}

// shed sets the Reason of the tasks that cannot stay on this worker. A task cannot stay if it would be late even
// if it ran alone. If all tasks up to a deadline take too long together, the longest such task cannot stay.
//
// If reason is LateElsewhere, shed looks only at the tasks that would be late on other workers. If reason is
// MakesRoom, it also looks at the other tasks, and gives up only other tasks; tasks that were kept before stay.
func (w *worker) shed(reason Reason) {
	w.longest.heap = w.longest.heap[:0]
	end := w.busy
	for _, i := range w.byDeadline {
		t, v := w.tasks[i], &w.transfers[i]
		if t.UntilDeadline > NoDeadline/2 { // a task with so much time is never late, and later tasks have as much time
			return
		}
		inTimeElsewhere := v.Laxity >= 0 // Unknown is negative
		if v.Reason != NoReason || inTimeElsewhere && reason == LateElsewhere {
			continue
		}
		remaining := max(t.Remaining, 0)
		if num.Add(w.busy, remaining) > t.UntilDeadline { // without such tasks, the sums below cannot overflow
			v.Reason = reason
			continue
		}
		end += remaining
		if inTimeElsewhere || reason == LateElsewhere {
			w.longest.push(i)
		}
		for end > t.UntilDeadline {
			out := w.longest.pop()
			w.transfers[out].Reason = reason
			end -= max(w.tasks[out].Remaining, 0)
		}
	}
}

// finish sets the remaining fields of the transfers. The method shed has already found the tasks that cannot stay.
func (w *worker) finish() {
	end := w.busy
	for _, i := range w.byDeadline {
		t, v := w.tasks[i], &w.transfers[i]
		switch v.Reason {
		case MakesRoom:
			v.Move = true
		case LateElsewhere:
			v.Laxity = estimate.Unknown
		default:
			end = num.Add(end, max(t.Remaining, 0))
			v.Reason, v.Laxity = EndsInTime, Job{UntilDeadline: t.UntilDeadline, Projected: end}.Laxity()
		}
	}
}

// longestFirst is a heap of tasks. Its root is the longest task. Among equally long tasks it is the task with the
// highest index.
type longestFirst struct {
	tasks []Pending
	heap  []int
}

// before reports whether task a must be nearer to the root of the heap than task b.
func (l *longestFirst) before(a, b int) bool {
	if x, y := l.tasks[a].Remaining, l.tasks[b].Remaining; x != y {
		return x > y
	}
	return a > b
}

func (l *longestFirst) push(task int) {
	l.heap = append(l.heap, task)
	for i := len(l.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !l.before(l.heap[i], l.heap[parent]) {
			return
		}
		l.heap[i], l.heap[parent] = l.heap[parent], l.heap[i]
		i = parent
	}
}

func (l *longestFirst) pop() int {
	root, last := l.heap[0], len(l.heap)-1
	l.heap[0] = l.heap[last]
	l.heap = l.heap[:last]
	for i := 0; 2*i+1 < last; {
		child := 2*i + 1
		if child+1 < last && l.before(l.heap[child+1], l.heap[child]) {
			child++
		}
		if !l.before(l.heap[child], l.heap[i]) {
			break
		}
		l.heap[i], l.heap[child] = l.heap[child], l.heap[i]
		i = child
	}
	return root
}
