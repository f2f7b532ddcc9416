package trace

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
)

// finish checks and sorts the content, and returns the log.
func (b *builder) finish() *Log {
	b.join()
	for i := range b.log.Phases {
		b.log.Faults[Repeated] += b.log.Phases[i].leaveOutRepeats(b.log.Splits)
		b.finishPhase(&b.log.Phases[i])
		if b.numbered[i] {
			b.log.Faults[SameNumber] += b.log.Phases[i].sameNumbers()
		}
	}
	if b.log.Format == Lines || b.log.Format == Table {
		b.units()
	}
	b.nameUnknown()
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
		p.countTasks(b.log.Format == Lines || b.log.Format == Table)
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
}

// leaveOutRepeats sorts the attempts, and leaves out attempts that are the same as another in all that the log says about them,
// as of a log that was joined with itself. It returns their number.
func (p *Phase) leaveOutRepeats(splits [][]int64) int {
	if !slices.IsSortedFunc(p.Attempts, byStart) {
		slices.SortStableFunc(p.Attempts, byStart)
	}
	all := len(p.Attempts)
	p.Attempts = slices.CompactFunc(p.Attempts, func(a, b Attempt) bool {
		if byStart(a, b) != 0 || a.Splits != b.Splits && !slices.Equal(splits[a.Splits], splits[b.Splits]) {
			return false
		}
		a.Splits = b.Splits
		return reflect.DeepEqual(a, b)
	})
	return all - len(p.Attempts)
}

// A phase may declare, or number, more tasks than it shows, up to a point: who reads the log may hold something for
// each.
const (
	manyTasks = 1 << 18
	fewOfThem = 64
)

// countTasks sets the number of tasks to the number that the attempts show. If the numbers of tasks are far apart,
// they are numbered again, in order. byPeople numbers tasks again after any gap: people use the keys of a database,
// or the numbers of a whole run, so a missing number is not a task without a success. The old numbers become the
// names of the tasks.
func (p *Phase) countTasks(byPeople bool) {
	numbers := make([]int32, len(p.Attempts))
	for i := range p.Attempts {
		numbers[i] = p.Attempts[i].Task
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if len(numbers) == 0 {
		return
	}
	p.Tasks = int(numbers[len(numbers)-1]) + 1
	far := p.Tasks > manyTasks/fewOfThem && p.Tasks > fewOfThem*len(p.Attempts)
	if p.Tasks == len(numbers) || !byPeople && !far {
		return
	}
	p.Tasks = len(numbers)
	for i := range p.Attempts {
		place, _ := slices.BinarySearch(numbers, p.Attempts[i].Task)
		p.Attempts[i].Task = int32(place)
	}
	if p.Tasks > mostNames {
		p.Names = nil
		return
	}
	names := make([]string, p.Tasks)
	for place, number := range numbers {
		if int(number) < len(p.Names) {
			names[place] = p.Names[number]
		}
		names[place] = cmp.Or(names[place], strconv.Itoa(int(number)))
	}
	p.Names = names
}

// sameNumbers returns the number of attempts that have the number of another attempt of their task.
func (p *Phase) sameNumbers() (n int) {
	numbers := make([]int64, len(p.Attempts))
	for i := range p.Attempts {
		numbers[i] = int64(p.Attempts[i].Task)<<32 | int64(p.Attempts[i].Number)
	}
	slices.Sort(numbers)
	return len(numbers) - len(slices.Compact(numbers))
}

// inOrder makes a finish unknown if it is before the start. It is not known which of the two is wrong, and an unknown
// duration is better than a negative one.
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
		cmp.Compare(a.Finish.Or(never), b.Finish.Or(never)),
		cmp.Compare(a.Host, b.Host),
	)
}
