package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
)

// forecast predicts times from the progress of attempts. It predicts the remaining time (t_rem) of a running attempt
// from the reports of the attempt, and the time of a new attempt (t_new) from the times that other attempts take for a
// unit of work. It learns from reports and from the ends of attempts. The part [ages] predicts from run times alone.
type forecast struct {
	interval       time.Duration
	readsRates     bool // the policy or the record of machines needs the time that a unit of work takes
	hasPrior       bool // the host has given UnitTimes.Prior, the distribution of unit times before any sample
	reported       bool // an attempt of the phase has reported progress, and progress is believed
	runningSamples int  // number of running attempts with a sample in rates
	model          estimate.Linear
	wrapUp         estimate.WrapUp
	rates          *estimate.UnitTimes // time that a unit of work takes
	// The shape of progress: which share of its time an attempt needs for which share of its work. It is nil if the
	// policy does not read the remaining time of attempts as a distribution.
	shape *survival.Shape
	// The mean work of a task; in a growing phase that began without tasks, the work of the first task.
	meanWork float64
	// The works of tasks are known, as far as the host knows them. Otherwise all tasks have the work 1.
	sized bool
}

// newForecast returns the forecast of a phase in which nothing has started. Foresees says that the policy reads the
// remaining time of attempts as a distribution.
func newForecast(c *Config, rates *estimate.UnitTimes, sized, readsRates, foresees bool) forecast {
	f := forecast{
		interval: c.Interval, readsRates: readsRates, hasPrior: c.UnitTimes.Prior != nil, model: c.Model, rates: rates,
		sized: sized,
	}
	for i, w := range c.Work {
		f.meanWork += (w - f.meanWork) / float64(i+1)
	}
	switch {
	case !foresees:
	case c.Knowledge != nil && c.Kind != "":
		f.shape = c.Knowledge.kind(c.Kind).shape.Phase()
	default:
		f.shape = new(survival.Shape)
	}
	return f
}

// workOf returns the work of a task that a growing phase gets, and whether it is known. The first task decides whether
// the works of tasks are known.
func (f *forecast) workOf(given float64) (work float64, known bool) {
	known = num.Known(given)
	if f.meanWork == 0 {
		if f.sized, f.meanWork = known && given > 0, 1; f.sized {
			f.meanWork = given
		}
	}
	switch {
	case !f.sized:
		return 1, true
	case !known:
		return f.meanWork, false
	}
	return given, true
}

// track has the facts of the forecast about an attempt that runs.
type track struct {
	progress estimate.Progress
	// The age at which a report first said that all work is done; noTime if no report has said so.
	doneAt time.Duration
	// The time at which the attempt will end by the host's own estimate, counted from the first event;
	// estimate.Unknown if the host gave no estimate.
	remaining time.Duration
	// The most work that a report of the attempt has contained, without the work of the checkpoint that it resumed from.
	done  float64
	trail survival.Trail
	// The total time in seconds that was predicted for the attempt when it last completed a further twelfth of its
	// work; 0 if none was predicted.
	atStage float32
	// The total time of the attempt, in seconds, that its sample in the distribution of unit times implies.
	implied float32
	sample  int32 // id of its sample in the distribution of unit times, or estimate.NoSample
}

// newTrack returns the track of an attempt that has not reported.
func newTrack() track {
	return track{doneAt: noTime, remaining: estimate.Unknown, sample: estimate.NoSample}
}

// killed has the facts of the forecast about the latest kill of an attempt of a task.
type killed struct {
	sample int32 // id of its sample in the distribution of unit times, or estimate.NoSample
	on     int32 // index of its machine, or none
}

// noKill is the value of killed for a task of which no attempt was killed.
func noKill() killed { return killed{estimate.NoSample, none} }

// run is an attempt as a forecast sees it now.
type run struct {
	*track
	work stint
	age  time.Duration
	bad  bool // the attempt's last report had a wrong unit
}

// claim is what a report says about an attempt. If the attempt has resumed from a checkpoint, done and score are
// without the work of the checkpoint.
type claim struct {
	done, score float64
	bad         bool // the report has a wrong unit: more is done than the task has
	anew        bool // the attempt has not used the checkpoint
}

