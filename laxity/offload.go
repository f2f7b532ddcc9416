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
	// Left is the time until the task must end: its job's deadline less what the job needs after it. [NoDeadline] if
	// none, as which any time above 146 years counts.
	Left time.Duration
	// Remaining is what the task needs on this worker once it runs, or [estimate.Unknown].
	Remaining time.Duration
	// Elsewhere is the time from now to its end if it moves to the best other worker, or [estimate.Unknown] if there
	// is none.
	Elsewhere time.Duration
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
// paper leaves the choice open [DynamicShare §3.3]. Here as few tasks as possible leave the worker such that all others
// end in time, if the worker runs them one after another by deadline, after those that have started [Moore 1968]. What
// leaves but would end too late elsewhere as well should not move, but run after the others. A task whose need is
// unknown is left out of account, and so is one that has started if its need is unknown. A worker with s slots can be
// approximated by one that takes an s-th of each Remaining. O(n log n); it allocates 16 bytes a task.
func Offload(dst []Transfer, tasks []Pending) []Transfer {
	start := len(dst)
	var busy time.Duration
	order := make([]int, 0, len(tasks))
	for i, t := range tasks {
		switch {
		case t.Started:
			dst = append(dst, Transfer{Reason: Started, Laxity: estimate.Unknown})
			busy = num.Add(busy, max(t.Remaining, 0))
		case t.Remaining == estimate.Unknown:
			dst = append(dst, Transfer{Reason: NoLaxity, Laxity: estimate.Unknown})
		default:
			dst = append(dst, Transfer{})
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(tasks[a].Left, tasks[b].Left), cmp.Compare(a, b))
	})
	verdicts := dst[start:]
	leave(verdicts, tasks, order, busy)
	settle(verdicts, tasks, order, busy)
	return dst
}

// leave gives MakesRoom to each task that must leave: those that would be late even if they were alone, and whenever the
// others up to a deadline take too long, the longest of them. Without the former no sum overflows.
func leave(verdicts []Transfer, tasks []Pending, order []int, busy time.Duration) {
	longest := longestFirst{tasks: tasks, heap: make([]int, 0, len(order))}
	end := busy
	for _, i := range order {
		if tasks[i].Left > NoDeadline/2 { // nobody waits that long, and all that follow have as much time
			return
		}
		if num.Add(busy, max(tasks[i].Remaining, 0)) > tasks[i].Left {
			verdicts[i].Reason = MakesRoom
			continue
		}
		end = num.Add(end, max(tasks[i].Remaining, 0))
		longest.push(i)
		if end > tasks[i].Left {
			out := longest.pop()
			verdicts[out].Reason = MakesRoom
			end = num.Sub(end, max(tasks[out].Remaining, 0))
		}
	}
}

// settle fills in the rest of the verdicts, once it is known who must leave.
func settle(verdicts []Transfer, tasks []Pending, order []int, end time.Duration) {
	for _, i := range order {
		t, v := tasks[i], &verdicts[i]
		if v.Reason != MakesRoom {
			end = num.Add(end, max(t.Remaining, 0))
			v.Reason, v.Laxity = EndsInTime, Job{Left: t.Left, Projected: end}.Laxity()
			continue
		}
		there := Job{Left: t.Left, Projected: t.Elsewhere}
		if v.Laxity = there.Laxity(); v.Laxity == estimate.Unknown || v.Laxity < 0 {
			v.Reason, v.Laxity = LateElsewhere, estimate.Unknown
			continue
		}
		v.Move = true
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
