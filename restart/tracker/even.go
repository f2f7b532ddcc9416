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
	// The number of ended attempts from which a growing phase halves the counts.
	manyShown = 64
)

// evenness counts the ended attempts that progressed evenly.
type evenness struct {
	shown int // number of ended attempts that reported often enough to show whether they progressed evenly
	even  int // number of these attempts that progressed evenly
}

// count counts an attempt that has ended, and whether it progressed evenly. It ignores an attempt that completed fewer
// than judgedParts parts.
func (ev *evenness) count(t *survival.Trail) {
	if t.Passed() < judgedParts {
		return
	}
	ev.shown++
	if t.Even(judgedParts) {
		ev.even++
	}
}

// halve halves the weight of the attempts that have ended, when they are many. A growing phase calls it, so that its
// latest attempts count.
func (ev *evenness) halve() {
	if ev.shown >= manyShown {
		ev.shown, ev.even = ev.shown/2, ev.even/2
	}
}

// believes reports whether an attempt has progressed evenly so far, and most other attempts of the phase did,
// too. Most means at least three in four of the ended attempts, with one uneven attempt added to these: for example
// all of four, or six of seven. Before three attempts have ended, the answer is no.
func (ev *evenness) believes(t *survival.Trail) bool {
	most := ev.shown >= survival.EnoughEnds && float64(ev.even) >= mostlyEven*float64(ev.shown+1)
	return most && t.Even(survival.Parts)
}
