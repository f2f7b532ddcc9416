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

// forecast estimates how long attempts take. It estimates the remaining time (t_rem) of a running attempt from the
// reports of the attempt, and the time of a new attempt (t_new) from the run times of other attempts. It learns from
// reports and from the ends of attempts. The method foresee gives t_rem, and the method fresh gives t_new.
type forecast struct {
	book           *book
	fleet          *fleet
	interval       time.Duration
	readsRates     bool // the policy or the record of machines needs the time that a unit of work takes
	hasPrior       bool // the host has given UnitTimes.Prior, the distribution of unit times before any sample
	reported       bool // an attempt of the phase has reported progress, and progress is believed
	runningSamples int  // number of running attempts with a sample in rates
	model          estimate.Linear
	wrapUp         estimate.WrapUp
	rates          *estimate.UnitTimes // time that a unit of work takes
	lag            lag
	ages           ages
	units          unitCheck
	link           *link // nil if the phase has no Experience
}

// report applies the progress report of an attempt, and returns the attempt's progress score.
func (f *forecast) report(s *taskState, a *attemptState, r *Report) (score float64) {
	wasBad := a.badUnits
	done, score := f.claimed(s, a, r)
	w := s.stint(a.resumed)
	age, units := f.book.age(a), w.units()
	if wasBad && !a.badUnits {
		a.progress, a.done = estimate.Progress{}, 0 // forget the report in a wrong unit, which would be larger than this report
	}
	f.reread(w, a)
	f.model.Report(&a.progress, age, f.asTime(w, done))
	f.followTrail(w, a, age, done)
	f.reported = f.reported || done > 0 && !f.units.disbelieved
	a.done = max(a.done, done)
	done = f.furthest(w, a)
	if done >= units && a.doneAt == noTime && !a.badUnits {
		a.doneAt = age
	}
	a.remaining = estimate.Unknown
	if r.Remaining > 0 {
		a.remaining = num.Add(f.book.now, r.Remaining) // stored as the time of the end, so that t_rem decreases
	}
	if score == 0 && !a.badUnits {
		score = min(done/units, 1)
	}
	f.updateSample(w, a, age, done)
	return score
}

// claimed returns the work that an attempt has done and its score, according to a report. If the attempt has resumed
// from a checkpoint, both are without the work of the checkpoint. For example, let a checkpoint contain 60 of 100
// units. If the attempt then reports 80 units, it has done 20 of its 40 units, and its score is 1/2.
func (f *forecast) claimed(s *taskState, a *attemptState, r *Report) (done, score float64) {
	score, done = min(r.Score, 1), r.Done
	a.badUnits = s.flags&knownWork != 0 && s.work > 0 && max(done, r.Saved) > overWork*s.work
	if a.badUnits {
		f.units.tooLarge++ // more is done than the task has, so the report does not show how much is left
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
		a.resumed = 0 // less is done than the checkpoint contains, so the attempt did not use the checkpoint
		return done, score
	}
	if left := s.work - found; score > 0 && left > 0 { // left may be 0 by rounding, if the work is almost 0
		score = min(max(float64(score*s.work)-found, 0)/left, 1)
	}
	return max(done-found, 0), score
}

// asTime converts the work that an attempt has done to the share of its time that has passed. It uses the shape of
// progress: which share of its time an attempt typically needs for which share of its work. For example, let the
// first half of the work typically take a tenth of the time. Then 50 of 100 units of work become 10 units. The result
// has the unit of work, so that models of even progress can use it.
func (f *forecast) asTime(w stint, done float64) float64 {
	if !f.ages.on {
		return done
	}
	return f.ages.shape.Time(done/w.units()) * w.units()
}

// rereadFrom is a share of the work of an attempt. A smaller difference between two conversions of a report is
// rounding.
const rereadFrom = 1e-6

// reread converts the last report of an attempt again to a share of the attempt's time. The conversion may have
// changed since the report, because it is learnt from attempts that end.
func (f *forecast) reread(w stint, a *attemptState) {
	if !f.ages.on {
		return
	}
	done := float64(f.ages.shape.Time(a.trail.Done()) * w.units()) // no fused multiply-add: one answer everywhere
	if math.Abs(done-a.progress.Done()) > rereadFrom*w.units() {
		a.progress.Reread(done)
	}
}

