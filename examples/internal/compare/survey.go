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
		middle := Median(p)
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

func slow(d, middle time.Duration) bool { return float64(d) > Slow*float64(middle) }

// Median returns the median time of the tasks of a phase; 0 if no task has a positive time. As in package causes, other tasks
// do not count.
func Median(p *sim.Phase) time.Duration {
	return causes.Median(slices.DeleteFunc(timesOf(p), func(d time.Duration) bool { return d <= 0 }))
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

// AppendRatios appends the time of each task of a phase divided by the median of the phase.
func AppendRatios(ratios []float64, p *sim.Phase) []float64 {
	middle := Median(p)
	if middle <= 0 {
		return ratios
	}
	for i := range p.Tasks {
		ratios = append(ratios, float64(Last(p, i))/float64(middle))
	}
	return ratios
}
