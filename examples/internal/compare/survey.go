package compare

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Slow is the multiple of the median of its phase above which the time of a task makes it a straggler [Mantri §4.1].
const Slow = 1.5

// Stragglers counts the tasks that take over [Slow] times the median of their phase.
type Stragglers struct {
	Tasks, Stragglers int
	// First is the number of stragglers in the first wave of their phase, and Data of those that read over 1.5 times
	// the median number of bytes. Unknown is the number of stragglers with unknown bytes.
	First, Data, Unknown int
}

// Survey counts the stragglers of the phases.
func Survey(phases []*sim.Phase) (s Stragglers) {
	for _, p := range phases {
		middle := middleTime(p)
		works := make([]float64, 0, len(p.Tasks)) // the sizes that are known
		for _, t := range p.Tasks {
			if t.Work > 0 {
				works = append(works, t.Work)
			}
		}
		usual := causes.Median(works)
		for i, t := range p.Tasks {
			s.Tasks++
			if !slow(Last(p, i), middle) {
				continue
			}
			s.Stragglers++
			if t.First {
				s.First++
			}
			switch {
			case t.Work == 0:
				s.Unknown++
			case t.Work > 1.5*usual:
				s.Data++
			}
		}
	}
	return s
}

// slow reports whether a task is a straggler. No task is one in a phase without a median, for which middle is 0.
func slow(d, middle time.Duration) bool { return middle > 0 && float64(d) > Slow*float64(middle) }

// middleTime returns the median time of the tasks of a phase; 0 if the tasks are too few to call one of them slow. As in
// package causes, tasks without a positive time do not count.
func middleTime(p *sim.Phase) time.Duration {
	times := slices.DeleteFunc(timesOf(p), func(d time.Duration) bool { return d <= 0 })
	if len(times) < causes.LeastTasks {
		return 0
	}
	return causes.Median(times)
}

// Last returns the time of a task's last recorded attempt, which succeeded.
func Last(p *sim.Phase, task int) time.Duration {
	attempts := p.Tasks[task].Attempts
	return attempts[len(attempts)-1].Duration
}

// Slowest returns the task with the longest last attempt, the first of several.
func Slowest(p *sim.Phase) (task int) {
	for i := range p.Tasks {
		if Last(p, i) > Last(p, task) {
			task = i
		}
	}
	return task
}

// AppendRatios appends the time of each task of a phase divided by the median of the phase. It appends nothing for a phase in
// which no task can be called slow, because it has fewer than [causes.LeastTasks] tasks with a positive time.
func AppendRatios(ratios []float64, p *sim.Phase) []float64 {
	middle := middleTime(p)
	if middle <= 0 {
		return ratios
	}
	for i := range p.Tasks {
		ratios = append(ratios, float64(Last(p, i))/float64(middle))
	}
	return ratios
}
