package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
)

// Attempts may report progress in another unit than Config.Work. If the reported numbers are too large, an attempt
// reports more work than its task has, and the first such report shows it. If the numbers are too small, all attempts
// look slow. This becomes known only when attempts have ended with success, although they had reported hardly any
// work. Until then, a policy that reads the remaining time would restart healthy attempts.

// These numbers decide whether progress has a wrong unit, and are choices. They give no false alarm if progress is
// even, early, late, stepwise or random.
const (
	// If an attempt reports more than this number of times its work, the report has a wrong unit. It is a little more
	// than 1, to allow for rounding, and for a last block that is counted in full.
	overWork = 1.01
	// Progress is no longer believed after this number of attempts that had reported too little progress, if they are
	// the majority.
	enoughSmall = 3
	// Progress is believed again if at most one in four of the judged attempts had reported too little progress.
	fewSmall = 4
	// An attempt is judged only if its age at its last report was at least this number of intervals.
	enoughIntervals = 3
)

// unit has the fact of the check of units about an attempt that runs.
type unit struct {
	bad bool // the attempt's last report said that more work is done than the task has
}

// unitCheck counts the reports and the attempts that show progress in a wrong unit, and decides whether progress is
// believed.
type unitCheck struct {
	tooLarge    int  // number of reports of more work than the task has
	judged      int  // number of attempts that ended with success and whose last report was late
	tooSmall    int  // number of these attempts whose last report was too small
	disbelieved bool // progress is not believed; ages are used instead
}

// check counts a report, which is bad if it says that more work is done than the task has. It returns true if the
// attempt's report before was bad, and this report is not.
func (d *unitCheck) check(u *unit, bad bool) (corrected bool) {
	corrected = u.bad && !bad
	if u.bad = bad; bad {
		d.tooLarge++
	}
	return corrected
}

// believes reports whether the progress of the phase's attempts is believed.
func (d *unitCheck) believes() bool { return !d.disbelieved }

// add counts an attempt that has ended with success and that reported in the last quarter of its time. Small says
// that this report was far too small. The result lost says that progress was believed before, and is no longer
// believed from now on.
func (d *unitCheck) add(small bool) (lost bool) {
	d.judged++
	if small {
		d.tooSmall++
	}
	switch {
	case d.disbelieved:
		d.disbelieved = d.tooSmall > d.judged/fewSmall
	case d.tooSmall >= enoughSmall && d.tooSmall > d.judged/2:
		d.disbelieved, lost = true, true
	}
	return lost
}

// The last report of an attempt is late if it came after lateParts/lateOf, or three quarters, of the attempt's time.
// The numbers are a choice.
const (
	lateParts = 3
	lateOf    = 4
)

// ended looks at the last report of an attempt that has ended with success, if this report came late. It counts the
// attempt, and whether the report was less than a twelfth of the work. So little progress shows that Done has a wrong
// unit. Done is the work that the report contained. The result is that of add.
func (d *unitCheck) ended(r run, done float64, interval time.Duration) (lost bool) {
	at := r.progress.At()
	if done <= 0 || r.bad || at < r.age/lateOf*lateParts || at/enoughIntervals < interval {
		return false
	}
	return d.add(done*survival.Parts < r.work.units())
}
