package tracker

import "github.com/straggler-go/straggler/estimate/survival"

// Before enough copies have ended, an attempt that seems slow may only have begun slowly. If nearly all attempts move
// evenly, though, their progress shows how fast each is.

// These are choices; docs/decisions/19-least-cost.md ("Evenness by totals") has what they are worth.
const (
	plainParts = 4   // parts of its work that an attempt has passed when it has shown whether it moves evenly
	firstParts = 6   // parts of its work by which an ended attempt is judged
	enoughEven = 3   // attempts that have shown it, before the phase is judged by them
	mostlyEven = .75 // the share of even attempts among the ended ones and one uneven attempt, from which progress is believed
	fewSlow    = 2   // reporting attempts that need not have shown it: they may be the slow ones
	mostEven   = .9  // before three have ended: the share of attempts that must have shown it, and of even ones among these
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

// evenly reports whether a copy has moved evenly so far, and whether most did: at least three in four copies that ended,
// with one uneven copy added to them (all of four, six of seven), or before that nearly all of those that run.
func (m *ages) evenly(t *survival.Trail) bool {
	most := m.evenSoFar
	if m.plain >= enoughEven {
		most = float64(m.evens) >= mostlyEven*float64(m.plain+1)
	}
	return most && t.Even(survival.Parts)
}

// allEven reports whether nearly all running copies have shown that they move evenly. The fast copies show it first. To go by
// the fast ones alone would be to believe every phase. O(n).
func (f *forecast) allEven() bool {
	reporting, plain, even := 0, 0, 0
	f.running(func(c *copyState, _ stint) {
		if c.trail.Done() > 0 {
			reporting++
		}
		if c.trail.Passed() >= plainParts {
			if plain++; c.trail.Even(firstParts) {
				even++
			}
		}
	})
	return plain >= enoughEven && float64(plain+fewSlow) >= mostEven*float64(reporting) && float64(even) >= mostEven*float64(plain+1)
}
