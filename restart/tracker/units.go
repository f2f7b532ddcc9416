package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
)

// Progress in too large a unit is seen at once: more is done than there is. In too small a unit it looks like a phase
// of stragglers, until copies end with success of which hardly anything was known to be done. A policy that goes by
// t_rem would restart what is healthy.

const (
	enoughSmall  = 3 // copies whose progress said nothing, and most of all, before that of their phase is not believed
	fewSmall     = 4 // one in so many, or fewer: then it is believed again
	enoughInLife = 3 // intervals that a copy has run at its last report: a short one may have had no time to tell
)

// weigh notes whether a copy that has ended with success had shown how far it was, if its last report was late enough
// to.
func (t *Tracker) weigh(s *taskState, c *copyState, age time.Duration) {
	done, at := t.done(s, c), c.progress.At()
	if done <= 0 || c.badUnits || at < age/4*3 || at/enoughInLife < t.config.Interval {
		return
	}
	t.progressed++
	if done*survival.Parts < s.units() { // less than what the shape of progress can learn from
		t.ledger.SmallUnits++
	}
	switch small := t.ledger.SmallUnits; {
	case t.smallUnits:
		t.smallUnits = small > t.progressed/fewSmall
	case small >= enoughSmall && small > t.progressed/2:
		t.disbelieve(c)
	}
}

// disbelieve forgets what was learned from progress, except what the copy that has just ended shows by its time. It
// happens O(log n) times in a phase.
func (t *Tracker) disbelieve(ended *copyState) {
	t.smallUnits, t.reported = true, false
	for i := range t.tasks {
		s := &t.tasks[i]
		for j := s.copies; j != none; j = t.copies.all[j].next {
			if c := &t.copies.all[j]; c != ended && c.sample != estimate.NoSample {
				t.rates.Drop(int(c.sample))
				c.sample = estimate.NoSample
				t.sampled--
			}
		}
		if s.history != none {
			h := &t.histories[s.history]
			t.rates.Drop(int(h.killed))
			h.killed = estimate.NoSample
		}
	}
}
