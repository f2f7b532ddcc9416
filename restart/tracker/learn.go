package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/num"
)

// The methods below pass the report or the end of an attempt to the parts that learn from it.

// run returns an attempt as the forecast sees it now.
func (x *phase) run(a *attemptState) run {
	return run{&a.track, x.book.tasks[a.task].stint(a.resumed), x.book.age(a), a.unit.bad}
}

// learnReport learns from a progress report of an attempt, and returns the attempt's progress score.
func (x *phase) learnReport(s *taskState, a *attemptState, of *Report) (score float64) {
	c := claimed(s, a, of)
	if x.units.check(&a.unit, c.bad) {
		a.track.forget()
	}
	if !c.bad {
		x.book.save(s, of.Saved)
	}
	if c.anew {
		x.book.startsAnew(a)
	}
	ends := estimate.Unknown
	if of.Remaining > 0 {
		ends = num.Add(x.book.now, of.Remaining) // a time, so that t_rem decreases
	}
	r := x.run(a)
	done := x.forecast.report(r, &c, ends, x.units.believes())
	if c.score == 0 && !c.bad {
		c.score = min(done/r.work.units(), 1)
	}
	if x.forecast.samples(r, done, x.units.believes()) {
		x.recordRunning(a, r)
		if implied, changed := x.forecast.implies(r); changed {
			x.forecast.setSample(r.track, implied, x.sampleOf(a, r))
		}
	}
	return c.score
}

// sampleOf returns the facts of an attempt's run so far, in the form that package estimate needs.
func (x *phase) sampleOf(a *attemptState, r run) estimate.Run {
	return x.forecast.sampleOf(r, x.fleet.site(x.book.index(a.task), a.machine))
}

// recordRunning tells the record of machines how an attempt runs, if the attempt has aged enough since it did last.
func (x *phase) recordRunning(a *attemptState, r run) {
	if x.fleet.wants(&a.recorded, a.machine, r.age, x.book.now, x.forecast.interval) {
		x.fleet.running(x.book.clock.Last, a.machine, x.book.index(a.task), a.attempt, x.observation(a, r))
	}
}

// recordEnd tells the record of machines that an attempt has ended, and how it ended. Long says that the task takes
// long, or may take long, on other machines as well. Then a long run time is no evidence that the machine is slow.
func (x *phase) recordEnd(a *attemptState, r run, how machines.Outcome, long bool) {
	if x.fleet.record == nil || a.machine == none || !a.begun {
		return
	}
	o := x.observation(a, r)
	if how == machines.Finished {
		o.Ran, o.Done = r.age, 1
	}
	if long {
		o.Usual = 0
	}
	x.fleet.end(x.book.clock.Last, a.machine, x.book.index(a.task), a.attempt, o, how)
}

// observation returns an observation of an attempt for the record of machines: how long the attempt ran, which share
// of its work it has done, and how long such an attempt usually takes.
func (x *phase) observation(a *attemptState, r run) machines.Attempt {
	age, done := x.forecast.observed(r, x.units.believes())
	o := machines.Attempt{Ran: age, Done: min(done/r.work.units(), 1)}
	if median, known := x.median(r.work); known {
		o.Usual = num.Times(median, x.fleet.pathFactor(x.book.index(a.task), x.fleet.number(a.machine)))
	}
	return o
}

// learnFinish learns from an attempt that has ended with success. Its run time becomes a sample of how long attempts
// take. The result is the id of the sample, or estimate.NoSample.
func (x *phase) learnFinish(s *taskState, a *attemptState) (kept int) {
	f, r := &x.forecast, x.run(a)
	x.addRunTime(a, r, true)
	x.fleet.succeeded(a.machine)
	if x.units.ended(r, f.furthest(r), f.interval) {
		x.forgetProgress(a)
	}
	f.finishedAt(r)
	if kept = estimate.NoSample; f.readsRates {
		sample := x.sampleOf(a, r)
		sample.Done = sample.Work
		sample.FirstWave = s.flags&firstWave != 0 && a.attempt == s.original && !x.recent.grows()
		x.recordEnd(a, r, machines.Finished, f.repeats(x.book.past(s), sample, a.machine))
		kept = f.rates.Finish(int(r.sample), sample)
	}
	f.leaveSamples(r.track)
	return kept
}

