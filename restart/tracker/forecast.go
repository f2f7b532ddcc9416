package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/num"
)

// forecast is what is known of how long copies take: of each that runs by what it reports (t_rem), of one more by what
// others took (t_new). Reports and ends go in; [forecast.foresee] and [forecast.fresh] give answers.
type forecast struct {
	book     *book
	fleet    *fleet
	interval time.Duration
	learns   bool // somebody reads how long a unit of work takes
	expects  bool // a prior says how long tasks take
	reported bool // some copy has reported progress that is believed
	sampled  int  // copies that are samples while they run
	model    estimate.Linear
	wrapUp   estimate.WrapUp
	rates    *estimate.UnitTimes
	lag      lag
	ages     ages
	doubt    doubt
	pupil    *pupil // nil: there is no experience
}

// report takes in what a copy reports, and returns its progress score.
func (f *forecast) report(s *taskState, c *copyState, r *Report) (score float64) {
	wasBad := c.badUnits
	done, score := f.claim(s, c, r)
	w := s.stint(c.resumed)
	age, units := f.book.age(c), w.units()
	if wasBad && !c.badUnits {
		c.progress = estimate.Progress{} // what could not be right is forgotten, so that this one counts
	}
	f.model.Report(&c.progress, age, f.read(w, done))
	f.follow(w, c, age, done)
	f.reported = f.reported || done > 0 && !f.doubt.on
	done = f.done(w, c)
	if done >= units && c.readAll == noTime && !c.badUnits {
		c.readAll = age
	}
	c.remaining = estimate.Unknown
	if r.Remaining > 0 {
		c.remaining = num.Add(f.book.now, r.Remaining) // kept as the instant of the end, so that it runs down
	}
	if score == 0 && !c.badUnits {
		score = min(done/units, 1)
	}
	f.sample(w, c, age, done)
	return score
}

// claim returns what a report says that a copy has done, and its score, of the work that the copy has found: without
// what a checkpoint held.
func (f *forecast) claim(s *taskState, c *copyState, r *Report) (done, score float64) {
	score, done = min(r.Score, 1), r.Done
	if c.badUnits = s.flags&knownWork != 0 && s.work > 0 && max(done, r.Saved) > beyond*s.work; c.badUnits {
		f.doubt.bad++ // it says how much was done, and nothing of how much is left
		return done, c.score
	}
	f.book.save(s, r.Saved)
	switch {
	case s.work == 0 && score == 0:
		done = 1
	case s.work == 0:
		done = score
	case done == 0:
		done = score * s.work
	}
	if c.resumed == 0 {
		return done, score
	}
	found := c.resumed.of(s.work)
	if done > 0 && beyond*done < found && c.progress.Done() == 0 {
		c.resumed = 0 // it did not find the checkpoint, or made nothing of it
		return done, score
	}
	if left := s.work - found; score > 0 && left > 0 { // of a work that is next to nothing, all may be saved
		score = min(max(float64(score*s.work)-found, 0)/left, 1)
	}
	return max(done-found, 0), score
}

// read returns the work that stands for the share of its time that a copy has run, when it has done so much.
func (f *forecast) read(w stint, done float64) float64 {
	if !f.ages.on {
		return done
	}
	return f.ages.shape.Time(done/w.units()) * w.units()
}

// done is the work that a copy has reported; where its progress is read through a shape, to within a share of 2^-24.
func (f *forecast) done(w stint, c *copyState) float64 {
	if !f.ages.on {
		return c.progress.Done()
	}
	return c.trail.Done() * w.units()
}

// bias is by what predictions from a copy's progress are too long.
func (f *forecast) bias(c *copyState) float64 {
	if !f.ages.on {
		return 1
	}
	return f.ages.shape.Bias(c.trail.Passed())
}

// follow notes how far a copy has come, and what is predicted of it at the end of each part of its progress.
func (f *forecast) follow(w stint, c *copyState, age time.Duration, done float64) {
	if !f.ages.on || c.badUnits {
		return
	}
	before := c.trail.Passed()
	c.trail.Report(age, done/w.units())
	if c.trail.Passed() == before {
		return
	}
	c.atStage = 0
	if left := f.model.Remaining(&c.progress, age, w.units()); left != estimate.Unknown {
		c.atStage = float32(num.Add(age, left).Seconds())
	}
}

