package restart

import "time"

// Next answers what to do with a free slot on a machine (negative if the machine does not matter): the task, and
// [Duplicate] to run one more copy of it there; [Restart] or [Kill] of an attempt, after which ask again; [Start] to run
// a waiting task; or [Keep], with task -1 and the reason why nothing is to be done.
//
// Of the tasks whose last decision found them worth a copy, the one that gains most comes first, with ties to the
// lowest index, and a machine that runs a copy of it or ran one gets none. Otherwise it is the waiting task with the
// most work; one that was tried on this machine gives way to another that was not, if there is one near the front.
// O(candidates) decisions and O(log n).
func (t *Tracker) Next(now time.Time, machine int) (task int, d Decision) {
	t.tick(now)
	machine = machineIndex(machine)
	task, d = t.bestCandidate(machine)
	if task != none {
		return task, d
	}
	if task = t.firstWaiting(int32(machine)); task != none {
		return task, Decision{Action: Start, Reason: LargestWork}
	}
	return none, d
}

// bestCandidate decides anew about each candidate, since its last decision is as old as its last report.
func (t *Tracker) bestCandidate(machine int) (int, Decision) {
	best, chosen := none, Decision{Reason: NothingToDo}
	for i := 0; i < len(t.candidates); {
		task := int(t.candidates[i])
		d := t.judge(task, machine)
		if t.tasks[task].candidate == int32(i) {
			i++ // still a candidate; otherwise another has taken its place
		}
		if d.Action == Duplicate && machine != none && d.Avoid.Has(machine) {
			d = Decision{Reason: SameMachine}
		}
		switch {
		case d.Action == Keep:
			if best == none && blocked(d.Reason) {
				chosen = d
			}
		case best == none || d.Gain > chosen.Gain || d.Gain == chosen.Gain && task < best:
			best, chosen = task, d
		}
	}
	return best, chosen
}

// machineIndex makes an index that fits in 31 bits of what the host passed: none if it is negative.
func machineIndex(machine int) int { return min(max(machine, none), maxTasks) }

func (t *Tracker) addCandidate(s *taskState, task int32) {
	if s.candidate == none {
		s.candidate = int32(len(t.candidates))
		t.candidates = append(t.candidates, task)
	}
}

// dropCandidate fills the gap with the last one.
func (t *Tracker) dropCandidate(task int) {
	at := t.tasks[task].candidate
	if at == none {
		return
	}
	last := t.candidates[len(t.candidates)-1]
	t.candidates[at] = last
	t.tasks[last].candidate = at
	t.candidates = t.candidates[:len(t.candidates)-1]
	t.tasks[task].candidate = none
}

// The waiting tasks are a binary heap, most work first, lowest index first among equals. Starting a task that is not at
// the top leaves its place in the heap for later: a task is queued at most once, and waits or not.

// maxPassedOver bounds how many waiting tasks are looked at for one that was not tried on the machine.
const maxPassedOver = 8

func (t *Tracker) before(a, b int32) bool {
	if t.tasks[a].work != t.tasks[b].work {
		return t.tasks[a].work > t.tasks[b].work
	}
	return a < b
}

func (t *Tracker) heapify() {
	for i := len(t.waiting)/2 - 1; i >= 0; i-- {
		t.sink(i)
	}
}

func (t *Tracker) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.waiting) {
			return
		}
		if child+1 < len(t.waiting) && t.before(t.waiting[child+1], t.waiting[child]) {
			child++
		}
		if !t.before(t.waiting[child], t.waiting[i]) {
			return
		}
		t.waiting[i], t.waiting[child] = t.waiting[child], t.waiting[i]
		i = child
	}
}

func (t *Tracker) push(task int32) {
	t.waiting = append(t.waiting, task)
	i := len(t.waiting) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !t.before(t.waiting[i], t.waiting[parent]) {
			return
		}
		t.waiting[i], t.waiting[parent] = t.waiting[parent], t.waiting[i]
		i = parent
	}
}

// pop takes the first task off the heap, whether it still waits or not; none if the heap is empty.
func (t *Tracker) pop() int32 {
	n := len(t.waiting)
	if n == 0 {
		return none
	}
	first := t.waiting[0]
	t.waiting[0] = t.waiting[n-1]
	t.waiting = t.waiting[:n-1]
	t.sink(0)
	t.tasks[first].flags &^= queued
	return first
}

func (t *Tracker) enqueue(s *taskState, task int32) {
	s.flags |= waits
	t.phase.Waiting++
	if s.flags&queued == 0 {
		s.flags |= queued
		t.push(task)
	}
}

func (t *Tracker) leaveQueue(s *taskState) {
	if s.flags&waits != 0 {
		s.flags &^= waits
		t.phase.Waiting--
	}
}

// firstWaiting returns the task to start on the machine, which stays queued until it is started.
func (t *Tracker) firstWaiting(machine int32) int {
	for len(t.waiting) > 0 && t.tasks[t.waiting[0]].flags&waits == 0 {
		t.pop()
	}
	if len(t.waiting) == 0 || !t.wasTried(t.waiting[0], machine) {
		return int(t.top())
	}
	return t.passOver(machine)
}

func (t *Tracker) top() int32 {
	if len(t.waiting) == 0 {
		return none
	}
	return t.waiting[0]
}

// passOver looks behind the first waiting task, which was tried on the machine, for one that was not.
func (t *Tracker) passOver(machine int32) int {
	var passed [maxPassedOver]int32
	n, found := 0, int32(none)
	for n < len(passed) {
		task := t.pop()
		if task == none {
			break
		}
		if t.tasks[task].flags&waits == 0 {
			continue
		}
		passed[n] = task
		n++
		if !t.wasTried(task, machine) {
			found = task
			break
		}
	}
	for _, task := range passed[:n] {
		t.tasks[task].flags |= queued
		t.push(task)
	}
	if found == none && n > 0 {
		return int(passed[0]) // tried here before, like all near the front; better than an idle slot
	}
	return int(found)
}

func (t *Tracker) wasTried(task, machine int32) bool {
	if machine == none {
		return false
	}
	for _, m := range t.tasks[task].tried {
		if m == machine {
			return true
		}
	}
	return false
}
