package laxity

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Pending is a task on an overloaded worker, as of now.
type Pending struct {
	// TimeLeft is the time until the task must end: its job's deadline less what the job needs after it. [NoDeadline] if
	// none, as which any time above 146 years counts.
	TimeLeft time.Duration
	// Remaining is what the task needs on this worker once it runs, or [estimate.Unknown].
	Remaining time.Duration
	// EndElsewhere is the time from now to its end if it moves to the best other worker, or [estimate.Unknown] if there
	// is none.
	EndElsewhere time.Duration
	// Started tasks run now and do not move.
	Started bool
}

// Transfer says whether a task should move to another worker, and why. It can be compared with ==.
type Transfer struct {
	Move   bool
	Reason Reason
	// Laxity is the time to spare at the task's end: elsewhere for a task that should move, here for one that stays and
	// ends in time. It is [estimate.Unknown] for the others.
	Laxity time.Duration
}

// Offload says which tasks of an overloaded worker to run elsewhere: it appends a Transfer for each task to dst. The
// paper leaves the choice open [DynamicShare §3.3]. Here the worker runs its tasks one after another by deadline, after
// those that have started, and as few as possible are late: of the tasks that would be late elsewhere it keeps as many
// as can end in time, and sheds the longest [Moore 1968]. These should run after all others. To make room for the ones
// that it keeps, as few as possible of the others move, and all that stay end in time.
//
// A task whose need is unknown is left out of account, and so is one that has started if its need is unknown. A worker
// with s slots can be approximated by one that takes an s-th of each Remaining. O(n log n); it allocates 16 bytes a
// task.
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
		default: // for now, the laxity elsewhere
			dst = append(dst, Transfer{Laxity: Job{TimeLeft: t.TimeLeft, Projected: t.EndElsewhere}.Laxity()})
			w.byDeadline = append(w.byDeadline, i)
		}
	}
	slices.SortFunc(w.byDeadline, func(a, b int) int {
		return cmp.Or(cmp.Compare(tasks[a].TimeLeft, tasks[b].TimeLeft), cmp.Compare(a, b))
	})
	w.transfers = dst[start:]
	w.longest = longestFirst{tasks: tasks, heap: make([]int, 0, len(w.byDeadline))}
	w.shed(LateElsewhere)
	w.shed(MakesRoom)
	w.settle()
	return dst
}

// worker is an overloaded worker.
type worker struct {
	tasks      []Pending
	transfers  []Transfer    // of the tasks
	byDeadline []int         // the tasks that may stay or go
	busy       time.Duration // until when it runs what has started
	longest    longestFirst  // scratch
}

// shed gives the reason to tasks that cannot stay: those that would be late even if they were alone, and whenever the
// others up to a deadline take too long, the longest of them. LateElsewhere goes to tasks that would be late
// elsewhere, as if there were no others. MakesRoom goes to the others; what was kept before and is late elsewhere
// stays.
func (w *worker) shed(reason Reason) {
	w.longest.heap = w.longest.heap[:0]
	end := w.busy
	for _, i := range w.byDeadline {
		t, v := w.tasks[i], &w.transfers[i]
		if t.TimeLeft > NoDeadline/2 { // nobody waits that long, and all that follow have as much time
			return
		}
		inTimeElsewhere := v.Laxity >= 0 // Unknown is negative
		if v.Reason != NoReason || inTimeElsewhere && reason == LateElsewhere {
			continue
		}
		remaining := max(t.Remaining, 0)
		if num.Add(w.busy, remaining) > t.TimeLeft { // so that below no sum overflows
			v.Reason = reason
			continue
		}
		end += remaining
		if inTimeElsewhere || reason == LateElsewhere {
			w.longest.push(i)
		}
		for end > t.TimeLeft {
			out := w.longest.pop()
			w.transfers[out].Reason = reason
			end -= max(w.tasks[out].Remaining, 0)
		}
	}
}

// settle fills in the rest of the transfers, once it is known who cannot stay.
func (w *worker) settle() {
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
			v.Reason, v.Laxity = EndsInTime, Job{TimeLeft: t.TimeLeft, Projected: end}.Laxity()
		}
	}
}

// longestFirst is a heap of tasks, the longest and among equals the last at its root.
type longestFirst struct {
	tasks []Pending
	heap  []int
}

func (h *longestFirst) before(a, b int) bool {
	if x, y := h.tasks[a].Remaining, h.tasks[b].Remaining; x != y {
		return x > y
	}
	return a > b
}

func (h *longestFirst) push(task int) {
	h.heap = append(h.heap, task)
	for i := len(h.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.before(h.heap[i], h.heap[parent]) {
			return
		}
		h.heap[i], h.heap[parent] = h.heap[parent], h.heap[i]
		i = parent
	}
}

func (h *longestFirst) pop() int {
	root, last := h.heap[0], len(h.heap)-1
	h.heap[0] = h.heap[last]
	h.heap = h.heap[:last]
	for i := 0; 2*i+1 < last; {
		child := 2*i + 1
		if child+1 < last && h.before(h.heap[child+1], h.heap[child]) {
			child++
		}
		if !h.before(h.heap[child], h.heap[i]) {
			break
		}
		h.heap[i], h.heap[child] = h.heap[child], h.heap[i]
		i = child
	}
	return root
}
