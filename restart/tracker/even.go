package tracker

import "github.com/straggler-go/straggler/estimate/survival"

// Before enough copies have ended, an attempt that seems slow may only have begun slowly. If nearly all attempts move
// evenly, though, their progress shows how fast each is.

// These are choices; docs/decisions/19-least-cost.md ("Evenness by totals") has what they are worth.
const (
	plainParts = 4   // parts of its work after which it is plain whether an attempt moves evenly
	firstParts = 6   // parts of its work by which an attempt that has ended is judged
	enoughEven = 3   // attempts before it is known whether most move evenly
	mostlyEven = .75 // the share of those that ended, one uneven added, from which on the progress of an even attempt is believed
	fewSlow    = 2   // attempts of which it need not be plain: they may be the slow ones
	mostEven   = .9  // before three have ended: the share of those that run which must have shown it, and of these the even ones
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

// allEven reports whether nearly all copies that run move evenly, as far as has been seen: that is plain of nearly all
// that report. Those that it is plain of first are the fast ones; to go by them alone would be to believe all. O(n).
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
