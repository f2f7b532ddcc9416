package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/estimate/survival"
)

// What the forecast learns from the ends of copies.

// finished takes the run time of a copy that finished as a sample.
func (f *forecast) finished(s *taskState, c *copyState) {
	w, age := s.stint(c.resumed), f.book.age(c)
	f.lived(w, c, age, true)
	if c.machine != none {
		f.fleet.list[c.machine].ended++
	}
	f.weigh(w, c, age)
	if c.readAll != noTime {
		f.wrapUp.Observe(c.readAll, age)
		f.model.WrapUp = f.wrapUp.Mean()
	}
	if f.learns {
		r := f.run(w, c)
		r.Done, r.FirstWave = r.Work, s.flags&firstWave != 0 && c.attempt == s.original
		f.tellEnd(w, c, machines.Finished, f.repeats(s, c, r))
		f.rates.Finish(int(c.sample), r)
	}
	f.leaves(c)
}

// killed takes what a copy has shown that was killed or overtaken: it would have taken at least so long. What it showed
// replaces what an earlier copy of the task has, if the two say the same: then it is the task that is long. A copy was in vain
// if its host killed it, and another attempt of the task went on: the task may be as long everywhere, and the copy is no
// evidence of a slow machine. A copy that another attempt has overtaken is.
func (f *forecast) killed(s *taskState, c *copyState, inVain bool) {
	defer f.leaves(c)
	if !f.learns || !c.begun {
		return
	}
	w, age := s.stint(c.resumed), f.book.age(c)
	f.lived(w, c, age, false)
	r := f.run(w, c)
	if r.Age, r.Done = f.shown(w, c); age < f.interval {
		f.tellEnd(w, c, machines.Killed, false)
		f.rates.Drop(int(c.sample))
		return
	}
	f.tellEnd(w, c, machines.Killed, f.repeats(s, c, r) || inVain)
	h := f.book.history(s)
	h.killed, h.killedOn = int32(f.rates.Kill(int(c.sample), r)), c.machine
}

// failed drops what a copy has shown that failed: its time is no sample.
func (f *forecast) failed(s *taskState, c *copyState) {
	f.rates.Drop(int(c.sample))
	f.tellEnd(s.stint(c.resumed), c, machines.Failed, false)
	f.leaves(c)
}

// leaves takes note that a copy is a sample of those that run no longer.
func (f *forecast) leaves(c *copyState) {
	if c.sample != estimate.NoSample {
		f.sampled--
	}
}

// lived takes in the life of a copy that ended with success, or was killed.
func (f *forecast) lived(w stint, c *copyState, age time.Duration, success bool) {
	f.pupil.listen(&f.ages)
	f.ages.add(c, float64(w), f.scale(float64(w)), age, success)
	if f.pupil != nil && f.ages.on {
		f.pupil.teach(f.book.clock.Last, c.task, lesson{about: lifeOf(success), seconds: age.Seconds(), work: float64(w)})
	}
	if f.ages.on && success && !c.badUnits {
		f.ages.shape.Finish(&c.trail, age, f.model)
		f.ages.moved(&c.trail)
	}
}

// repeats drops the sample of the copy of the task that was killed last if this one has taken about as long: then the
// task is long, and counts once. It reports whether it is long on another machine as well, so that neither is slow for
// it.
func (f *forecast) repeats(s *taskState, c *copyState, r estimate.Run) bool {
	if s.history == none {
		return false
	}
	h := &f.book.histories[s.history]
	if !f.rates.Repeat(int(h.killed), r) {
		return false
	}
	h.killed = estimate.NoSample // its id may be another sample's from now on
	return h.killedOn != c.machine
}

// A copy's last report is late enough from three quarters of its time on: a choice.
const (
	lateParts = 3
	lateOf    = 4
)

// weigh notes whether a copy that has ended with success had shown how far it was, if its last report was late enough
// to.
func (f *forecast) weigh(w stint, c *copyState, age time.Duration) {
	done, at := f.done(w, c), c.progress.At()
	if done <= 0 || c.badUnits || at < age/lateOf*lateParts || at/enoughInLife < f.interval {
		return
	}
	if f.doubt.weigh(done*survival.Parts < w.units()) { // less than what the shape of progress can learn from
		f.disbelieve(c)
	}
}

// disbelieve forgets what was learned from progress, except what the copy that has just ended shows by its time. It
// happens O(log n) times in a phase.
func (f *forecast) disbelieve(ended *copyState) {
	f.reported = false
	for i := range f.book.tasks {
		s := &f.book.tasks[i]
		for j := s.copies; j != none; j = f.book.copies.all[j].next {
			if c := &f.book.copies.all[j]; c != ended && c.sample != estimate.NoSample {
				f.rates.Drop(int(c.sample))
				c.sample = estimate.NoSample
				f.sampled--
			}
		}
		if s.history != none {
			h := &f.book.histories[s.history]
			f.rates.Drop(int(h.killed))
			h.killed = estimate.NoSample
		}
	}
}
