package tracker

import (
	"github.com/straggler-go/straggler/estimate/survival"
)

// An attempt that seems slow may only have begun slowly. But if most attempts of the phase progressed evenly, at a
// constant speed, progress shows early which attempts are slow.

// These numbers are choices. The page docs/decisions/19-least-cost.md ("Evenness by totals") shows how much they
// matter.
const (
	// An attempt shows in the first half of its work whether it progresses evenly. A part is a twelfth of the work.
	judgedParts = survival.Parts / 2
	// At least this share of the ended attempts must have progressed evenly. One uneven attempt is added to the ended
	// attempts before the share is computed.
	mostlyEven = .75
)

// countEvenness counts an attempt that has ended, and whether it progressed evenly. It ignores an attempt that
// completed fewer than judgedParts parts.
func (m *ages) countEvenness(t *survival.Trail) {
	if !m.readsTrials || t.Passed() < judgedParts {
		return
	}
	m.endedShown++
	if t.Even(judgedParts) {
		m.endedEven++
	}
}

// believesEven reports whether an attempt has progressed evenly so far, and most other attempts of the phase did,
// too. Most means at least three in four of the ended attempts, with one uneven attempt added to these: for example
// all of four, or six of seven. Before three attempts have ended, the answer is no.
func (m *ages) believesEven(t *survival.Trail) bool {
	most := m.endedShown >= survival.EnoughEnds && float64(m.endedEven) >= mostlyEven*float64(m.endedShown+1)
	return most && t.Even(survival.Parts)
}
