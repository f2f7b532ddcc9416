package compare

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Packing compares two orders of the tasks of a phase, on the slots that the phase had.
type Packing struct {
	Phase int // index of the phase
	// Time is the recorded time of the phase. Largest is its time if a free slot always takes the longest waiting
	// task.
	Time, Largest time.Duration
	// Longest is the time of the longest task, a lower bound for any order and any number of slots.
	Longest time.Duration
}

// Pack returns the phases that would be shorter if the longest tasks started first, the largest gain first. It
// assumes that the times of tasks are known from an earlier run, and that no task waits for another. It leaves out
// phases in which all tasks start at once, or in which one slot runs all tasks: the order makes no difference there.
// It also leaves out phases whose slots rest for more than a quarter of their working time, because their tasks wait
// for something other than a slot.
func Pack(phases []*sim.Phase) (packed []Packing, err error) {
	for i, p := range phases {
		if len(p.Slots) < 2 || len(p.Tasks) <= len(p.Slots) || !queued(p) {
			continue
		}
		own := *p
		own.Tasks = slices.Clone(p.Tasks)
		b := Packing{Phase: i}
		for k := range own.Tasks {
			took := Last(p, k)
			b.Longest = max(b.Longest, took)
			own.Tasks[k].Work = max(took.Seconds(), 1e-9)
		}
		own.Interval = max(own.Interval, b.Longest) // no reports are needed
		for _, run := range []struct {
			largest bool
			time    *time.Duration
		}{{false, &b.Time}, {true, &b.Largest}} {
			r, err := sim.Run(&own, sim.Options{Policy: restart.Never{}, LargestFirst: run.largest})
			if err != nil {
				return nil, err
			}
			*run.time = r.Time
		}
		packed = append(packed, b)
	}
	slices.SortStableFunc(packed, func(a, b Packing) int { return cmp.Compare(b.Time-b.Largest, a.Time-a.Largest) })
	return packed, nil
}

// queued reports whether the tasks of the phase waited mainly for slots.
func queued(p *sim.Phase) bool {
	var rests, works time.Duration
	for _, s := range p.Slots {
		for _, rest := range s.Rests {
			rests += rest
		}
	}
	for _, t := range p.Tasks {
		for _, a := range t.Attempts {
			works += a.Duration
		}
	}
	return 4*rests <= works
}

// Chain returns the indexes of a chain of phases that ends with the phase that ended last. The phase before each
// phase in the chain is its input phase that ended last.
func Chain(phases []*sim.Phase) (chain []int) {
	end := func(i int) time.Duration { return phases[i].Begins + phases[i].Recorded }
	at := -1
	for i := range phases {
		if at < 0 || end(i) > end(at) {
			at = i
		}
	}
	for at >= 0 {
		chain = append(chain, at)
		before := -1
		for _, d := range phases[at].DependsOn {
			if before < 0 || end(d) > end(before) {
				before = d
			}
		}
		at = before
	}
	slices.Reverse(chain)
	return chain
}
