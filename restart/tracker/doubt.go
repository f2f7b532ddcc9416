package tracker

// Progress in too large a unit is seen at once: more is done than there is. In too small a unit it looks like a phase
// of stragglers, until copies end with success of which hardly anything was known to be done. A policy that goes by
// t_rem would restart what is healthy.

// These are choices, of which none raises a false alarm with even, early, late, stepwise or random progress.
const (
	beyond       = 1.01 // times its work a task may report as done: what rounding and a last block make of it
	enoughSmall  = 3    // copies whose progress said nothing, and most of all, before that of their phase is not believed
	fewSmall     = 4    // one in so many, or fewer: then it is believed again
	enoughInLife = 3    // intervals that a copy has run at its last report: a short one may have had no time to tell
)

// doubt is how far reports are believed.
type doubt struct {
	bad        int  // reports of more work than there is
	progressed int  // copies that ended with success and had reported progress late
	small      int  // of which so little that its unit must be too small
	on         bool // most of them: progress says nothing
}

// weigh takes in a copy that has ended with success and reported progress late, and reports whether the progress of its
// phase is no longer believed from now on.
func (d *doubt) weigh(small bool) (lost bool) {
	d.progressed++
	if small {
		d.small++
	}
	switch {
	case d.on:
		d.on = d.small > d.progressed/fewSmall
	case d.small >= enoughSmall && d.small > d.progressed/2:
		d.on, lost = true, true
	}
	return lost
}