// learnKill learns from an attempt that was killed or overtaken. It would have taken at least as long as it ran. If an
// earlier attempt of the task was killed, and would have taken about as long, the task itself is long. Then both
// attempts together are one sample.
//
// InVain says that the attempt was a copy, and that the host killed it while another attempt of the task went on.
// Then the task may be long on every machine, so the attempt is no evidence that its machine is slow. An attempt that
// was overtaken by another attempt is such evidence.
func (x *phase) learnKill(s *taskState, a *attemptState, inVain bool) {
	f := &x.forecast
	defer f.leaveSamples(&a.track)
	if !f.readsRates || !a.begun {
		return
	}
	r := x.run(a)
	x.addRunTime(a, r, false)
	sample := x.sampleOf(a, r)
	sample.Age, sample.Done = f.observed(r, x.units.believes())
	if r.age < f.interval {
		x.recordEnd(a, r, machines.Killed, false)
		f.dropSample(r.track)
		return
	}
	x.recordEnd(a, r, machines.Killed, f.repeats(x.book.past(s), sample, a.machine) || inVain)
	f.keepKilled(&x.book.history(s).killed, r.track, sample, a.machine)
}

// learnFailure removes the sample of an attempt that has failed from the distribution of unit times. The time until a
// failure is no run time.
func (x *phase) learnFailure(a *attemptState) {
	x.forecast.dropSample(&a.track)
	x.recordEnd(a, x.run(a), machines.Failed, false)
	x.forecast.leaveSamples(&a.track)
}

// addRunTime adds the run time of an attempt to the run times of this phase, and to those of its kind. Success says that
// the attempt has finished; otherwise it was killed.
func (x *phase) addRunTime(a *attemptState, r run, success bool) {
	x.link.refresh(len(x.ages.runTimes), x.forecast.sized)
	seconds, task := r.age.Seconds(), x.book.index(a.task)
	observed := entry{about: ofRunTime, seconds: seconds, work: float64(r.work)}
	if success {
		observed.about |= ended
	}
	switch {
	case x.recent.grows():
		x.link.addRunTime(x.book.clock.Last, task, observed, x.forecast.sized)
		x.ages.noteNew()
		x.refreshLongest()
	case success:
		x.ages.note(seconds / x.scale(r.work))
	}
	if x.forecast.shape == nil {
		return
	}
	if !x.recent.grows() {
		x.ages.add(task, runTime{float32(seconds), success, float64(r.work)})
		x.link.addRunTime(x.book.clock.Last, task, observed, x.forecast.sized)
	}
	if success && !r.bad {
		x.forecast.shape.Finish(&r.trail, r.age, x.forecast.model)
		if x.trials.on {
			x.even.count(&r.trail)
		}
		if x.recent.grows() {
			x.even.halve()
		}
	}
}

// refreshLongest reads the run times of a growing phase, and finds the longest of them.
func (x *phase) refreshLongest() {
	x.link.refresh(0, x.forecast.sized)
	long := 0.0
	for _, t := range x.link.others {
		if t.ended {
			long = max(long, float64(t.seconds)/x.scale(stint(t.work)))
		}
	}
	x.ages.setLongest(long)
}

// isStale reports whether the curve of run times is out of date.
func (x *phase) isStale() bool {
	n := len(x.ages.runTimes)
	if x.recent.grows() {
		n = len(x.link.others)
	}
	return x.ages.stale(x.book.now, x.forecast.interval, n)
}

