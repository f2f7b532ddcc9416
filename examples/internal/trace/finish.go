package trace

import (
	"cmp"
	"slices"
)

// finish checks and orders what was read and returns the log.
func (b *builder) finish() *Log {
	b.join()
	for i := range b.log.Phases {
		b.finishPhase(&b.log.Phases[i])
	}
	if b.log.Format == Lines || b.log.Format == Table {
		b.units()
	}
	return b.log
}

func (b *builder) finishPhase(p *Phase) {
	faults := &b.log.Faults
	if p.Tasks > manyTasks && p.Tasks > fewOfThem*len(p.Attempts) {
		p.Tasks = 0 // absurd: nothing is to be made of that size
	}
	limit := cmp.Or(p.Tasks, maxTask)
	p.Attempts = slices.DeleteFunc(p.Attempts, func(a Attempt) bool {
		outside := a.Task < 0 || int(a.Task) >= limit
		if outside {
			faults[NoTask]++
		}
		return outside
	})
	if p.Tasks == 0 {
		p.countTasks()
	}
	for i := range p.Attempts {
		a := &p.Attempts[i]
		if !a.Start.Known() {
			faults[NoStart]++
		}
		if !a.Finish.Known() && a.State != Unfinished {
			faults[NoFinish]++
		}
		inOrder(a.Start, &a.Finish, faults)
	}
	inOrder(p.Submitted, &p.Completed, faults)
	if !slices.IsSortedFunc(p.Attempts, byStart) {
		slices.SortStableFunc(p.Attempts, byStart)
	}
}

// A phase may declare, or number, more tasks than it shows, up to a point: who reads the log may hold something for
// each.
const (
	manyTasks = 1 << 18
	fewOfThem = 64
)

// countTasks sets the number of tasks to what the attempts show. Indices that lie far apart are numbered anew, in
// order.
func (p *Phase) countTasks() {
	for i := range p.Attempts {
		p.Tasks = max(p.Tasks, int(p.Attempts[i].Task)+1)
	}
	if p.Tasks <= manyTasks/fewOfThem || p.Tasks <= fewOfThem*len(p.Attempts) {
		return
	}
	numbers := make([]int32, len(p.Attempts))
	for i := range p.Attempts {
		numbers[i] = p.Attempts[i].Task
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	for i := range p.Attempts {
		place, _ := slices.BinarySearch(numbers, p.Attempts[i].Task)
		p.Attempts[i].Task = int32(place)
	}
	p.Tasks = len(numbers)
}

// inOrder makes a finish before the start unknown: which of the two is wrong cannot be told, and no duration is better
// than a negative one.
func inOrder(start Opt, finish *Opt, faults *Faults) {
	s, known := start.Get()
	f, ended := finish.Get()
	if known && ended && f < s {
		faults[FinishFirst]++
		*finish = Opt{}
	}
}

func byStart(a, b Attempt) int {
	const never = maxTime + 1
	return cmp.Or(
		cmp.Compare(a.Start.Or(never), b.Start.Or(never)),
		cmp.Compare(a.Task, b.Task),
		cmp.Compare(a.Number, b.Number),
	)
}
