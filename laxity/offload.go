package laxity

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Pending is the current state of a task on an overloaded worker.
type Pending struct {
	// UntilDeadline is the time from now until the task must end: the job's deadline minus the time that the job needs after
	// the task. [NoDeadline] means no deadline, and so does any time above 146 years.
	UntilDeadline time.Duration
	// Remaining is the time that the task needs on this worker once it runs, or [estimate.Unknown].
	Remaining time.Duration
	// EndElsewhere is the time from now until the task would end on the best other worker. EndElsewhere is
	// [estimate.Unknown] if no other worker can run the task.
	EndElsewhere time.Duration
	// Started says that the task runs now. A started task does not move.
	Started bool
}

// Transfer says whether a task should move to another worker, and why. A Transfer can be compared with ==.
type Transfer struct {
	// Move says that the task should move.
	Move bool
	// Reason says why the task should move or stay.
	Reason Reason
	// Laxity is the spare time at the end of the task. For a task that should move, Laxity is the spare time
	// elsewhere. For a task that stays and ends in time, Laxity is the spare time on this worker. For all other tasks
	// Laxity is [estimate.Unknown].
	Laxity time.Duration
}

// Offload says which tasks of an overloaded worker should run elsewhere, and appends a Transfer for each task to dst. The
// paper leaves this choice open [DynamicShare §3.3].
//
// Offload assumes that the worker first ends its started tasks, and then runs its other tasks one after another, by
// deadline. Offload makes as few tasks late as possible, in two steps:
//
//  1. Consider only the tasks that would be late elsewhere. Keep as many as can end here in time, and give up the longest
//     tasks [Moore 1968]. The host should run the tasks that were given up after all others.
//  2. To make room for the kept tasks, move as few of the other tasks as possible. All tasks that stay then end in time.
//
// Offload ignores tasks with an unknown remaining time, started or not. A worker with s slots can be approximated by one
// slot: divide each Remaining by s. O(n log n); it allocates 16 bytes for each task.
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
		default: // until finish, Laxity is the laxity elsewhere
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

// worker is an overloaded worker.
type worker struct {
	tasks      []Pending
	transfers  []Transfer    // by task
	byDeadline []int         // the tasks that may stay or move, by deadline
	busy       time.Duration // time until the started tasks have ended
	longest    longestFirst  // scratch
}

// shed gives the reason to the tasks that cannot stay. A task cannot stay if it would be late even alone. If the tasks up
// to a deadline take too long together, the longest task cannot stay.
//
// With LateElsewhere, shed considers only the tasks that would be late elsewhere. With MakesRoom, it considers the other
// tasks too, and gives up only these; the tasks kept before stay.
func (w *worker) shed(reason Reason) {
	w.longest.heap = w.longest.heap[:0]
	end := w.busy
	for _, i := range w.byDeadline {
		t, v := w.tasks[i], &w.transfers[i]
		if t.UntilDeadline > NoDeadline/2 { // such a task is never late, and all later tasks have as much time
			return
		}
		inTimeElsewhere := v.Laxity >= 0 // Unknown is negative
		if v.Reason != NoReason || inTimeElsewhere && reason == LateElsewhere {
			continue
		}
		remaining := max(t.Remaining, 0)
		if num.Add(w.busy, remaining) > t.UntilDeadline { // so the sums below cannot overflow
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

// finish completes the transfers, once it is known which tasks cannot stay.
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

// longestFirst is a heap of tasks. Its root is the longest task, and in a tie the last task.
type longestFirst struct {
	tasks []Pending
	heap  []int
}

// before reports whether task a is nearer to the root than task b.
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
