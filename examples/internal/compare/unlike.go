package compare

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Packing is what the order of a phase's tasks makes of its time, on the slots that it had.
type Packing struct {
	Phase int // index
	// Time is the phase's time as recorded, Largest if the longest task that waits always starts first.
	Time, Largest time.Duration
	// Longest is the time of the longest task: no order and no number of slots does with less.
	Longest time.Duration
}

// Pack says what starting the longest tasks first would make of the phases, given that how long each takes is known
// beforehand, from an earlier run, and that none waits for another. Phases in which all tasks start at once, or one
// slot runs them all, are left out: order is nothing there. So are those whose slots rest for more than a quarter of the
// time that they work: their tasks wait for something else than a slot. The largest gain comes first.
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
		own.Interval = max(own.Interval, b.Longest) // nobody listens to reports
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

// queued says whether the phase's tasks waited for slots, and for little else.
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

// Chain returns the phases, by index, that the one which ends last waited for, the first of them first: of those that
// each reads the one that ended last.
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