// sample refreshes what a running copy contributes to the distribution of unit times: from its first interval on,
// however little it has done. To wait until it has done a share of its work would let only the fast ones in.
func (f *forecast) sample(w stint, c *copyState, age time.Duration, done float64) {
	if !f.learns || done <= 0 || age < f.interval || c.badUnits || f.doubt.on {
		return
	}
	f.tellRunning(w, c)
	implied := float64(age.Seconds() / min(c.progress.Done()/w.units(), 1) * f.bias(c)) // no fused multiply-subtract
	switch {
	case c.sample != estimate.NoSample:
		if math.Abs(implied-float64(c.implied)) <= near*implied {
			return
		}
		f.sampled--
	case f.sampled >= enoughRunning:
		return
	}
	c.implied = float32(implied)
	if c.sample = int32(f.rates.Running(int(c.sample), f.run(w, c))); c.sample != estimate.NoSample {
		f.sampled++
	}
}

// enoughRunning is how many copies that run are samples at once: the mean of so many is known to a 64th where times spread
// as much as their mean. When one ends, the next that reports takes its place. The samples of 65,536 would not stay in a
// processor's cache.
const enoughRunning = 1 << 12

// near is how much a running copy's sample may be off before it is taken again: far below what one more report changes,
// and most reports change less.
const near = 1. / 64

// run is what is known of a copy's run.
func (f *forecast) run(w stint, c *copyState) estimate.Run {
	machine := f.fleet.number(c.machine)
	r := estimate.Run{Age: f.book.age(c), Work: float64(w), Done: c.progress.Done() / f.bias(c), Machine: machine}
	if c.badUnits {
		r.Done = 0
	}
	if f.fleet.path != nil {
		r.Path = f.fleet.way(int(c.task), machine)
	}
	return r
}

// shown is the age of a copy as of which its progress implies its whole time: that of its last report, since a copy
// that is silent since then has not stopped. But it has taken at least its age.
func (f *forecast) shown(w stint, c *copyState) (age time.Duration, done float64) {
	age, done = f.book.age(c), c.progress.Done()/f.bias(c)
	at := c.progress.At()
	switch {
	case c.badUnits || f.doubt.on:
		return age, 0
	case done <= 0 || at <= 0:
		return age, done
	case at.Seconds()*w.units() < age.Seconds()*done:
		return age, w.units()
	}
	return at, done
}

// tellAgain is by one part in how many a copy must be older than when the record was told of it last, and by half an
// interval, to be told of again. A choice: what it takes by its progress has changed by then, and reports are many more.
const tellAgain = 8

// tellRunning tells the record of the machines how a copy gets on, if it has shown much more since the last time.
func (f *forecast) tellRunning(w stint, c *copyState) {
	age := f.book.age(c)
	told := time.Duration(float64(c.told) * 1e9)
	if f.fleet.record == nil || c.machine == none || age < told+told/tellAgain+f.interval/2 ||
		!f.fleet.admit(c.machine, f.book.now, f.interval) {
		return
	}
	c.told = float32(age.Seconds())
	f.fleet.slow.asOf = 0
	key := f.fleet.member.Key(int(c.task), int(c.attempt))
	f.fleet.record.Running(f.book.clock.Last, f.fleet.number(c.machine), key, f.attempt(w, c))
}

// tellEnd tells the record that a copy has ended, and how. Long says that the task is known to be long wherever it
// runs: then the copy's time says nothing about the machine.
func (f *forecast) tellEnd(w stint, c *copyState, how machines.Outcome, long bool) {
	if f.fleet.record == nil || c.machine == none || !c.begun {
		return
	}
	a := f.attempt(w, c)
	if how == machines.Finished {
		a.Ran, a.Done = f.book.age(c), 1
	}
	if long {
		a.Usual = 0
	}
	f.fleet.slow.asOf = 0
	key := f.fleet.member.Key(int(c.task), int(c.attempt))
	f.fleet.record.End(f.book.clock.Last, f.fleet.number(c.machine), key, a, how)
}

// attempt is what the record is told of a copy.
func (f *forecast) attempt(w stint, c *copyState) machines.Attempt {
	age, done := f.shown(w, c)
	a := machines.Attempt{Ran: age, Done: min(done/w.units(), 1)}
	if usual, known := f.usual(w); known {
		a.Usual = num.Times(usual, f.fleet.way(int(c.task), f.fleet.number(c.machine)))
	}
	return a
}
