package tracker

import (
	"math"
	"slices"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
)

// Before enough copies have ended, an attempt that seems slow may only have begun slowly. If nearly all attempts move
// evenly, though, their progress shows how fast each is: then what is far slower than most is slow.

// These are choices; docs/decisions/19-least-cost.md ("Evenness by totals") has what they are worth.
const (
	plainParts = 4   // parts of its work after which it is plain whether an attempt moves evenly
	firstParts = 6   // parts of its work by which an attempt that has ended is judged
	enoughEven = 3   // attempts that have ended before it is known whether most move evenly
	mostlyEven = .75 // the share of them, one uneven attempt added, from which on the progress of an even attempt is believed
	mostEven   = 0.9 // the share of running attempts from which on progress is believed before enough have ended
	spreads    = 4   // by how many times the spread of the faster half an attempt must be slower than the median
)

// moved takes note of whether a copy that has ended moved evenly.
func (m *ages) moved(t *survival.Trail) {
	if !m.even || t.Passed() < plainParts {
		return
	}
	if m.plain++; t.Even(firstParts) {
		m.evens++
	}
}

// evenly reports whether a copy has moved evenly so far, and whether at least three in four copies that ended did, with
// one uneven copy added to them: all of four, six of seven.
func (m *ages) evenly(t *survival.Trail) bool {
	return m.plain >= enoughEven && float64(m.evens) >= mostlyEven*float64(m.plain+1) && t.Even(survival.Parts)
}

// slow returns the seconds, for a task of the mean work, from which on an attempt is slow before enough have ended; 0 if
// that is not known. O(n log n) in what runs.
func (f *forecast) slow() float64 {
	plain, even, totals := 0, 0, f.ages.totals[:0]
	f.running(func(c *copyState, w stint) {
		if c.trail.Passed() >= plainParts {
			if plain++; c.trail.Even(firstParts) {
				even++
			}
		}
		total := c.trail.Total() / f.scale(float64(w))
		if f.book.age(c) >= num.Times(f.interval, enoughInLife) && num.Finite(total) && total > 0 {
			totals = append(totals, math.Log(total))
		}
	})
	f.ages.totals = totals
	if min(plain, len(totals)) < enoughEnds || float64(even) < mostEven*float64(plain) {
		return 0
	}
	slices.Sort(totals)
	faster := totals[:(len(totals)+1)/2]
	median, spread := faster[len(faster)-1], 0.0
	for _, x := range faster {
		spread += float64((median - x) * (median - x))
	}
	return math.Exp(median + float64(spreads*math.Sqrt(spread/float64(len(faster)))))
}
