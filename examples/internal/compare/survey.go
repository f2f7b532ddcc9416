package compare

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Slow is how many times the median of its phase a task takes at most, if it is no straggler [Mantri §4.1].
const Slow = 1.5

// Stragglers says how many tasks take over [Slow] times the median of their phase. What they read is not known of all.
type Stragglers struct {
	Tasks, Stragglers int
	// First started in their phase's first wave; Data read over 1.5 times its median bytes; of Unknown the bytes are not
	// known.
	First, Data, Unknown int
}

// Survey counts the stragglers.
func Survey(phases []*sim.Phase) (s Stragglers) {
	for _, p := range phases {
		middle := middleTime(p)
		works := make([]float64, 0, len(p.Tasks)) // those that are known
		for _, t := range p.Tasks {
			if t.Work > 0 {
				works = append(works, t.Work)
			}
		}
		usual := middleOf(works)
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

// middleTime is the median time of a phase's tasks.
func middleTime(p *sim.Phase) time.Duration {
	return middleOf(timesOf(p))
}

// middleOf is the middle value, the higher one of two; 0 if there is none.
func middleOf[T float64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// Last is how long a task's last recorded attempt took, the one that succeeded.
func Last(p *sim.Phase, task int) time.Duration {
	attempts := p.Tasks[task].Attempts
	return attempts[len(attempts)-1].Duration
}

// AppendRatios appends the times of a phase's tasks as multiples of their median.
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
