package compare

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// The names of the ideal schemes in Mantri's evaluation, which know the times of tasks in advance [Mantri §6.1]. A
// scheme is replayed on the slots of the phase, with other times of the tasks.
const (
	// NoSkew gives every task the mean time of its phase.
	NoSkew = "no-skew"
	// ChopTail removes the slowest quarter of the times, and gives every task the mean of the other times.
	ChopTail = "chop-tail"
)

type ideal struct {
	name string
	of   func([]*sim.Phase) []*sim.Phase
}

func ideals() []ideal {
	return []ideal{
		{NoSkew, func(phases []*sim.Phase) []*sim.Phase { return alike(phases, 1) }},
		{ChopTail, func(phases []*sim.Phase) []*sim.Phase { return alike(phases, 0.75) }},
	}
}

// alike returns the phases with other times: every task takes the mean of the fastest part of the times.
func alike(phases []*sim.Phase, part float64) []*sim.Phase {
	return changed(phases, func(p *sim.Phase) func(time.Duration) time.Duration {
		times := timesOf(p)
		slices.Sort(times)
		times = times[:max(1, len(times)-int(float64(len(times))*(1-part)))]
		var sum time.Duration
		for _, t := range times {
			sum += t
		}
		mean := sum / time.Duration(len(times))
		return func(time.Duration) time.Duration { return mean }
	})
}

// evened returns the phases with other times: every straggler takes the median of its phase.
func evened(phases []*sim.Phase) []*sim.Phase {
	return changed(phases, func(p *sim.Phase) func(time.Duration) time.Duration {
		middle := middleTime(p)
		return func(d time.Duration) time.Duration {
			if slow(d, middle) {
				return middle
			}
			return d
		}
	})
}

// changed returns the phases with the times of successful attempts changed by a rule.
func changed(phases []*sim.Phase, rule func(*sim.Phase) func(time.Duration) time.Duration) []*sim.Phase {
	others := make([]*sim.Phase, len(phases))
	for i, p := range phases {
		other := *p
		other.Tasks = slices.Clone(p.Tasks)
		change := rule(p)
		for j := range other.Tasks {
			attempts := slices.Clone(p.Tasks[j].Attempts)
			last := &attempts[len(attempts)-1]
			last.Duration = change(last.Duration)
			other.Tasks[j].Attempts = attempts
		}
		others[i] = &other
	}
	return others
}

func timesOf(p *sim.Phase) []time.Duration {
	times := make([]time.Duration, len(p.Tasks))
	for i := range p.Tasks {
		times[i] = Last(p, i)
	}
	return times
}