// claimed returns what a report says about an attempt. For example, let a checkpoint contain 60 of 100 units. If the
// attempt then reports 80 units, it has done 20 of its 40 units, and its score is 1/2.
func claimed(s *taskState, a *attemptState, r *Report) claim {
	score, done := min(r.Score, 1), r.Done
	if s.flags&knownWork != 0 && s.work > 0 && max(done, r.Saved) > overWork*s.work {
		return claim{done: done, score: a.score, bad: true} // the report does not show how much is left
	}
	switch {
	case s.work == 0 && score == 0:
		done = 1
	case s.work == 0:
		done = score
	case done == 0:
		done = score * s.work
	}
	if a.resumed == 0 {
		return claim{done: done, score: score}
	}
	found := a.resumed.of(s.work)
	if done > 0 && overWork*done < found && a.track.progress.Done() == 0 {
		return claim{done: done, score: score, anew: true} // less is done than the checkpoint contains
	}
	if left := s.work - found; score > 0 && left > 0 { // left may be 0 by rounding, if the work is almost 0
		score = min(max(float64(score*s.work)-found, 0)/left, 1)
	}
	return claim{done: max(done-found, 0), score: score}
}

// report records a report of an attempt. Ends is the time at which the attempt will end by the host's own estimate, or
// estimate.Unknown. Believed says that the progress of the phase's attempts is believed. The result is the work that
// the attempt has done, as estimates use it.
func (f *forecast) report(r run, c *claim, ends time.Duration, believed bool) (done float64) {
	f.reread(r)
	f.model.Report(&r.progress, r.age, f.asTime(r.work, c.done))
	f.followTrail(r, c.done)
	f.reported = f.reported || c.done > 0 && believed
	r.track.done = max(r.track.done, c.done)
	done = f.furthest(r)
	if done >= r.work.units() && r.doneAt == noTime && !r.bad {
		r.track.doneAt = r.age
	}
	r.track.remaining = ends
	return done
}

// forget forgets reports in a wrong unit. Their numbers would be larger than those of all later reports.
func (t *track) forget() { t.progress, t.done = estimate.Progress{}, 0 }

// asTime converts the work that an attempt has done to the share of its time that has passed. It uses the shape of
// progress: which share of its time an attempt typically needs for which share of its work. For example, let the
// first half of the work typically take a tenth of the time. Then 50 of 100 units of work become 10 units. The result
// has the unit of work, so that models of even progress can use it.
func (f *forecast) asTime(w stint, done float64) float64 {
	if f.shape == nil {
		return done
	}
	return f.shape.Time(done/w.units()) * w.units()
}

// rereadFrom is a share of the work of an attempt. A smaller difference between two conversions of a report is
// rounding.
const rereadFrom = 1e-6

// reread converts the last report of an attempt again to a share of the attempt's time. The conversion may have
// changed since the report, because it is learnt from attempts that end.
func (f *forecast) reread(r run) {
	if f.shape == nil {
		return
	}
	done := float64(f.shape.Time(r.trail.Done()) * r.work.units()) // no fused multiply-add: one answer everywhere
	if math.Abs(done-r.progress.Done()) > rereadFrom*r.work.units() {
		r.progress.Reread(done)
	}
}

// furthest returns the work that an attempt has done, as estimates use it. If the policy reads t_rem as a
// distribution, it is at most the work of the attempt, and is rounded to a share of 2^-24 of this work. A policy
// reads track.done instead, which is the work as the host has reported it.
func (f *forecast) furthest(r run) float64 {
	if f.shape == nil {
		return r.progress.Done()
	}
	return r.trail.Done() * r.work.units()
}

// bias returns the factor by which attempts take longer than their progress predicts, on average. It depends on how
// far the attempt has come. For example, 2 means that attempts take twice the predicted time.
func (f *forecast) bias(t *track) float64 {
	if f.shape == nil {
		return 1
	}
	return f.shape.Bias(t.trail.Passed())
}

// followTrail records the age at which an attempt has completed each twelfth of its work. Each time, it also records
// the total time that is then predicted for the attempt.
func (f *forecast) followTrail(r run, done float64) {
	if f.shape == nil || r.bad {
		return
	}
	before := r.trail.Passed()
	r.trail.Report(r.age, done/r.work.units())
	if r.trail.Passed() == before {
		return
	}
	r.track.atStage = 0
	if left := f.model.Remaining(&r.progress, r.age, r.work.units()); left != estimate.Unknown {
		r.track.atStage = float32(num.Add(r.age, left).Seconds())
	}
}

