package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/rules"
)

// ages is what is known of how long copies take whatever they report: a curve of the times of those that have ended,
// run, or were killed, and how the progress of such copies runs. It costs little unless the policy reads t_rem as a
// distribution.
type ages struct {
	on           bool
	enough       int8    // ends that make a curve: three, or all others of a small phase
	doubts       float32 // how much it counts that progress may say nothing
	even         bool    // progress is believed before enough have ended, where nearly all moves evenly
	apart        bool    // the task in question runs on machines that are behind
	evenSoFar    bool    // nearly all copies that run move evenly
	plain, evens int     // copies that have ended of which it is plain how they moved, and of which moved evenly
	shape        *survival.Shape
	curve        survival.Curve
	mean         float64           // the mean work
	long         float64           // seconds that the longest took that has ended with success, had it had the mean work; 0 for none
	closed       []life            // that ended or were killed
	ended        int32             // of closed, those with success
	stride       int32             // lives of one in so many tasks are kept
	fitted       time.Duration     // when the curve was made
	since        int               // closed lives since then
	ahead        []ahead           // of each copy of the task that is looked at
	fresh        *survival.Without // nil until it is asked for
	// elsewhere is the curve without what runs on machines that are behind; nil until one is
	elsewhere *survival.Curve
}

// ahead is what is left of a copy, by its progress or by its age. They stand apart from the tracker, which is not to be
// larger for the few tasks that have several copies.
type ahead struct {
	outlook  survival.Outlook
	residual survival.Residual
}

// life is a copy that is over.
type life struct {
	seconds float32
	ended   bool
	work    float64
}

// These are choices; docs/calibration.md has how far predictions are off with them.
const (
	mostLives  = 8192 // tasks whose lives are kept: more would tell no more
	refit      = 16   // the curve is made again when its lives have grown by one in so many
	enoughEnds = 3    // ends that make a curve: before them all that looks slow may only have begun slowly
	unsure     = 8    // ends before which more work is taken to take longer, and less work not to take shorter
)

func newAges(c *Config, reads rules.Description) ages {
	n := len(c.Work)
	m := ages{on: reads.Has(rules.Left), stride: 1, fitted: noTime}
	m.enough = int8(min(max(n-1, 1), enoughEnds))
	for i, w := range c.Work {
		m.mean += (w - m.mean) / float64(i+1)
	}
	if !m.on {
		return m
	}
	for int(m.stride) < (n+mostLives-1)/mostLives {
		m.stride *= 2
	}
	m.shape = new(survival.Shape)
	switch {
	case c.Shape != nil:
		m.shape = c.Shape.Phase()
	case c.Experience != nil:
		m.shape = c.Experience.shape.Phase()
	}
	if c.Experience != nil {
		m.enough = enoughEnds
	}
	return m
}

// sure reports whether enough copies have ended to make a curve of.
func (m *ages) sure() bool { return m.curve.Ends() >= int(m.enough) }

// keeps reports whether the lives of a task's copies are kept.
func (m *ages) keeps(task int32) bool { return task%m.stride == 0 }

// add takes in the life of a copy that ended with success or was killed.
func (m *ages) add(c *copyState, work, scale float64, age time.Duration, success bool) {
	if success {
		m.long = max(m.long, age.Seconds()/scale)
	}
	if m.on && m.keeps(c.task) {
		m.closed = append(m.closed, life{float32(age.Seconds()), success, work})
		m.since++
		if success {
			m.ended++
		}
	}
}

// stale reports whether the curve is to be made again: one in sixteen of its lives is new, or an interval has passed,
// in which all that run have aged.
func (m *ages) stale(now, interval time.Duration) bool {
	return m.fitted == noTime || m.since > len(m.closed)/refit || now-m.fitted >= interval
}
