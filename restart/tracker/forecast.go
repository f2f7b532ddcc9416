package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// forecast estimates how long attempts take: t_rem of a running attempt from its reports, and t_new from the run times
// of other attempts. It learns from reports and ends. [forecast.foresee] and [forecast.fresh] return its estimates.
type forecast struct {
	book           *book
	fleet          *fleet
	interval       time.Duration
	readsRates     bool // the policy or the record reads how long a unit of work takes
	hasPrior       bool // UnitTimes.Prior says how long tasks take
	reported       bool // an attempt has reported progress that is believed
	runningSamples int  // running attempts that are samples of the unit times
	model          estimate.Linear
	wrapUp         estimate.WrapUp
	rates          *estimate.UnitTimes
	lag            lag
	ages           ages
	units          unitCheck
	link           *link // nil: there is no Experience
}

// report takes the progress report of an attempt, and returns its progress score.
func (f *forecast) report(s *taskState, a *attemptState, r *Report) (score float64) {
	wasBad := a.badUnits
	done, score := f.claimed(s, a, r)
	w := s.stint(a.resumed)
	age, units := f.book.age(a), w.units()
	if wasBad && !a.badUnits {
		a.progress = estimate.Progress{} // forget the wrong report, so that this one counts
	}
	f.reread(w, a)
	f.model.Report(&a.progress, age, f.asTime(w, done))
	f.followTrail(w, a, age, done)
	f.reported = f.reported || done > 0 && !f.units.disbelieved
	done = f.done(w, a)
	if done >= units && a.doneAt == noTime && !a.badUnits {
		a.doneAt = age
	}
	a.remaining = estimate.Unknown
	if r.Remaining > 0 {
		a.remaining = num.Add(f.book.now, r.Remaining) // kept as the instant of the end, so that it runs down
	}
	if score == 0 && !a.badUnits {
		score = min(done/units, 1)
	}
	f.updateSample(w, a, age, done)
	return score
}