// forgetProgress removes all samples of unit times that were predicted from progress. It keeps the sample of the
// attempt that has just ended, because this sample is its run time. It is called O(log n) times in a phase of n
// tasks.
func (x *phase) forgetProgress(ended *attemptState) {
	x.forecast.forgetReports()
	for i := range x.book.tasks {
		s := &x.book.tasks[i]
		for j := s.newest; j != none; j = x.book.attempts.all[j].next {
			if a := &x.book.attempts.all[j]; a != ended {
				x.forecast.forget(&a.track)
			}
		}
		if h := x.book.past(s); h != nil {
			x.forecast.forgetKilled(&h.killed)
		}
	}
}

// scale returns how many times longer a task of the given work takes than a task of the mean work.
func (x *phase) scale(w stint) float64 { return x.forecast.scale(float64(w), x.book.successes) }

// refit fits the survival curve of run times again, if the curve is out of date. It uses the run times of ended
// attempts, both of this phase and of other phases of its kind. It also uses the ages of running attempts:
// each attempt will take at least as long as its age. It then also finds again which machines are suspect: machines
// with far more slow attempts than chance explains.
func (x *phase) refit() {
	m := &x.ages
	if !x.isStale() {
		return
	}
	m.empty(x.book.now)
	x.link.refresh(len(m.runTimes), x.forecast.sized)
	if x.recent.grows() {
		x.refreshLongest()
		m.sample(len(x.book.tasks))
	}
	ends := 0
	for _, times := range [...][]runTime{m.runTimes, x.link.runTimes(m.successes)} {
		for _, t := range times {
			if m.curve.Observe(float64(t.seconds)/x.scale(stint(t.work)), t.ended) && t.ended {
				ends++
			}
		}
	}
	if ends < int(m.enoughEnds) {
		m.curve.Reset() // too few successes: an empty curve is cheaper, and it is not used yet
	} else {
		x.eachRunning(func(a *attemptState) {
			if m.keepsTask(x.book.index(a.task)) {
				r := x.run(a)
				m.curve.Observe(r.age.Seconds()/x.scale(r.work), false)
			}
		})
	}
	m.fit(!x.forecast.reported)
	x.findSuspects()
}

// eachRunning calls the function do for each running attempt of the phase.
func (x *phase) eachRunning(do func(a *attemptState)) {
	for i := range x.book.attempts.all {
		if a := &x.book.attempts.all[i]; a.task != none && a.begun {
			do(a)
		}
	}
}

// findSuspects finds the suspect machines.
func (x *phase) findSuspects() {
	rates := x.forecast.rates
	if !x.fleet.clearSuspects() {
		return
	}
	late := rates.Quantile(num.Half) * overdueTimes
	overdue, running := 0.0, 0.0
	x.eachRunning(func(a *attemptState) {
		if running++; x.forecast.secondsPerUnit(x.run(a), x.book.now) > late {
			overdue++
			x.fleet.addOverdue(a.machine)
		}
	})
	_, done := x.book.lately()
	ended := float64(done)
	x.fleet.findSuspects((overdue + float64((1-rates.CDF(late))*ended)) / (running + ended))
}

// median returns the median time of a task of the given work, and whether it is known. It is known if enough attempts
// have shown how long a unit of work takes. It is also known from the run times of other phases of the same
// kind.
func (x *phase) median(w stint) (time.Duration, bool) {
	median := 0.0
	switch {
	case x.forecast.rates.Known():
		median = x.forecast.rates.Quantile(num.Half) * x.forecast.rates.Work(float64(w))
	case x.link != nil && x.ages.hasCurve():
		median = x.ages.curve.Quantile(num.Half) * x.scale(w)
	default:
		return 0, false
	}
	d, _ := num.Duration(median)
	return d, true
}

// longest returns the longest run time of a successful attempt, scaled to the given work; 0 if no attempt has
// succeeded. Attempts of other phases of the same kind are included, because the few ended attempts of a small phase
// may all be short by chance.
func (x *phase) longest(w stint) time.Duration {
	long := x.ages.longest
	for _, t := range x.link.runTimes(x.ages.successes) {
		if t.ended && !x.recent.grows() {
			long = max(long, float64(t.seconds)/x.scale(stint(t.work)))
		}
	}
	d, _ := num.Duration(long * x.scale(w))
	return d
}
