package why

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// Copies counts the copies that the log's own engine ran: attempts beside another attempt of their task.
type Copies struct {
	// Launched is the number of copies, and Won the number of these that ended their task. Unmarked is the number of
	// copies that the log does not mark as speculative, but that overlap with another attempt.
	Launched, Won, Unmarked int
	// Wasted is the slot time of attempts that ran beside another attempt and did not end their task.
	Wasted time.Duration
}

// Add adds the copies of a log.
func (c *Copies) Add(log *trace.Log) {
	for i := range log.Phases {
		p := &log.Phases[i]
		byTask := make([][]*trace.Attempt, p.Tasks)
		for j := range p.Attempts {
			if a := &p.Attempts[j]; int(a.Task) < len(byTask) && a.State != trace.Cached {
				if _, ok := a.Duration(); ok {
					byTask[a.Task] = append(byTask[a.Task], a)
				}
			}
		}
		for _, own := range byTask {
			c.task(own)
		}
	}
}

// task counts the copies of one task. Its attempts are in the order of their starts.
func (c *Copies) task(own []*trace.Attempt) {
	var until int64                     // the latest end of the attempts so far
	var last *trace.Attempt             // the attempt with this end
	beside := map[*trace.Attempt]bool{} // attempts that ran beside another
	var copies []*trace.Attempt
	for _, a := range own {
		start, finish := a.Start.Or(0), a.Finish.Or(0)
		if last != nil && start < until {
			copies = append(copies, a)
			beside[a], beside[last] = true, true
		}
		if last == nil || finish > until {
			until, last = finish, a
		}
	}
	if len(copies) == 0 {
		return
	}
	winner := slices.MinFunc(own, func(a, b *trace.Attempt) int { return rank(a, b) })
	for _, a := range copies {
		c.Launched++
		if a.Speculative != trace.Yes {
			c.Unmarked++
		}
		if a == winner && succeeded(a) {
			c.Won++
		}
	}
	for a := range beside {
		if a != winner {
			d, _ := a.Duration()
			c.Wasted += d
		}
	}
}

func succeeded(a *trace.Attempt) bool { return a.State == trace.Succeeded || a.State == trace.Lost }

// rank orders attempts so that the first success is first.
func rank(a, b *trace.Attempt) int {
	if succeeded(a) != succeeded(b) {
		if succeeded(a) {
			return -1
		}
		return 1
	}
	return int(a.Finish.Or(0) - b.Finish.Or(0))
}