// claimed returns the work that a report claims, and its score. Both count only the work that the attempt had to do,
// without the checkpoint.
func (f *forecast) claimed(s *taskState, a *attemptState, r *Report) (done, score float64) {
	score, done = min(r.Score, 1), r.Done
	a.badUnits = s.flags&knownWork != 0 && s.work > 0 && max(done, r.Saved) > overWork*s.work
	if a.badUnits {
		f.units.tooLarge++ // the report says how much was done, but not how much is left
		return done, a.score
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
	if a.resumed == 0 {
		return done, score
	}
	found := a.resumed.of(s.work)
	if done > 0 && overWork*done < found && a.progress.Done() == 0 {
		a.resumed = 0 // the attempt did not find the checkpoint, or could not use it
		return done, score
	}
	if left := s.work - found; score > 0 && left > 0 { // if the work is almost zero, all of it may be saved
		score = min(max(float64(score*s.work)-found, 0)/left, 1)
	}
	return max(done-found, 0), score
}

// asTime converts done work to a share of the attempt's time, by the shape of progress. It returns the share as work.
// For instance, if half of the work typically takes a tenth of the time, half of the work becomes a tenth.
func (f *forecast) asTime(w stint, done float64) float64 {
	if !f.ages.on {
		return done
	}
	return f.ages.shape.Time(done/w.units()) * w.units()
}

// reread converts the last report of an attempt again, because later ends may have changed the shape of progress.
func (f *forecast) reread(w stint, a *attemptState) {
	if !f.ages.on {
		return
	}
	if done := a.trail.Done(); f.ages.shape.Time(done) != done {
		a.progress.Reread(f.ages.shape.Time(done) * w.units())
	}
}

// done returns the work that an attempt has reported. If a shape is used, it is exact to a share of 2^-24.
func (f *forecast) done(w stint, a *attemptState) float64 {
	if !f.ages.on {
		return a.progress.Done()
	}
	return a.trail.Done() * w.units()
}

// bias returns the factor by which predictions from an attempt's progress are too long.
func (f *forecast) bias(a *attemptState) float64 {
	if !f.ages.on {
		return 1
	}
	return f.ages.shape.Bias(a.trail.Passed())
}

// followTrail records how far an attempt has come. At the end of each part of its progress, it records the predicted
// total time.
func (f *forecast) followTrail(w stint, a *attemptState, age time.Duration, done float64) {
	if !f.ages.on || a.badUnits {
		return
	}
	before := a.trail.Passed()
	a.trail.Report(age, done/w.units())
	if a.trail.Passed() == before {
		return
	}
	a.atStage = 0
	if left := f.model.Remaining(&a.progress, age, w.units()); left != estimate.Unknown {
		a.atStage = float32(num.Add(age, left).Seconds())
	}
}

// updateSample updates the sample of a running attempt in the distribution of unit times. An attempt is a sample from
// its first interval on, even if it has done little. A least share of work would let only fast attempts in. It also
// sends an observation of the attempt to the record of machines.
func (f *forecast) updateSample(w stint, a *attemptState, age time.Duration, done float64) {
	if !f.readsRates || done <= 0 || age < f.interval || a.badUnits || f.units.disbelieved {
		return
	}
	f.recordRunning(w, a)
	implied := float64(age.Seconds() / min(a.progress.Done()/w.units(), 1) * f.bias(a)) // no fused multiply-subtract
	switch {
	case a.sample != estimate.NoSample:
		if math.Abs(implied-float64(a.implied)) <= sampleTolerance*implied {
			return
		}
		f.runningSamples--
	case f.runningSamples >= maxRunningSamples:
		return
	}
	a.implied = float32(implied)
	a.sample = int32(f.rates.Running(int(a.sample), f.estimateRun(w, a)))
	if a.sample != estimate.NoSample {
		f.runningSamples++
	}
}

// maxRunningSamples bounds the running attempts that are samples at once. The mean of so many samples is known to a
// 64th, if times spread as much as their mean. When such an attempt ends, the next that reports takes its place. The
// samples of 65,536 attempts would not fit into a processor's cache.
const maxRunningSamples = 1 << 12

// sampleTolerance is the relative error of a running attempt's sample up to which the sample stays. It is far below
// the change that one more report makes, and most reports change less.
const sampleTolerance = 1. / 64

// estimateRun returns the facts of an attempt's run for package estimate.
func (f *forecast) estimateRun(w stint, a *attemptState) estimate.Run {
	machine := f.fleet.number(a.machine)
	r := estimate.Run{Age: f.book.age(a), Work: float64(w), Done: a.progress.Done() / f.bias(a), Machine: machine}
	if a.badUnits {
		r.Done = 0
	}
	if f.fleet.path != nil {
		r.Path = f.fleet.pathFactor(int(a.task), machine)
	}
	return r
}

// observed returns an age of an attempt, and the work that it had done at that age; together they imply its total
// time. The age is the age at the last report, because a silent attempt need not have stopped. But if the attempt is
// older than the implied total, it returns the age now, with all work done.
func (f *forecast) observed(w stint, a *attemptState) (age time.Duration, done float64) {
	age, done = f.book.age(a), a.progress.Done()/f.bias(a)
	at := a.progress.At()
	switch {
	case a.badUnits || f.units.disbelieved:
		return age, 0
	case done <= 0 || at <= 0:
		return age, done
	case at.Seconds()*w.units() < age.Seconds()*done:
		return age, w.units()
	}
	return at, done
}

// recordAgain sets how often the record gets an observation of a running attempt. Since the last observation the
// attempt must have aged by half an interval and by a recordAgain-th of its age then. The number is a choice: the
// observation has changed by then, and there are far fewer observations than reports.
const recordAgain = 8

// recordRunning sends an observation of a running attempt to the record, if the attempt has aged enough since the last
// one.
func (f *forecast) recordRunning(w stint, a *attemptState) {
	age := f.book.age(a)
	last := time.Duration(float64(a.recordedAt) * 1e9)
	if f.fleet.record == nil || a.machine == none || age < last+last/recordAgain+f.interval/2 ||
		!f.fleet.admit(a.machine, f.book.now, f.interval) {
		return
	}
	a.recordedAt = float32(age.Seconds())
	f.fleet.avoided.asOf = 0
	key := f.fleet.member.Key(int(a.task), int(a.attempt))
	f.fleet.record.Running(f.book.clock.Last, f.fleet.number(a.machine), key, f.observation(w, a))
}

// recordEnd tells the record that an attempt has ended, and how. Long says that the task is long on other machines,
// too; then the run time says nothing about the machine.
func (f *forecast) recordEnd(w stint, a *attemptState, how machines.Outcome, long bool) {
	if f.fleet.record == nil || a.machine == none || !a.begun {
		return
	}
	o := f.observation(w, a)
	if how == machines.Finished {
		o.Ran, o.Done = f.book.age(a), 1
	}
	if long {
		o.Usual = 0
	}
	f.fleet.avoided.asOf = 0
	key := f.fleet.member.Key(int(a.task), int(a.attempt))
	f.fleet.record.End(f.book.clock.Last, f.fleet.number(a.machine), key, o, how)
}

// observation returns the record's observation of an attempt.
func (f *forecast) observation(w stint, a *attemptState) machines.Attempt {
	age, done := f.observed(w, a)
	o := machines.Attempt{Ran: age, Done: min(done/w.units(), 1)}
	if median, known := f.median(w); known {
		o.Usual = num.Times(median, f.fleet.pathFactor(int(a.task), f.fleet.number(a.machine)))
	}
	return o
}

// Estimates of a task: t_rem of its attempts, and t_new of one more.

// remaining returns t_rem of an attempt by its reports: the host's estimate, or the model's. The model's estimate is
// unknown at age 0, and if no attempt of the phase has reported. A silent attempt has an estimate if other attempts
// report.
func (f *forecast) remaining(w stint, a *attemptState) time.Duration {
	switch {
	case a.badUnits:
		return estimate.Unknown
	case a.remaining != estimate.Unknown:
		return max(num.Sub(a.remaining, f.book.now), 0)
	case !f.reported:
		return estimate.Unknown
	}
	return f.model.Remaining(&a.progress, f.book.age(a), w.units())
}

// foresee makes t_rem of the task's i-th attempt a distribution, unless the host has given t_rem or nothing is known.
func (f *forecast) foresee(w stint, a *attemptState, i int, to *restart.Attempt) {
	if !f.ages.on || !a.begun || a.remaining != estimate.Unknown || a.badUnits || i >= maxForeseen {
		return
	}
	f.refit()
	m := &f.ages
	if i >= len(m.foreseen) {
		// The distributions of earlier attempts stay where they are, because the decision reads them there.
		m.foreseen = append(m.foreseen, make([]foreseen, i+1-len(m.foreseen))...)
	}
	left := &m.foreseen[i]
	age, scale := to.Elapsed.Seconds(), f.scale(float64(w))
	reports := to.Remaining != estimate.Unknown && a.trail.Done() > 0
	if reports {
		p := f.predict(a, to.Elapsed, to.Remaining, scale)
		p.Even = m.believesEven(&a.trail)
		p.Expected = p.Expected || p.Even && m.mostEvenNow
		to.Even = p.Even
		curve := &m.curve
		if m.onSuspects { // times of attempts that ended elsewhere do not predict times on this machine
			curve, p.Expected = nil, true
		}
		if m.shape.Outlook(&left.outlook, p, curve) {
			to.Left, to.Basis = &left.outlook, restart.ByProgress
			to.Remaining, _ = num.Duration(left.outlook.Mean())
			return
		}
	}
	if m.hasCurve() && age > 0 {
		left.residual.Set(&m.curve, age, scale)
		to.Left, to.Basis = &left.residual, restart.ByAge
		to.Remaining, _ = num.Duration(left.residual.Mean())
	} else if reports {
		to.Remaining = estimate.Unknown
	}
}

// predict returns a prediction from an attempt's progress, for package survival. Left is t_rem at the age, by
// extrapolation; scale is the scale of the task's work. It leaves Even to [ages.believesEven], which takes as much
// time as all the rest.
func (f *forecast) predict(a *attemptState, age, left time.Duration, scale float64) survival.Prediction {
	m := &f.ages
	p := survival.Prediction{
		Age: age.Seconds(), Total: age.Seconds() + left.Seconds(), TotalAtStage: float64(a.atStage), Stage: a.trail.Passed(),
		Scale: scale, StallWeight: float64(m.stallWeight),
	}
	p.Expected = f.hasPrior || m.hasCurve()
	return p
}

// maxForeseen bounds the attempts of a task that get a distribution of t_rem. The number is a choice: few tasks have
// more than two attempts.
const maxForeseen = 8

// scale returns how much longer a task of some work takes than a task of the mean work. Before fewEnds tasks have
// ended, it is at least 1: otherwise a small task would seem to be the slowest of its age.
func (f *forecast) scale(work float64) float64 {
	e := f.rates.Work(work) / f.rates.Work(f.ages.meanWork)
	if f.rates.Overhead() == 0 && f.book.successes < fewEnds {
		e = max(e, 1)
	}
	if !(e > 0 && num.Finite(e)) {
		return 1
	}
	return e
}

// fresh returns t_new of one more attempt of a task at a location. Oldest is the age of the task's oldest attempt.
// Others receives the samples without the samples of the task's own attempts. If leaves is set, the new attempt leaves
// suspect machines.
func (f *forecast) fresh(
	w stint, location float64, oldest time.Duration, leaves bool, own []int, others *estimate.PeerTimes,
) estimate.Fresh {
	n := estimate.Fresh{Work: f.rates.Work(float64(w)), Lag: f.lag.mean(), Location: location}
	if f.rates.Known() {
		f.rates.Peers(others, own...)
		n.UnitTime = others
	}
	// If t_rem rests on ages, t_new rests on ages, too, because times from two sources cannot be compared. A phase
	// without samples knows the run times of its kind.
	if m := &f.ages; m.on && (!f.reported || !f.rates.Known()) && m.hasCurve() {
		scale := f.scale(float64(w))
		if m.fresh == nil {
			m.fresh = new(survival.Without)
		}
		m.fresh.Set(&m.curve, oldest.Seconds()/scale)
		if leaves && m.withoutSuspects != nil {
			m.fresh.Set(m.withoutSuspects, 0)
		}
		n.UnitTime, n.Work = m.fresh, scale
	}
	return n
}

// median returns the median time of a task of some work, and whether it is known. It is known if the unit times or the
// run times of the kind are.
func (f *forecast) median(w stint) (time.Duration, bool) {
	median := 0.0
	switch {
	case f.rates.Known():
		median = f.rates.Quantile(num.Half) * f.rates.Work(float64(w))
	case f.link != nil && f.ages.hasCurve():
		median = f.ages.curve.Quantile(num.Half) * f.scale(float64(w))
	default:
		return 0, false
	}
	d, _ := num.Duration(median)
	return d, true
}

// remainingOnLeaving returns t_rem of an attempt on a machine that leaves; seen is the t_rem that the policy sees.
// Once a curve shows how far predictions are off, seen counts; before that, the plain extrapolation. If both are
// unknown, it returns the larger of two times: the rest of the longest run time so far, and the attempt's age. It is
// Unknown before any attempt has ended.
func (f *forecast) remainingOnLeaving(w stint, a *attemptState, seen time.Duration) time.Duration {
	left := f.remaining(w, a)
	if left == estimate.Unknown || f.ages.hasCurve() {
		left = seen
	}
	if left != estimate.Unknown || f.ages.longest == 0 {
		return left
	}
	age := f.book.age(a)
	long, _ := num.Duration(f.ages.longest * f.scale(float64(w)))
	return max(num.Sub(long, age), age)
}

// longest returns the longest run time of this phase and of its kind, scaled to some work; 0 before any attempt has
// ended. The kind counts, because the few ends of a small phase may be short by chance.
func (f *forecast) longest(w stint) time.Duration {
	long := f.ages.longest
	for _, t := range f.link.counted(&f.ages) {
		if t.ended {
			long = max(long, float64(t.seconds)/f.scale(t.work))
		}
	}
	d, _ := num.Duration(long * f.scale(float64(w)))
	return d
}

// Learning from the ends of attempts.

// finished learns from an attempt that finished: its run time is a sample.
func (f *forecast) finished(s *taskState, a *attemptState) {
	w, age := s.stint(a.resumed), f.book.age(a)
	f.addRunTime(w, a, age, true)
	if a.machine != none {
		m := &f.fleet.machines[a.machine]
		m.ended++
		m.beaten = noTime
	}
	f.checkUnit(w, a, age)
	if a.doneAt != noTime {
		f.wrapUp.Observe(a.doneAt, age)
		f.model.WrapUp = f.wrapUp.Mean()
	}
	if f.readsRates {
		r := f.estimateRun(w, a)
		r.Done, r.FirstWave = r.Work, s.flags&firstWave != 0 && a.attempt == s.original
		f.recordEnd(w, a, machines.Finished, f.repeats(s, a, r))
		f.rates.Finish(int(a.sample), r)
	}
	f.leaveSamples(a)
}

// killed learns from an attempt that was killed or overtaken: it would have taken at least as long as it ran. If an
// earlier attempt of the task was killed after about as long a run, the task is long, and both count as one sample.
// InVain says that the host killed the attempt while another attempt of the task went on. The task may be long on
// every machine, so this is no evidence of a slow machine. An attempt that was overtaken is such evidence.
func (f *forecast) killed(s *taskState, a *attemptState, inVain bool) {
	defer f.leaveSamples(a)
	if !f.readsRates || !a.begun {
		return
	}
	w, age := s.stint(a.resumed), f.book.age(a)
	f.addRunTime(w, a, age, false)
	r := f.estimateRun(w, a)
	r.Age, r.Done = f.observed(w, a)
	if age < f.interval {
		f.recordEnd(w, a, machines.Killed, false)
		f.rates.Drop(int(a.sample))
		return
	}
	f.recordEnd(w, a, machines.Killed, f.repeats(s, a, r) || inVain)
	h := f.book.history(s)
	h.killed, h.killedOn = int32(f.rates.Kill(int(a.sample), r)), a.machine
}

// failed drops the sample of an attempt that failed: its time is no run time.
func (f *forecast) failed(s *taskState, a *attemptState) {
	f.rates.Drop(int(a.sample))
	f.recordEnd(s.stint(a.resumed), a, machines.Failed, false)
	f.leaveSamples(a)
}

// leaveSamples takes an attempt that ends out of the number of running samples.
func (f *forecast) leaveSamples(a *attemptState) {
	if a.sample != estimate.NoSample {
		f.runningSamples--
	}
}

// addRunTime adds the run time of an attempt that finished or was killed.
func (f *forecast) addRunTime(w stint, a *attemptState, age time.Duration, success bool) {
	f.link.refresh(&f.ages)
	f.ages.addRunTime(a, float64(w), f.scale(float64(w)), age, success)
	if f.link != nil && f.ages.on {
		observed := entry{about: runTimeOf(success), seconds: age.Seconds(), work: float64(w)}
		f.link.addRunTime(f.book.clock.Last, a.task, observed)
	}
	if f.ages.on && success && !a.badUnits {
		f.ages.shape.Finish(&a.trail, age, f.model)
		f.ages.countEvenness(&a.trail)
	}
}

// repeats compares an attempt with the task's attempt that was killed last. If both have taken about as long, the task
// is long: repeats drops the earlier sample, so that the task counts once. It reports whether the two ran on different
// machines, so that neither machine is slow for it.
func (f *forecast) repeats(s *taskState, a *attemptState, r estimate.Run) bool {
	if s.history == none {
		return false
	}
	h := &f.book.histories[s.history]
	if !f.rates.Repeat(int(h.killed), r) {
		return false
	}
	h.killed = estimate.NoSample // the number may name another sample from now on
	return h.killedOn != a.machine
}

// lag learns schedLag, "the average delay between a task being scheduled and when it is actually running" [Mantri
// §5.5]. It is the mean delay of attempts that were submitted while a slot was free; recent delays weigh more.
type lag struct {
	prior time.Duration // Config.Lag, until a delay was observed
	sum   float64       // nanoseconds
	n     float64
}

// lagMemory is the number of delays that count. It is a choice.
const lagMemory = 32

func (lg *lag) observe(delay time.Duration) {
	if lg.n >= lagMemory {
		lg.sum -= float64(lg.sum / lagMemory) // a product with 1/32, not fused
		lg.n--
	}
	lg.sum += float64(delay)
	lg.n++
}

func (lg *lag) mean() time.Duration {
	if lg.n == 0 {
		return lg.prior
	}
	return time.Duration(lg.sum / lg.n)
}
