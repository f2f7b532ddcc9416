package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// forecast is what is known of how long copies take: of each that runs by what it reports (t_rem), of one more by what
// others took (t_new). Reports and ends go in; [forecast.foresee] and [forecast.fresh] give answers.
type forecast struct {
	book           *book
	fleet          *fleet
	interval       time.Duration
	readsRates     bool // somebody reads how long a unit of work takes
	hasPrior       bool // a prior says how long tasks take
	reported       bool // some copy has reported progress that is believed
	runningSamples int  // copies that are samples while they run
	model          estimate.Linear
	wrapUp         estimate.WrapUp
	rates          *estimate.UnitTimes
	lag            lag
	ages           ages
	units          unitCheck
	link           *link // nil: there is no experience
}

// report takes in what a copy reports, and returns its progress score.
func (f *forecast) report(s *taskState, a *attemptState, r *Report) (score float64) {
	wasBad := a.badUnits
	done, score := f.claimed(s, a, r)
	w := s.stint(a.resumed)
	age, units := f.book.age(a), w.units()
	if wasBad && !a.badUnits {
		a.progress = estimate.Progress{} // what could not be right is forgotten, so that this one counts
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

// claim returns what a report says that a copy has done, and its score, of the work that the copy has found: without
// what a checkpoint held.
func (f *forecast) claimed(s *taskState, a *attemptState, r *Report) (done, score float64) {
	score, done = min(r.Score, 1), r.Done
	if a.badUnits = s.flags&knownWork != 0 && s.work > 0 && max(done, r.Saved) > overWork*s.work; a.badUnits {
		f.units.tooLarge++ // it says how much was done, and nothing of how much is left
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
		a.resumed = 0 // it did not find the checkpoint, or made nothing of it
		return done, score
	}
	if left := s.work - found; score > 0 && left > 0 { // of a work that is next to nothing, all may be saved
		score = min(max(float64(score*s.work)-found, 0)/left, 1)
	}
	return max(done-found, 0), score
}

// read returns the work that stands for the share of its time that a copy has run, when it has done so much.
func (f *forecast) asTime(w stint, done float64) float64 {
	if !f.ages.on {
		return done
	}
	return f.ages.shape.Time(done/w.units()) * w.units()
}

// reread reads again what a copy has reported so far: ends may have shown since then how progress runs.
func (f *forecast) reread(w stint, a *attemptState) {
	if !f.ages.on {
		return
	}
	if done := a.trail.Done(); f.ages.shape.Time(done) != done {
		a.progress.Reread(f.ages.shape.Time(done) * w.units())
	}
}

// done is the work that a copy has reported; where its progress is read through a shape, to within a share of 2^-24.
func (f *forecast) done(w stint, a *attemptState) float64 {
	if !f.ages.on {
		return a.progress.Done()
	}
	return a.trail.Done() * w.units()
}

// bias is by what predictions from a copy's progress are too long.
func (f *forecast) bias(a *attemptState) float64 {
	if !f.ages.on {
		return 1
	}
	return f.ages.shape.Bias(a.trail.Passed())
}

// follow notes how far a copy has come, and what is predicted of it at the end of each part of its progress.
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

// sample refreshes what a running copy contributes to the distribution of unit times: from its first interval on,
// however little it has done. To wait until it has done a share of its work would let only the fast ones in.
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
	if a.sample = int32(f.rates.Running(int(a.sample), f.estimateRun(w, a))); a.sample != estimate.NoSample {
		f.runningSamples++
	}
}

// enoughRunning is how many copies that run are samples at once: the mean of so many is known to a 64th where times spread
// as much as their mean. When one ends, the next that reports takes its place. The samples of 65,536 would not stay in a
// processor's cache.
const maxRunningSamples = 1 << 12

// near is how much a running copy's sample may be off before it is taken again: far below what one more report changes,
// and most reports change less.
const sampleTolerance = 1. / 64

// run is what is known of a copy's run.
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

// shown is the age of a copy as of which its progress implies its whole time: that of its last report, since a copy
// that is silent since then has not stopped. But it has taken at least its age.
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

// tellAgain is by one part in how many a copy must be older than when the record was told of it last, and by half an
// interval, to be told of again. A choice: what it takes by its progress has changed by then, and reports are many more.
const recordAgain = 8

// tellRunning tells the record of the machines how a copy gets on, if it has shown much more since the last time.
func (f *forecast) recordRunning(w stint, a *attemptState) {
	age := f.book.age(a)
	told := time.Duration(float64(a.recordedAt) * 1e9)
	if f.fleet.record == nil || a.machine == none || age < told+told/recordAgain+f.interval/2 ||
		!f.fleet.admit(a.machine, f.book.now, f.interval) {
		return
	}
	a.recordedAt = float32(age.Seconds())
	f.fleet.avoided.asOf = 0
	key := f.fleet.member.Key(int(a.task), int(a.attempt))
	f.fleet.record.Running(f.book.clock.Last, f.fleet.number(a.machine), key, f.observation(w, a))
}

// tellEnd tells the record that a copy has ended, and how. Long says that the task is known to be long wherever it
// runs: then the copy's time says nothing about the machine.
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

// attempt is what the record is told of a copy.
func (f *forecast) observation(w stint, a *attemptState) machines.Attempt {
	age, done := f.observed(w, a)
	o := machines.Attempt{Ran: age, Done: min(done/w.units(), 1)}
	if usual, known := f.median(w); known {
		o.Usual = num.Times(usual, f.fleet.pathFactor(int(a.task), f.fleet.number(a.machine)))
	}
	return o
}

// What the forecast says of a task: t_rem of its copies, and t_new of one more.

// remaining returns t_rem of a copy by its reports: the host's, or the model's, which is unknown at the age of 0 and so
// before the begin. In a phase of which no copy has ever reported progress nothing is known; one silent copy among
// others that report is another matter.
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

// foresee makes t_rem of the i-th of a task's copies a distribution, unless the host has given it, or nothing is known.
func (f *forecast) foresee(w stint, a *attemptState, i int, to *restart.Attempt) {
	if !f.ages.on || !a.begun || a.remaining != estimate.Unknown || a.badUnits || i >= maxForeseen {
		return
	}
	f.refit()
	m := &f.ages
	if i >= len(m.foreseen) { // those of the copies before this one stay where they are: this task's decision reads them there
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
		if m.onSuspects { // what ended elsewhere says nothing of how long it takes there
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

// predict returns what a copy's progress says of it, as of an age at which it needs so much more, given its scale. Whether it
// has moved evenly is left to [ages.evenly], which takes as long as all the rest.
func (f *forecast) predict(a *attemptState, age, left time.Duration, scale float64) survival.Prediction {
	m := &f.ages
	p := survival.Prediction{
		Age: age.Seconds(), Total: age.Seconds() + left.Seconds(), AtStage: float64(a.atStage), Stage: a.trail.Passed(),
		Scale: scale, MaySayNothing: float64(m.stallWeight),
	}
	p.Expected = f.hasPrior || m.hasCurve()
	return p
}

// refresh makes the curve again where enough has happened.
func (f *forecast) refit() {
	m, b := &f.ages, f.book
	if !m.stale(b.now, f.interval) {
		return
	}
	m.fittedAt, m.newRunTimes = b.now, 0
	m.curve.Reset()
	if m.mostEvenNow = false; m.usesEvenness && m.endedShown < enoughShown {
		m.mostEvenNow = f.nearlyAllEven()
	}
	if f.addEnded(&m.curve) < int(m.enoughEnds) {
		m.curve.Reset() // nobody reads the curve: most phases are so for most of their time
	} else {
		f.addRunning(&m.curve, false)
	}
	m.curve.Silent = !f.reported
	m.curve.Fit()
	f.findSuspects()
}

// over adds the lives that are over to a curve, and returns how many ended with success.
func (f *forecast) addEnded(curve *survival.Curve) (ends int) {
	for _, lives := range [...][]runTime{f.ages.runTimes, f.link.runTimes(&f.ages)} {
		for _, l := range lives {
			if curve.Observe(float64(l.seconds)/f.scale(l.work), l.ended) && l.ended {
				ends++
			}
		}
	}
	return ends
}

// observe adds the ages of the copies that run to a curve; with apart without those on machines that are behind.
func (f *forecast) addRunning(curve *survival.Curve, withoutSuspects bool) {
	f.eachRunning(func(a *attemptState) {
		if f.ages.keepsTask(a.task) && !(withoutSuspects && a.machine != none && f.fleet.machines[a.machine].suspect) {
			w := f.book.tasks[a.task].stint(a.resumed)
			curve.Observe(f.book.age(a).Seconds()/f.scale(float64(w)), false)
		}
	})
}

// running calls do with each copy that runs.
func (f *forecast) eachRunning(do func(a *attemptState)) {
	for i := range f.book.attempts.all {
		if a := &f.book.attempts.all[i]; a.task != none && a.begun {
			do(a)
		}
	}
}

// mostAhead is how many copies of a task have a distribution of t_rem. A choice: few tasks have more than two copies.
const maxForeseen = 8

// scale is how much longer than the mean task's a task's work lets it take. Until enough have ended to see what
// explains time, a small task is not taken to be a quick one: that would make the longest of all of its age.
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

// fresh is t_new of one more copy of a task, of which the oldest has run so long, at a location; others receives the
// samples without those of the task's own copies. It leaves a machine that is behind if leaves says so.
func (f *forecast) fresh(
	w stint, location float64, oldest time.Duration, leaves bool, own []int, others *estimate.PeerTimes,
) estimate.Fresh {
	n := estimate.Fresh{Work: f.rates.Work(float64(w)), Lag: f.lag.mean(), Location: location}
	if f.rates.Known() {
		f.rates.Peers(others, own...)
		n.UnitTime = others
	}
	// Where t_rem rests on ages alone, so must t_new: from another source the two could not be compared. And a phase
	// that has shown nothing yet knows the ages of its kind.
	if m := &f.ages; m.on && (!f.reported || !f.rates.Known()) && m.hasCurve() {
		scale := f.scale(float64(w))
		if m.fresh == nil {
			m.fresh = new(survival.Without)
		}
		if m.fresh.Set(&m.curve, oldest.Seconds()/scale); leaves && m.withoutSuspects != nil {
			m.fresh.Set(m.withoutSuspects, 0)
		}
		n.UnitTime, n.Work = m.fresh, scale
	}
	return n
}

// usual is what a task of some work usually takes; it is known if the unit times are.
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

// needs is t_rem of a copy whose machine leaves, as seen is what the policy sees. That counts once ends have shown how
// far off predictions are, and plain extrapolation before. Where both are unknown, the copy takes what the longest took
// that has ended, or as long again as it has run; Unknown while none has ended.
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

// longest returns how long a task of some work would have taken as the longest copy that has ended, of this phase and of its
// kind: few have ended of a small phase, and by chance soon. It is 0 before any has ended.
func (f *forecast) longest(w stint) time.Duration {
	long := f.ages.longest
	for _, l := range f.link.counted(&f.ages) {
		if l.ended {
			long = max(long, float64(l.seconds)/f.scale(l.work))
		}
	}
	d, _ := num.Duration(long * f.scale(float64(w)))
	return d
}

// What the forecast learns from the ends of copies.

// finished takes the run time of a copy that finished as a sample.
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

// killed takes what a copy has shown that was killed or overtaken: it would have taken at least so long. What it showed
// replaces what an earlier copy of the task has, if the two say the same: then it is the task that is long. A copy was in vain
// if its host killed it, and another attempt of the task went on: the task may be as long everywhere, and the copy is no
// evidence of a slow machine. A copy that another attempt has overtaken is.
func (f *forecast) killed(s *taskState, a *attemptState, inVain bool) {
	defer f.leaveSamples(a)
	if !f.readsRates || !a.begun {
		return
	}
	w, age := s.stint(a.resumed), f.book.age(a)
	f.addRunTime(w, a, age, false)
	r := f.estimateRun(w, a)
	if r.Age, r.Done = f.observed(w, a); age < f.interval {
		f.recordEnd(w, a, machines.Killed, false)
		f.rates.Drop(int(a.sample))
		return
	}
	f.recordEnd(w, a, machines.Killed, f.repeats(s, a, r) || inVain)
	h := f.book.history(s)
	h.killed, h.killedOn = int32(f.rates.Kill(int(a.sample), r)), a.machine
}

// failed drops what a copy has shown that failed: its time is no sample.
func (f *forecast) failed(s *taskState, a *attemptState) {
	f.rates.Drop(int(a.sample))
	f.recordEnd(s.stint(a.resumed), a, machines.Failed, false)
	f.leaveSamples(a)
}

// leaves takes note that a copy is a sample of those that run no longer.
func (f *forecast) leaveSamples(a *attemptState) {
	if a.sample != estimate.NoSample {
		f.runningSamples--
	}
}

// lived takes in the life of a copy that ended with success, or was killed.
func (f *forecast) addRunTime(w stint, a *attemptState, age time.Duration, success bool) {
	f.link.refresh(&f.ages)
	f.ages.addRunTime(a, float64(w), f.scale(float64(w)), age, success)
	if f.link != nil && f.ages.on {
		f.link.addRunTime(f.book.clock.Last, a.task, entry{about: runTimeOf(success), seconds: age.Seconds(), work: float64(w)})
	}
	if f.ages.on && success && !a.badUnits {
		f.ages.shape.Finish(&a.trail, age, f.model)
		f.ages.countEvenness(&a.trail)
	}
}

// repeats drops the sample of the copy of the task that was killed last if this one has taken about as long: then the
// task is long, and counts once. It reports whether it is long on another machine as well, so that neither is slow for
// it.
func (f *forecast) repeats(s *taskState, a *attemptState, r estimate.Run) bool {
	if s.history == none {
		return false
	}
	h := &f.book.histories[s.history]
	if !f.rates.Repeat(int(h.killed), r) {
		return false
	}
	h.killed = estimate.NoSample // its id may be another sample's from now on
	return h.killedOn != a.machine
}

// A copy's last report is late enough from three quarters of its time on: a choice.
const (
	lateParts = 3
	lateOf    = 4
)

// weigh notes whether a copy that has ended with success had shown how far it was, if its last report was late enough
// to.
func (f *forecast) checkUnit(w stint, a *attemptState, age time.Duration) {
	done, at := f.done(w, a), a.progress.At()
	if done <= 0 || a.badUnits || at < age/lateOf*lateParts || at/enoughIntervals < f.interval {
		return
	}
	if f.units.add(done*survival.Parts < w.units()) { // less than what the shape of progress can learn from
		f.forgetProgress(a)
	}
}

// disbelieve forgets what was learned from progress, except what the copy that has just ended shows by its time. It
// happens O(log n) times in a phase.
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

// ages is what is known of how long copies take whatever they report: a curve of the times of those that have ended,
// run, or were killed, and how the progress of such copies runs. It costs little unless the policy reads t_rem as a
// distribution.
type ages struct {
	on                    bool
	enoughEnds            int8    // ends that make a curve: three, or all others of a small phase
	stallWeight           float32 // how much it counts that progress may say nothing
	usesEvenness          bool    // progress is believed before enough have ended, where nearly all moves evenly
	onSuspects            bool    // the task in question runs on machines that are behind
	mostEvenNow           bool    // nearly all copies that run move evenly
	endedShown, endedEven int     // copies that have ended of which it is plain how they moved, and of which moved evenly
	shape                 *survival.Shape
	curve                 survival.Curve
	meanWork              float64           // the mean work
	longest               float64           // seconds that the longest took that has ended with success, had it had the mean work; 0 for none
	runTimes              []runTime         // that ended or were killed
	successes             int32             // of closed, those with success
	stride                int32             // lives of one in so many tasks are kept
	fittedAt              time.Duration     // when the curve was made
	newRunTimes           int               // closed lives since then
	foreseen              []foreseen        // of each copy of the task that is looked at
	fresh                 *survival.Without // nil until it is asked for
	// elsewhere is the curve without what runs on machines that are behind; nil until one is
	withoutSuspects *survival.Curve
}

// ahead is what is left of a copy, by its progress or by its age. They stand apart from the tracker, which is not to be
// larger for the few tasks that have several copies.
type foreseen struct {
	outlook  survival.Outlook
	residual survival.Residual
}

// life is a copy that is over.
type runTime struct {
	seconds float32
	ended   bool
	work    float64
}

// These are choices; docs/calibration.md has how far predictions are off with them.
const (
	maxRunTimes = 8192 // tasks whose lives are kept: more would tell no more
	fewEnds     = 8    // ends before which more work is taken to take longer, and less work not to take shorter
)

func newAges(c *Config, reads rules.Description) ages {
	n := len(c.Work)
	m := ages{on: reads.Has(rules.Left), stride: 1, fittedAt: noTime}
	m.enoughEnds = int8(min(max(n-1, 1), survival.EnoughEnds))
	for i, w := range c.Work {
		m.meanWork += (w - m.meanWork) / float64(i+1)
	}
	if !m.on {
		return m
	}
	for int(m.stride) < (n+maxRunTimes-1)/maxRunTimes {
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
		m.enoughEnds = survival.EnoughEnds
	}
	return m
}

// sure reports whether enough copies have ended to make a curve of.
func (m *ages) hasCurve() bool { return m.curve.Ends() >= int(m.enoughEnds) }

// keeps reports whether the lives of a task's copies are kept.
func (m *ages) keepsTask(task int32) bool { return task%m.stride == 0 }

// add takes in the life of a copy that ended with success or was killed.
func (m *ages) addRunTime(a *attemptState, work, scale float64, age time.Duration, success bool) {
	if success {
		m.longest = max(m.longest, age.Seconds()/scale)
	}
	if m.on && m.keepsTask(a.task) {
		m.runTimes = append(m.runTimes, runTime{float32(age.Seconds()), success, work})
		m.newRunTimes++
		if success {
			m.successes++
		}
	}
}

// stale reports whether the curve is to be made again: one in sixteen of its lives is new, or an interval has passed,
// in which all that run have aged.
func (m *ages) stale(now, interval time.Duration) bool {
	return m.fittedAt == noTime || m.newRunTimes > len(m.runTimes)/survival.Renewed || now-m.fittedAt >= interval
}

// Before enough copies have ended, an attempt that seems slow may only have begun slowly. If nearly all attempts move
// evenly, though, their progress shows how fast each is.

// These are choices; docs/decisions/19-least-cost.md ("Evenness by totals") has what they are worth.
const (
	shownParts  = 4   // parts of its work that an attempt has passed when it has shown whether it moves evenly
	judgedParts = 6   // parts of its work by which an ended attempt is judged
	enoughShown = 3   // attempts that have shown it, before the phase is judged by them
	mostlyEven  = .75 // the share of even attempts among the ended ones and one uneven attempt, from which progress is believed
	slowAllowed = 2   // reporting attempts that need not have shown it: they may be the slow ones
	nearlyAll   = .9  // before three have ended: the share of attempts that must have shown it, and of even ones among these
)

// moved takes note of whether a copy that has ended moved evenly.
func (m *ages) countEvenness(t *survival.Trail) {
	if !m.usesEvenness || t.Passed() < shownParts {
		return
	}
	if m.endedShown++; t.Even(judgedParts) {
		m.endedEven++
	}
}

// evenly reports whether a copy has moved evenly so far, and whether most did: at least three in four copies that ended,
// with one uneven copy added to them (all of four, six of seven), or before that nearly all of those that run.
func (m *ages) believesEven(t *survival.Trail) bool {
	most := m.mostEvenNow
	if m.endedShown >= enoughShown {
		most = float64(m.endedEven) >= mostlyEven*float64(m.endedShown+1)
	}
	return most && t.Even(survival.Parts)
}

// allEven reports whether nearly all running copies have shown that they move evenly. The fast copies show it first. To go by
// the fast ones alone would be to believe every phase. O(n).
func (f *forecast) nearlyAllEven() bool {
	reporting, plain, even := 0, 0, 0
	f.eachRunning(func(a *attemptState) {
		if a.trail.Done() > 0 {
			reporting++
		}
		if a.trail.Passed() >= shownParts {
			if plain++; a.trail.Even(judgedParts) {
				even++
			}
		}
	})
	return plain >= enoughShown && float64(plain+slowAllowed) >= nearlyAll*float64(reporting) && float64(even) >= nearlyAll*float64(plain+1)
}

// A machine is behind if so many of its copies run longer than usual, and so few have ended, that it is hardly chance.
// Where copies report nothing, their ages say nothing of what a copy takes elsewhere: t_new of a task on such a machine
// is by the ages of the others.

const (
	overdueTimes = survival.OutlierFrom // medians after which a copy is overdue
	fewOverdue   = 2                    // copies of one machine: one may be the task's own
	hardlyChance = 1. / 50              // that any machine would be so by chance: a choice
)

// separate marks the machines that are behind, and makes a curve without what runs there.
func (f *forecast) findSuspects() {
	list, m, any := f.fleet.machines, &f.ages, false
	for i := range list {
		list[i].overdue, list[i].suspect = 0, false
	}
	if len(list) < 2 || !f.rates.Known() {
		return
	}
	late := f.rates.Quantile(num.Half) * overdueTimes
	overdue, running := 0.0, 0.0
	f.eachRunning(func(a *attemptState) {
		if running++; f.secondsPerUnit(a) > late {
			if overdue++; a.machine != none {
				list[a.machine].overdue++
			}
		}
	})
	ended := float64(f.book.finished)
	share := (overdue + float64((1-f.rates.CDF(late))*ended)) / (running + ended)
	for i := range list {
		list[i].suspect = list[i].isSuspect(share, len(list))
		any = any || list[i].suspect
	}
	if !any || f.reported {
		return
	}
	if m.withoutSuspects == nil {
		m.withoutSuspects = &survival.Curve{Silent: true}
	}
	m.withoutSuspects.Reset()
	f.addEnded(m.withoutSuspects)
	f.addRunning(m.withoutSuspects, true)
	m.withoutSuspects.Fit()
}

// whole is how many seconds of a unit of work a copy takes in all, by its progress, or has taken at least.
func (f *forecast) secondsPerUnit(a *attemptState) float64 {
	age, w := f.book.age(a), f.book.tasks[a.task].stint(a.resumed)
	if left := f.remaining(w, a); left != estimate.Unknown {
		age = num.Add(age, left)
	}
	return age.Seconds() / f.rates.Work(float64(w))
}

// isBehind reports whether it is hardly chance that so many copies on the machine are overdue, if a share of all are,
// given how many have ended on it and that it is one of so many machines.
func (mc *machine) isSuspect(share float64, machines int) bool {
	if mc.overdue < fewOverdue {
		return false
	}
	chance := float64(machines)
	for i := range mc.overdue { // at most: the ways to choose them, and that all of these are
		chance *= share * float64(mc.ended+i+1) / float64(i+1)
	}
	return chance <= hardlyChance
}

// leavesBehind reports whether all copies of a task run on machines that are behind, and one more would not, on the
// machine that asks or elsewhere.
func (fl *fleet) leavesSuspects(b *book, s *taskState, machine int) bool {
	if index := fl.find(machine); index != none && fl.machines[index].suspect {
		return false
	}
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		if index := b.attempts.all[i].machine; index == none || !fl.machines[index].suspect {
			return false
		}
	}
	return true
}

// Progress in too large a unit is seen at once: more is done than there is. In too small a unit it looks like a phase
// of stragglers, until copies end with success of which hardly anything was known to be done. A policy that goes by
// t_rem would restart what is healthy.

// These are choices, of which none raises a false alarm with even, early, late, stepwise or random progress.
const (
	overWork        = 1.01 // times its work a task may report as done: what rounding and a last block make of it
	enoughSmall     = 3    // copies whose progress said nothing, and most of all, before that of their phase is not believed
	fewSmall        = 4    // one in so many, or fewer: then it is believed again
	enoughIntervals = 3    // intervals that a copy has run at its last report: a short one may have had no time to tell
)

// doubt is how far reports are believed.
type unitCheck struct {
	tooLarge    int  // reports of more work than there is
	judged      int  // copies that ended with success and had reported progress late
	tooSmall    int  // of which so little that its unit must be too small
	disbelieved bool // most of them: progress says nothing
}

// weigh takes in a copy that has ended with success and reported progress late, and reports whether the progress of its
// phase is no longer believed from now on.
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

// lag learns schedLag, "the average delay between a task being scheduled and when it is actually running" [Mantri
// §5.5]: the mean over the copies that were submitted while a slot was free, recent ones weighing more.
type lag struct {
	prior time.Duration // until one was seen
	sum   float64       // nanoseconds
	n     float64
}

// lagMemory is how many delays count: a choice.
const lagMemory = 32

func (lg *lag) observe(delay time.Duration) {
	if lg.n >= lagMemory {
		lg.sum -= float64(lg.sum / lagMemory) // a product with 1/32, and not fused
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
