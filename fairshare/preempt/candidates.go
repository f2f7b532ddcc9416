package preempt

import (
	"cmp"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// candidacy returns the outcome of a task as far as it follows from the task and its pool, without the shares. The
// outcome Spared means that the task is a candidate: it may be killed if the shares of its pools allow it.
func (p *Preemptor) candidacy(t *Task) Outcome {
	switch {
	case !p.known(t.Pool) || !p.leaf[t.Pool]:
		return UnknownPool
	case t.Dying:
		return Dying
	case t.Protected || p.watch[t.Pool].protected:
		return Protected
	}
	return Spared
}

// sort sorts the candidates, which are the tasks that may be killed, into the order in which the plan tries them.
func (l *planner) sort() {
	config := &l.p.config
	if config.ByMachine {
		l.countByMachine()
	}
	slices.SortFunc(l.candidates, func(a, b int32) int {
		x, y := &l.tasks[a], &l.tasks[b]
		if config.ByMachine {
			if c := cmp.Or(cmp.Compare(l.onMachine[b], l.onMachine[a]), cmp.Compare(x.Machine, y.Machine)); c != 0 {
				return c
			}
		}
		var c int
		if config.Order == nil {
			c = newestFirst(x, y)
		} else {
			c = config.Order(*x, *y)
		}
		return cmp.Or(c, cmp.Compare(a, b))
	})
}

// newestFirst is the order in which tasks are killed if Config.Order is nil.
func newestFirst(a, b *Task) int {
	if a.Copy != b.Copy {
		if a.Copy {
			return -1
		}
		return 1
	}
	return b.Started.Compare(a.Started)
}

// countByMachine sets l.onMachine for each candidate, which is a task that may be killed. The number is the sum of
// the units of all candidates on the machine of the task.
func (l *planner) countByMachine() {
	slices.SortFunc(l.candidates, func(a, b int32) int { return cmp.Compare(l.tasks[a].Machine, l.tasks[b].Machine) })
	l.onMachine = zeroed(l.onMachine, len(l.tasks))
	for rest := l.candidates; len(rest) > 0; {
		var units int64
		n := 0
		for n < len(rest) && l.tasks[rest[n]].Machine == l.tasks[rest[0]].Machine {
			units = exact.Add(units, l.tasks[rest[n]].slots())
			n++
		}
		for _, task := range rest[:n] {
			l.onMachine[task] = units
		}
		rest = rest[n:]
	}
}

// zeroed returns a slice of n zeros. It reuses the memory of s if that memory is large enough.
func zeroed[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