// furthest returns the work that an attempt has done, as estimates use it. If the policy reads t_rem as a
// distribution, it is at most the work of the attempt, and is rounded to a share of 2^-24 of this work. A policy
// reads attemptState.done instead, which is the work as the host has reported it.
func (f *forecast) furthest(w stint, a *attemptState) float64 {
	if !f.ages.on {
		return a.progress.Done()
	}
	return a.trail.Done() * w.units()
}

// bias returns the factor by which attempts take longer than their progress predicts, on average. It depends on how
// far the attempt has come. For example, 2 means that attempts take twice the predicted time.
func (f *forecast) bias(a *attemptState) float64 {
	if !f.ages.on {
		return 1
	}
	return f.ages.shape.Bias(a.trail.Passed())
}

// followTrail records the age at which an attempt has completed each twelfth of its work. Each time, it also records
// the total time that is then predicted for the attempt.
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

// updateSample updates the sample of a running attempt in the distribution of unit times, which are times for a unit
// of work. It also sends an observation of the attempt to the record of machines.
//
// An attempt gets a sample when its age is an interval, even if it has done little work by then. Another rule would
// be to require a least share of work. But then fast attempts would get their samples first, and the predicted times
// would be too short.
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

// maxRunningSamples is the largest number of running attempts that have samples in the distribution of unit times,
// which are times for a unit of work. When such an attempt ends, another attempt that reports gets a sample. The mean
// of 4096 samples has a relative error of a 64th, if the standard deviation of times is as large as their mean. More
// samples would cost time: the samples of 65,536 attempts do not fit into the cache of a processor.
const maxRunningSamples = 1 << 12

// sampleTolerance is a relative change of an attempt's predicted total time. If the prediction has changed less, the
// attempt's sample in the distribution of unit times is left unchanged. Most reports change the prediction less, so
// most reports cost little.
const sampleTolerance = 1. / 64

// estimateRun returns the facts of an attempt's run so far, in the form that package estimate needs.
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

// observed returns an age of an attempt, and the work that the attempt had done at that age. Both together predict
// the total time of the attempt.
//
// The age is the age at the last report, because an attempt that has not reported since may still have worked. But if
// the attempt is now older than the predicted total time, observed returns the present age, with all the work done.
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

// recordAgain decides how often the record of machines gets an observation of a running attempt. After an
// observation, the attempt must age by an eighth of its age, and by half an interval in addition, before the next
// observation. By then the observation has changed, and there are far fewer observations than reports. The number is
// a choice.
const recordAgain = 8

// recordRunning sends an observation of a running attempt to the record of machines, if the attempt has aged enough
// since its last observation.
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

// recordEnd tells the record of machines that an attempt has ended, and how it ended. Long says that the task takes
// long, or may take long, on other machines as well. Then a long run time is no evidence that the machine is slow.
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

// observation returns an observation of an attempt for the record of machines: how long the attempt ran, which share
// of its work it has done, and how long such an attempt usually takes.
func (f *forecast) observation(w stint, a *attemptState) machines.Attempt {
	age, done := f.observed(w, a)
	o := machines.Attempt{Ran: age, Done: min(done/w.units(), 1)}
	if median, known := f.median(w); known {
		o.Usual = num.Times(median, f.fleet.pathFactor(int(a.task), f.fleet.number(a.machine)))
	}
	return o
}

// The methods below estimate the remaining time of attempts (t_rem), and the time of a new attempt (t_new).

// remaining returns the remaining time of an attempt as a single number, from reports alone. It is the host's own
// estimate if there is one, and otherwise the model's. The model gives no estimate at age 0, or if no attempt of the
// phase has reported. If other attempts report, it gives an estimate even for an attempt that has not reported.
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

