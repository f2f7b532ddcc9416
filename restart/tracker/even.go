package tracker

import (
	"github.com/straggler-go/straggler/estimate/survival"
)

// Before enough attempts have ended, an attempt that seems slow may only have begun slowly. But if nearly all attempts
// move evenly, their progress shows early which attempts are fast.

// These numbers are choices. The page docs/decisions/19-least-cost.md ("Evenness by totals") shows their worth.
const (
	shownParts  = 4   // parts of its work after which an attempt has shown whether it moves evenly
	judgedParts = 6   // parts of its work by which an attempt is judged
	enoughShown = 3   // attempts that must have shown it before the phase is judged by them
	mostlyEven  = .75 // least share of even attempts among the ended attempts and one uneven attempt
	slowAllowed = 2   // reporting attempts that need not have shown it, because they may be the slow ones
	nearlyAll   = .9  // before three have ended: least share that has shown it, and of even attempts among these
)

// countEvenness counts whether an attempt that has ended moved evenly.
func (m *ages) countEvenness(t *survival.Trail) {
	if !m.usesEvenness || t.Passed() < shownParts {
		return
	}
	m.endedShown++
	if t.Even(judgedParts) {
		m.endedEven++
	}
}

// believesEven reports whether an attempt has moved evenly so far, and most attempts did. Most means at least three in
// four of the ended attempts, with one uneven attempt added (all of four, six of seven). Before three attempts have
// ended, it means nearly all running attempts.
func (m *ages) believesEven(t *survival.Trail) bool {
	most := m.mostEvenNow
	if m.endedShown >= enoughShown {
		most = float64(m.endedEven) >= mostlyEven*float64(m.endedShown+1)
	}
	return most && t.Even(survival.Parts)
}

// nearlyAllEven reports whether nearly all running attempts have shown that they move evenly. Fast attempts show it
// first, so their evenness alone is not enough. O(n).
func (f *forecast) nearlyAllEven() bool {
	reporting, shown, even := 0, 0, 0
	f.eachRunning(func(a *attemptState) {
		if a.trail.Done() > 0 {
			reporting++
		}
		if a.trail.Passed() >= shownParts {
			shown++
			if a.trail.Even(judgedParts) {
				even++
			}
		}
	})
	return shown >= enoughShown && float64(shown+slowAllowed) >= nearlyAll*float64(reporting) &&
		float64(even) >= nearlyAll*float64(shown+1)
}