// samples reports whether a running attempt may have a sample in the distribution of unit times, which are times for a
// unit of work. Done is the work that the attempt has done.
//
// An attempt gets a sample when its age is an interval, even if it has done little work by then. Another rule would
// be to require a least share of work. But then fast attempts would get their samples first, and the predicted times
// would be too short.
func (f *forecast) samples(r run, done float64, believed bool) bool {
	return f.readsRates && done > 0 && r.age >= f.interval && !r.bad && believed
}

// implies returns the total time of a running attempt, in seconds, that its progress implies. Changed says that the
// sample of the attempt differs from it, so that the attempt needs a new sample.
func (f *forecast) implies(r run) (seconds float64, changed bool) {
	// no fused multiply-subtract
	seconds = float64(r.age.Seconds() / min(r.progress.Done()/r.work.units(), 1) * f.bias(r.track))
	if r.sample != estimate.NoSample {
		return seconds, math.Abs(seconds-float64(r.implied)) > sampleTolerance*seconds
	}
	return seconds, f.runningSamples < maxRunningSamples
}

// setSample gives a running attempt a new sample in the distribution of unit times.
func (f *forecast) setSample(t *track, implied float64, sample estimate.Run) {
	f.leaveSamples(t)
	t.implied = float32(implied)
	t.sample = int32(f.rates.Running(int(t.sample), sample))
	if t.sample != estimate.NoSample {
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

// sampleOf returns the facts of an attempt's run so far, in the form that package estimate needs.
func (f *forecast) sampleOf(r run, on site) estimate.Run {
	sample := estimate.Run{
		Age: r.age, Work: float64(r.work), Done: r.progress.Done() / f.bias(r.track), Machine: on.machine, Path: on.path,
	}
	if r.bad {
		sample.Done = 0
	}
	return sample
}

// observed returns an age of an attempt, and the work that the attempt had done at that age. Both together predict
// the total time of the attempt. Believed says that the progress of the phase's attempts is believed.
//
// The age is the age at the last report, because an attempt that has not reported since may still have worked. But if
// the attempt is now older than the predicted total time, observed returns the present age, with all the work done.
func (f *forecast) observed(r run, believed bool) (age time.Duration, done float64) {
	age, done = r.age, r.progress.Done()/f.bias(r.track)
	at := r.progress.At()
	switch {
	case r.bad || !believed:
		return age, 0
	case done <= 0 || at <= 0:
		return age, done
	case at.Seconds()*r.work.units() < age.Seconds()*done:
		return age, r.work.units()
	}
	return at, done
}

// The methods below estimate the remaining time of attempts (t_rem), and the time of a new attempt (t_new).

// remaining returns the remaining time of an attempt as a single number, from reports alone. It is the host's own
// estimate if there is one, and otherwise the model's. The model gives no estimate at age 0, or if no attempt of the
// phase has reported. If other attempts report, it gives an estimate even for an attempt that has not reported.
func (f *forecast) remaining(r run, now time.Duration) time.Duration {
	switch {
	case r.bad:
		return estimate.Unknown
	case r.track.remaining != estimate.Unknown:
		return max(num.Sub(r.track.remaining, now), 0)
	case !f.reported:
		return estimate.Unknown
	}
	return f.model.Remaining(&r.progress, r.age, r.work.units())
}

// standsStill reports whether the reports of an attempt have shown no progress for a quarter of its age: the attempt
// goes on reporting, and reports the same. Such an attempt may hang, and its progress so far does not show it. An attempt
// that is not heard is no such attempt.
func (t *track) standsStill() bool {
	at := t.progress.At().Seconds()
	return at-t.trail.Advanced() > at/stillPart
}

// stillPart divides the age of an attempt. An attempt stands still if it has reported no progress for longer than the
// quotient.
const stillPart = 4

// standsOut reports whether the progress of an attempt is believed before enough attempts have ended, because the
// attempt stands out from the other attempts that run now. Two totals must be more than apart times their median: the
// predicted total time (in seconds), and the total time by the mean speed so far.
func (f *forecast) standsOut(r run, total float64) bool {
	if !f.rates.Known() {
		return false
	}
	bar := float64(apart * f.rates.Quantile(num.Half) * f.rates.Work(float64(r.work)))
	return total > bar && r.age.Seconds() > float64(bar*r.trail.Done())
}

// apart is a factor. An attempt stands out if its predicted total time is more than so many times the median.
const apart = 2.0

// predict returns a prediction from an attempt's progress, in the form that package survival needs. Left is the
// remaining time at the attempt's age, by extrapolation of the progress. Scale is how much longer a task of this work
// takes than a task of the mean work. The caller sets the other fields.
func (r run) predict(left time.Duration, scale float64) survival.Prediction {
	return survival.Prediction{
		Age: r.age.Seconds(), Total: r.age.Seconds() + left.Seconds(), TotalAtStage: float64(r.atStage),
		Stage: r.trail.Passed(), Scale: scale,
	}
}

// scale returns how many times longer a task of the given work takes than a task of the mean work. Successes is the
// number of attempts that have ended with success. Before it is survival.EnoughEnds, scale returns at least 1. Otherwise, a small task would too easily seem slow for its size.
func (f *forecast) scale(work float64, successes int) float64 {
	e := f.rates.Work(work) / f.rates.Work(f.meanWork)
	if f.rates.Overhead() == 0 && successes < survival.EnoughEnds {
		e = max(e, 1)
	}
	if !(e > 0 && num.Finite(e)) {
		return 1
	}
	return e
}

// secondsPerUnit returns the predicted total time of an attempt, divided by its work, in seconds for each unit of
// work. If nothing predicts the remaining time of the attempt, its age is used as the total time.
func (f *forecast) secondsPerUnit(r run, now time.Duration) float64 {
	all := r.age
	if left := f.remaining(r, now); left != estimate.Unknown {
		all = num.Add(all, left)
	}
	return all.Seconds() / f.rates.Work(float64(r.work))
}

// The methods below learn from attempts that end.

// finishedAt learns how long an attempt went on after a report had said that all its work was done.
func (f *forecast) finishedAt(r run) {
	if r.doneAt != noTime {
		f.wrapUp.Observe(r.doneAt, r.age)
		f.model.WrapUp = f.wrapUp.Mean()
	}
}

// dropSample removes the sample of an attempt that has ended from the distribution of unit times.
func (f *forecast) dropSample(t *track) { f.rates.Drop(int(t.sample)) }

// leaveSamples subtracts 1 from runningSamples if an attempt that ends had a sample in the distribution of unit
// times.
func (f *forecast) leaveSamples(t *track) {
	if t.sample != estimate.NoSample {
		f.runningSamples--
	}
}

// keepKilled keeps the sample of an attempt that was killed. The attempt would have taken at least as long as it ran.
func (f *forecast) keepKilled(k *killed, t *track, sample estimate.Run, machine int32) {
	k.sample, k.on = int32(f.rates.Kill(int(t.sample), sample)), machine
}

// repeats compares an attempt that has ended with the attempt of the same task that was killed last. If both took
// about the same time, the task itself is long. Then repeats removes the sample of the killed attempt, so that the
// task has a single sample. It returns true if, in addition, the two attempts ran on different machines: then neither
// machine is slow.
func (f *forecast) repeats(h *history, sample estimate.Run, machine int32) bool {
	if h == nil || !f.rates.Repeat(int(h.killed.sample), sample) {
		return false
	}
	h.killed.sample = estimate.NoSample // the id may be used again for another sample
	return h.killed.on != machine
}

// forget removes the sample of a running attempt, which was predicted from progress that is no longer believed.
func (f *forecast) forget(t *track) {
	if t.sample != estimate.NoSample {
		f.dropSample(t)
		f.leaveSamples(t)
		t.sample = estimate.NoSample
	}
}

// forgetKilled removes the sample of a killed attempt, which was predicted from progress that is no longer believed.
func (f *forecast) forgetKilled(k *killed) {
	f.rates.Drop(int(k.sample))
	k.sample = estimate.NoSample
}

// forgetReports records that progress is no longer believed.
func (f *forecast) forgetReports() { f.reported = false }