// foresee predicts the remaining time of the task's i-th attempt as a distribution, and stores it in the facts that
// the policy reads (the argument to). It predicts by the attempt's progress if possible, otherwise by its age. It
// changes nothing if the host has given the remaining time, or if too little is known.
func (f *forecast) foresee(w stint, a *attemptState, i int, to *restart.Attempt) {
	if !f.ages.on || !a.begun || a.remaining != estimate.Unknown || a.badUnits || i >= maxForeseen {
		return
	}
	f.refit()
	m := &f.ages
	if i >= len(m.foreseen) {
		// The distributions of attempts 0 to i-1 stay in the old slice: the facts of these attempts point there.
		m.foreseen = append(m.foreseen, make([]foreseen, i+1-len(m.foreseen))...)
	}
	left := &m.foreseen[i]
	age, scale := to.Elapsed.Seconds(), f.scale(float64(w))
	reports := to.Remaining != estimate.Unknown && a.trail.Done() > 0
	if reports {
		p := f.predict(a, to.Elapsed, to.Remaining, scale)
		p.Even = m.believesEven(&a.trail)
		p.Expected = p.Expected || f.standsOut(w, a, p.Total)
		if m.shape.Outlook(&left.outlook, p, &m.curve) {
			to.Left, to.Basis = &left.outlook, restart.ByProgress
			if left.outlook.Early() {
				to.Basis = restart.ByEarlyProgress
			}
			to.Remaining, _ = num.Duration(left.outlook.Mean())
			if !standsStill(a) || !m.hasCurve() {
				return
			}
			if left.residual.Set(&m.curve, age, scale); left.residual.Mean() <= left.outlook.Mean() {
				return
			}
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

// standsStill reports whether the reports of an attempt have shown no progress for a quarter of its age: the attempt
// goes on reporting, and reports the same. Such an attempt may hang, and its progress so far does not show it. An attempt
// that is not heard is no such attempt.
func standsStill(a *attemptState) bool {
	at := a.progress.At().Seconds()
	return at-a.trail.Advanced() > at/stillPart
}

// stillPart divides the age of an attempt. An attempt stands still if it has reported no progress for longer than the
// quotient.
const stillPart = 4

// standsOut reports whether the progress of an attempt is believed before enough attempts have ended, because the
// attempt stands out from the other attempts that run now. Two totals must be more than apart times their median: the
// predicted total time (in seconds), and the total time by the mean speed so far. A copy costs little while a slot is
// idle and no task waits, so only then is this evidence enough.
func (f *forecast) standsOut(w stint, a *attemptState, total float64) bool {
	b := f.book
	if b.waiting.waits > 0 || b.running >= b.slots || !f.rates.Known() || b.several(&b.tasks[a.task]) {
		return false
	}
	bar := float64(apart * f.rates.Quantile(num.Half) * f.rates.Work(float64(w)))
	return total > bar && b.age(a).Seconds() > float64(bar*a.trail.Done())
}

// apart is a factor. An attempt stands out if its predicted total time is more than so many times the median.
const apart = 2.0

// predict returns a prediction from an attempt's progress, in the form that package survival needs. Left is the
// remaining time at the given age, by extrapolation of the progress. Scale is how much longer a task of this work
// takes than a task of the mean work. The caller must set the field Even, if needed, because this field takes as much
// time as all other fields together.
func (f *forecast) predict(a *attemptState, age, left time.Duration, scale float64) survival.Prediction {
	m := &f.ages
	p := survival.Prediction{
		Age: age.Seconds(), Total: age.Seconds() + left.Seconds(), TotalAtStage: float64(a.atStage), Stage: a.trail.Passed(),
		Scale: scale,
	}
	if m.readsTrials {
		p.StallWeight = stallWeight
	}
	p.Expected = f.hasPrior || m.hasCurve()
	return p
}

// maxForeseen is the largest number of attempts of a task that get a distribution of their remaining time. Few tasks
// have more than two attempts. The number is a choice.
const maxForeseen = 8

// scale returns how many times longer a task of the given work takes than a task of the mean work. Before
// survival.EnoughEnds attempts have ended with success, scale returns at least 1. Otherwise, a small task would too
// easily seem slow for its size.
func (f *forecast) scale(work float64) float64 {
	e := f.rates.Work(work) / f.rates.Work(f.ages.meanWork)
	if f.rates.Overhead() == 0 && f.book.successes < survival.EnoughEnds {
		e = max(e, 1)
	}
	if !(e > 0 && num.Finite(e)) {
		return 1
	}
	return e
}

// fresh returns the time of a new attempt (t_new) of a task. W is the work that the attempt would have to do.
// Location is how many times longer it would take on its machine than on an average machine. Oldest is the age of the
// task's oldest attempt.
//
// The time is predicted from samples of unit times, which are times for a unit of work. Own lists the samples of the
// task's own attempts. These are left out: fresh stores the distribution of all other samples in others.
func (f *forecast) fresh(
	w stint, location float64, oldest time.Duration, own []int, others *estimate.PeerTimes,
) estimate.Fresh {
	n := estimate.Fresh{Work: f.rates.Work(float64(w)), Lag: f.lag.mean(), Location: location}
	if f.rates.Known() {
		f.rates.Peers(others, own...)
		n.UnitTime = others
	}
	// If the remaining time is predicted from ages, the time of a new attempt must be predicted from ages as well,
	// because times from two sources cannot be compared. In a phase without samples, the curve of ages contains the
	// run times of other phases of the same kind.
	if m := &f.ages; m.on && (!f.reported || !f.rates.Known()) && m.hasCurve() {
		scale := f.scale(float64(w))
		if m.fresh == nil {
			m.fresh = new(survival.Without)
		}
		m.fresh.Set(&m.curve, oldest.Seconds()/scale)
		n.UnitTime, n.Work = m.fresh, scale
	}
	return n
}

// median returns the median time of a task of the given work, and whether it is known. It is known if enough attempts
// have shown how long a unit of work takes. With an Experience, it is also known from the run times of other phases
// of the same kind.
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

// remainingOnLeaving returns the remaining time of an attempt on a machine that will leave. The argument seen is the
// remaining time that the policy reads. If enough attempts have ended for a curve of run times, the result is this
// argument. Before that, the result is the plain extrapolation of the attempt's progress.
//
// If the result is unknown, remainingOnLeaving returns the larger of two times: the longest run time so far less the
// attempt's age, and the attempt's age. If no attempt has ended, it returns Unknown.
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

// longest returns the longest run time of a successful attempt, scaled to the given work; 0 if no attempt has
// succeeded. Attempts of other phases of the same kind are included, because the few ended attempts of a small phase
// may all be short by chance.
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

// The methods below learn from attempts that end.

// finished learns from an attempt that has ended with success. Its run time becomes a sample of how long attempts
// take.
func (f *forecast) finished(s *taskState, a *attemptState) {
	w, age := s.stint(a.resumed), f.book.age(a)
	f.addRunTime(w, a, age, true)
	if a.machine != none {
		m := &f.fleet.machines[a.machine]
		m.ended++
		m.beatenUntil = noTime
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

// killed learns from an attempt that was killed or overtaken. It would have taken at least as long as it ran. If an
// earlier attempt of the task was killed, and would have taken about as long, the task itself is long. Then both
// attempts together are one sample.
//
// InVain says that the attempt was a copy, and that the host killed it while another attempt of the task went on.
// Then the task may be long on every machine, so the attempt is no evidence that its machine is slow. An attempt that
// was overtaken by another attempt is such evidence.
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

// failed removes the sample of an attempt that has failed from the distribution of unit times. The time until a
// failure is no run time.
func (f *forecast) failed(s *taskState, a *attemptState) {
	f.rates.Drop(int(a.sample))
	f.recordEnd(s.stint(a.resumed), a, machines.Failed, false)
	f.leaveSamples(a)
}

// leaveSamples subtracts 1 from runningSamples if an attempt that ends had a sample in the distribution of unit
// times.
func (f *forecast) leaveSamples(a *attemptState) {
	if a.sample != estimate.NoSample {
		f.runningSamples--
	}
}

// addRunTime adds the run time of an attempt to the run times of this phase, and to the Experience. Success says that
// the attempt has finished; otherwise it was killed.
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

// repeats compares an attempt that has ended with the attempt of the same task that was killed last. If both took
// about the same time, the task itself is long. Then repeats removes the sample of the killed attempt, so that the
// task has a single sample. It returns true if, in addition, the two attempts ran on different machines: then neither
// machine is slow.
func (f *forecast) repeats(s *taskState, a *attemptState, r estimate.Run) bool {
	if s.history == none {
		return false
	}
	h := &f.book.histories[s.history]
	if !f.rates.Repeat(int(h.killed), r) {
		return false
	}
	h.killed = estimate.NoSample // the id may be used again for another sample
	return h.killedOn != a.machine
}
