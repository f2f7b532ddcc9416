package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
)

// If the unit of progress is too large, an attempt reports more work than its task has, which is seen at once. If the
// unit is too small, the phase looks like a phase of stragglers. This is seen when attempts end with success after
// reporting hardly any work. Until then a policy that goes by t_rem would restart healthy attempts.

// These numbers are choices. They give no false alarm with even, early, late, stepwise or random progress.
const (
	overWork        = 1.01 // x work; reports up to this are not too large, because of rounding and a last block
	enoughSmall     = 3    // after so many attempts with too little progress, if a majority, progress is not believed
	fewSmall        = 4    // progress is believed again if at most one attempt in this number shows too little
	enoughIntervals = 3    // x interval; an attempt counts only if it has run for this at its last report
)

// unitCheck counts reports in a wrong unit, and decides whether progress is believed.
type unitCheck struct {
	tooLarge    int  // reports of more work than the task has
	judged      int  // attempts that ended with success and had reported progress late
	tooSmall    int  // judged attempts that reported too little progress
	disbelieved bool // progress is not believed
}

// add counts an attempt that ended with success and had reported progress late. It reports whether progress is no
// longer believed from now on.
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

// An attempt's last report is late if it came after three quarters of the attempt's time: a choice.
const (
	lateParts = 3
	lateOf    = 4
)

// checkUnit counts an attempt that has ended with success, if its last report was late. It checks that the attempt had
// reported enough progress.
func (f *forecast) checkUnit(w stint, a *attemptState, age time.Duration) {
	done, at := f.done(w, a), a.progress.At()
	if done <= 0 || a.badUnits || at < age/lateOf*lateParts || at/enoughIntervals < f.interval {
		return
	}
	small := done*survival.Parts < w.units() // less than a shape of progress can learn from
	if f.units.add(small) {
		f.forgetProgress(a)
	}
}

// forgetProgress drops all samples that rest on progress, except the sample of the attempt that has just ended, which
// rests on its run time. It is called O(log n) times in a phase.
func (f *forecast) forgetProgress(ended *attemptState) {
	f.reported = false
	for i := range f.book.tasks {
		s := &f.book.tasks[i]
		for j := s.newest; j != none; j = f.book.attempts.all[j].next {
			if a := &f.book.attempts.all[j]; a != ended && a.sample != estimate.NoSample {
				f.rates.Drop(int(a.sample))
				a.sample = estimate.NoSample
				f.runningSamples--
			}
		}
		if s.history != none {
			h := &f.book.histories[s.history]
			f.rates.Drop(int(h.killed))
			h.killed = estimate.NoSample
		}
	}
}
