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
func (f *forecast) report(s *taskState, c *attemptState, r *Report) (score float64) {
	wasBad := c.badUnits
	done, score := f.claim(s, c, r)
	w := s.stint(c.resumed)
	age, units := f.book.age(c), w.units()
	if wasBad && !c.badUnits {
		c.progress = estimate.Progress{} // what could not be right is forgotten, so that this one counts
	}
	f.reread(w, c)
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
func (f *forecast) claim(s *taskState, c *attemptState, r *Report) (done, score float64) {
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

// reread reads again what a copy has reported so far: ends may have shown since then how progress runs.
func (f *forecast) reread(w stint, c *attemptState) {
	if !f.ages.on {
		return
	}
	if done := c.trail.Done(); f.ages.shape.Time(done) != done {
		c.progress.Reread(f.ages.shape.Time(done) * w.units())
	}
}

// done is the work that a copy has reported; where its progress is read through a shape, to within a share of 2^-24.
func (f *forecast) done(w stint, c *attemptState) float64 {
	if !f.ages.on {
		return c.progress.Done()
	}
	return c.trail.Done() * w.units()
}

// bias is by what predictions from a copy's progress are too long.
func (f *forecast) bias(c *attemptState) float64 {
	if !f.ages.on {
		return 1
	}
	return f.ages.shape.Bias(c.trail.Passed())
}

// follow notes how far a copy has come, and what is predicted of it at the end of each part of its progress.
func (f *forecast) follow(w stint, c *attemptState, age time.Duration, done float64) {
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
func (f *forecast) sample(w stint, c *attemptState, age time.Duration, done float64) {
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
func (f *forecast) run(w stint, c *attemptState) estimate.Run {
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
func (f *forecast) shown(w stint, c *attemptState) (age time.Duration, done float64) {
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
func (f *forecast) tellRunning(w stint, c *attemptState) {
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
func (f *forecast) tellEnd(w stint, c *attemptState, how machines.Outcome, long bool) {
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
func (f *forecast) attempt(w stint, c *attemptState) machines.Attempt {
	age, done := f.shown(w, c)
	a := machines.Attempt{Ran: age, Done: min(done/w.units(), 1)}
	if usual, known := f.usual(w); known {
		a.Usual = num.Times(usual, f.fleet.way(int(c.task), f.fleet.number(c.machine)))
	}
	return a
}

// What the forecast says of a task: t_rem of its copies, and t_new of one more.

// remaining returns t_rem of a copy by its reports: the host's, or the model's, which is unknown at the age of 0 and so
// before the begin. In a phase of which no copy has ever reported progress nothing is known; one silent copy among
// others that report is another matter.
func (f *forecast) remaining(w stint, c *attemptState) time.Duration {
	switch {
	case c.badUnits:
		return estimate.Unknown
	case c.remaining != estimate.Unknown:
		return max(num.Sub(c.remaining, f.book.now), 0)
	case !f.reported:
		return estimate.Unknown
	}
	return f.model.Remaining(&c.progress, f.book.age(c), w.units())
}

// foresee makes t_rem of the i-th of a task's copies a distribution, unless the host has given it, or nothing is known.
func (f *forecast) foresee(w stint, c *attemptState, i int, to *restart.Attempt) {
	if !f.ages.on || !c.begun || c.remaining != estimate.Unknown || c.badUnits || i >= mostAhead {
		return
	}
	f.refresh()
	m := &f.ages
	if i >= len(m.ahead) { // those of the copies before this one stay where they are: this task's decision reads them there
		m.ahead = append(m.ahead, make([]ahead, i+1-len(m.ahead))...)
	}
	left := &m.ahead[i]
	age, scale := to.Elapsed.Seconds(), f.scale(float64(w))
	reports := to.Remaining != estimate.Unknown && c.trail.Done() > 0
	if reports {
		p := f.predict(c, to.Elapsed, to.Remaining, scale)
		p.Even = m.evenly(&c.trail)
		p.Expected = p.Expected || p.Even && m.evenSoFar
		to.Even = p.Even
		curve := &m.curve
		if m.apart { // what ended elsewhere says nothing of how long it takes there
			curve, p.Expected = nil, true
		}
		if m.shape.Outlook(&left.outlook, p, curve) {
			to.Left, to.Basis = &left.outlook, restart.ByProgress
			to.Remaining, _ = num.Duration(left.outlook.Mean())
			return
		}
	}
	if m.sure() && age > 0 {
		left.residual.Set(&m.curve, age, scale)
		to.Left, to.Basis = &left.residual, restart.ByAge
		to.Remaining, _ = num.Duration(left.residual.Mean())
	} else if reports {
		to.Remaining = estimate.Unknown
	}
}

// predict returns what a copy's progress says of it, as of an age at which it needs so much more, given its scale. Whether it
// has moved evenly is left to [ages.evenly], which takes as long as all the rest.
func (f *forecast) predict(c *attemptState, age, left time.Duration, scale float64) survival.Prediction {
	m := &f.ages
	p := survival.Prediction{
		Age: age.Seconds(), Total: age.Seconds() + left.Seconds(), AtStage: float64(c.atStage), Stage: c.trail.Passed(),
		Scale: scale, MaySayNothing: float64(m.doubts),
	}
	p.Expected = f.expects || m.sure()
	return p
}

// refresh makes the curve again where enough has happened.
func (f *forecast) refresh() {
	m, b := &f.ages, f.book
	if !m.stale(b.now, f.interval) {
		return
	}
	m.fitted, m.since = b.now, 0
	m.curve.Reset()
	if m.evenSoFar = false; m.even && m.plain < enoughEven {
		m.evenSoFar = f.allEven()
	}
	if f.over(&m.curve) < int(m.enough) {
		m.curve.Reset() // nobody reads the curve: most phases are so for most of their time
	} else {
		f.observe(&m.curve, false)
	}
	m.curve.Silent = !f.reported
	m.curve.Fit()
	f.separate()
}

// over adds the lives that are over to a curve, and returns how many ended with success.
func (f *forecast) over(curve *survival.Curve) (ends int) {
	for _, lives := range [...][]life{f.ages.closed, f.pupil.lives(&f.ages)} {
		for _, l := range lives {
			if curve.Observe(float64(l.seconds)/f.scale(l.work), l.ended) && l.ended {
				ends++
			}
		}
	}
	return ends
}

// observe adds the ages of the copies that run to a curve; with apart without those on machines that are behind.
func (f *forecast) observe(curve *survival.Curve, apart bool) {
	f.running(func(c *attemptState) {
		if f.ages.keeps(c.task) && !(apart && c.machine != none && f.fleet.list[c.machine].behind) {
			w := f.book.tasks[c.task].stint(c.resumed)
			curve.Observe(f.book.age(c).Seconds()/f.scale(float64(w)), false)
		}
	})
}

// running calls do with each copy that runs.
func (f *forecast) running(do func(c *attemptState)) {
	for i := range f.book.copies.all {
		if c := &f.book.copies.all[i]; c.task != none && c.begun {
			do(c)
		}
	}
}

// mostAhead is how many copies of a task have a distribution of t_rem. A choice: few tasks have more than two copies.
const mostAhead = 8

// scale is how much longer than the mean task's a task's work lets it take. Until enough have ended to see what
// explains time, a small task is not taken to be a quick one: that would make the longest of all of its age.
func (f *forecast) scale(work float64) float64 {
	e := f.rates.Work(work) / f.rates.Work(f.ages.mean)
	if f.rates.Overhead() == 0 && f.book.ends < unsure {
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
	if m := &f.ages; m.on && (!f.reported || !f.rates.Known()) && m.sure() {
		scale := f.scale(float64(w))
		if m.fresh == nil {
			m.fresh = new(survival.Without)
		}
		if m.fresh.Set(&m.curve, oldest.Seconds()/scale); leaves && m.elsewhere != nil {
			m.fresh.Set(m.elsewhere, 0)
		}
		n.UnitTime, n.Work = m.fresh, scale
	}
	return n
}

// usual is what a task of some work usually takes; it is known if the unit times are.
func (f *forecast) usual(w stint) (time.Duration, bool) {
	median := 0.0
	switch {
	case f.rates.Known():
		median = f.rates.Quantile(num.Half) * f.rates.Work(float64(w))
	case f.pupil != nil && f.ages.sure():
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
func (f *forecast) needs(w stint, c *attemptState, seen time.Duration) time.Duration {
	left := f.remaining(w, c)
	if left == estimate.Unknown || f.ages.sure() {
		left = seen
	}
	if left != estimate.Unknown || f.ages.long == 0 {
		return left
	}
	age := f.book.age(c)
	long, _ := num.Duration(f.ages.long * f.scale(float64(w)))
	return max(num.Sub(long, age), age)
}

// longest returns how long a task of some work would have taken as the longest copy that has ended, of this phase and of its
// kind: few have ended of a small phase, and by chance soon. It is 0 before any has ended.
func (f *forecast) longest(w stint) time.Duration {
	long := f.ages.long
	for _, l := range f.pupil.kept(&f.ages) {
		if l.ended {
			long = max(long, float64(l.seconds)/f.scale(l.work))
		}
	}
	d, _ := num.Duration(long * f.scale(float64(w)))
	return d
}

// What the forecast learns from the ends of copies.

// finished takes the run time of a copy that finished as a sample.
func (f *forecast) finished(s *taskState, c *attemptState) {
	w, age := s.stint(c.resumed), f.book.age(c)
	f.lived(w, c, age, true)
	if c.machine != none {
		m := &f.fleet.list[c.machine]
		m.ended++
		m.beaten = noTime
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
func (f *forecast) killed(s *taskState, c *attemptState, inVain bool) {
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
func (f *forecast) failed(s *taskState, c *attemptState) {
	f.rates.Drop(int(c.sample))
	f.tellEnd(s.stint(c.resumed), c, machines.Failed, false)
	f.leaves(c)
}

// leaves takes note that a copy is a sample of those that run no longer.
func (f *forecast) leaves(c *attemptState) {
	if c.sample != estimate.NoSample {
		f.sampled--
	}
}

// lived takes in the life of a copy that ended with success, or was killed.
func (f *forecast) lived(w stint, c *attemptState, age time.Duration, success bool) {
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
func (f *forecast) repeats(s *taskState, c *attemptState, r estimate.Run) bool {
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
func (f *forecast) weigh(w stint, c *attemptState, age time.Duration) {
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
func (f *forecast) disbelieve(ended *attemptState) {
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
	mostLives = 8192 // tasks whose lives are kept: more would tell no more
	unsure    = 8    // ends before which more work is taken to take longer, and less work not to take shorter
)

func newAges(c *Config, reads rules.Description) ages {
	n := len(c.Work)
	m := ages{on: reads.Has(rules.Left), stride: 1, fitted: noTime}
	m.enough = int8(min(max(n-1, 1), survival.EnoughEnds))
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
		m.enough = survival.EnoughEnds
	}
	return m
}

// sure reports whether enough copies have ended to make a curve of.
func (m *ages) sure() bool { return m.curve.Ends() >= int(m.enough) }

// keeps reports whether the lives of a task's copies are kept.
func (m *ages) keeps(task int32) bool { return task%m.stride == 0 }

// add takes in the life of a copy that ended with success or was killed.
func (m *ages) add(c *attemptState, work, scale float64, age time.Duration, success bool) {
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
	return m.fitted == noTime || m.since > len(m.closed)/survival.Renewed || now-m.fitted >= interval
}

// Before enough copies have ended, an attempt that seems slow may only have begun slowly. If nearly all attempts move
// evenly, though, their progress shows how fast each is.

// These are choices; docs/decisions/19-least-cost.md ("Evenness by totals") has what they are worth.
const (
	plainParts = 4   // parts of its work that an attempt has passed when it has shown whether it moves evenly
	firstParts = 6   // parts of its work by which an ended attempt is judged
	enoughEven = 3   // attempts that have shown it, before the phase is judged by them
	mostlyEven = .75 // the share of even attempts among the ended ones and one uneven attempt, from which progress is believed
	fewSlow    = 2   // reporting attempts that need not have shown it: they may be the slow ones
	mostEven   = .9  // before three have ended: the share of attempts that must have shown it, and of even ones among these
)

// moved takes note of whether a copy that has ended moved evenly.
func (m *ages) moved(t *survival.Trail) {
	if !m.even || t.Passed() < plainParts {
		return
	}
	if m.plain++; t.Even(firstParts) {
		m.evens++
	}
}

// evenly reports whether a copy has moved evenly so far, and whether most did: at least three in four copies that ended,
// with one uneven copy added to them (all of four, six of seven), or before that nearly all of those that run.
func (m *ages) evenly(t *survival.Trail) bool {
	most := m.evenSoFar
	if m.plain >= enoughEven {
		most = float64(m.evens) >= mostlyEven*float64(m.plain+1)
	}
	return most && t.Even(survival.Parts)
}

// allEven reports whether nearly all running copies have shown that they move evenly. The fast copies show it first. To go by
// the fast ones alone would be to believe every phase. O(n).
func (f *forecast) allEven() bool {
	reporting, plain, even := 0, 0, 0
	f.running(func(c *attemptState) {
		if c.trail.Done() > 0 {
			reporting++
		}
		if c.trail.Passed() >= plainParts {
			if plain++; c.trail.Even(firstParts) {
				even++
			}
		}
	})
	return plain >= enoughEven && float64(plain+fewSlow) >= mostEven*float64(reporting) && float64(even) >= mostEven*float64(plain+1)
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
func (f *forecast) separate() {
	list, m, behind := f.fleet.list, &f.ages, false
	for i := range list {
		list[i].overdue, list[i].behind = 0, false
	}
	if len(list) < 2 || !f.rates.Known() {
		return
	}
	late := f.rates.Quantile(num.Half) * overdueTimes
	overdue, running := 0.0, 0.0
	f.running(func(c *attemptState) {
		if running++; f.whole(c) > late {
			if overdue++; c.machine != none {
				list[c.machine].overdue++
			}
		}
	})
	ended := float64(f.book.finished)
	share := (overdue + float64((1-f.rates.CDF(late))*ended)) / (running + ended)
	for i := range list {
		list[i].behind = list[i].isBehind(share, len(list))
		behind = behind || list[i].behind
	}
	if !behind || f.reported {
		return
	}
	if m.elsewhere == nil {
		m.elsewhere = &survival.Curve{Silent: true}
	}
	m.elsewhere.Reset()
	f.over(m.elsewhere)
	f.observe(m.elsewhere, true)
	m.elsewhere.Fit()
}

// whole is how many seconds of a unit of work a copy takes in all, by its progress, or has taken at least.
func (f *forecast) whole(c *attemptState) float64 {
	age, w := f.book.age(c), f.book.tasks[c.task].stint(c.resumed)
	if left := f.remaining(w, c); left != estimate.Unknown {
		age = num.Add(age, left)
	}
	return age.Seconds() / f.rates.Work(float64(w))
}

// isBehind reports whether it is hardly chance that so many copies on the machine are overdue, if a share of all are,
// given how many have ended on it and that it is one of so many machines.
func (m *machine) isBehind(share float64, machines int) bool {
	if m.overdue < fewOverdue {
		return false
	}
	chance := float64(machines)
	for i := range m.overdue { // at most: the ways to choose them, and that all of these are
		chance *= share * float64(m.ended+i+1) / float64(i+1)
	}
	return chance <= hardlyChance
}

// leavesBehind reports whether all copies of a task run on machines that are behind, and one more would not, on the
// machine that asks or elsewhere.
func (f *fleet) leavesBehind(b *book, s *taskState, machine int) bool {
	if place := f.seen(machine); place != none && f.list[place].behind {
		return false
	}
	for i := s.copies; i != none; i = b.copies.all[i].next {
		if place := b.copies.all[i].machine; place == none || !f.list[place].behind {
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
	beyond       = 1.01 // times its work a task may report as done: what rounding and a last block make of it
	enoughSmall  = 3    // copies whose progress said nothing, and most of all, before that of their phase is not believed
	fewSmall     = 4    // one in so many, or fewer: then it is believed again
	enoughInLife = 3    // intervals that a copy has run at its last report: a short one may have had no time to tell
)

// doubt is how far reports are believed.
type doubt struct {
	bad        int  // reports of more work than there is
	progressed int  // copies that ended with success and had reported progress late
	small      int  // of which so little that its unit must be too small
	on         bool // most of them: progress says nothing
}

// weigh takes in a copy that has ended with success and reported progress late, and reports whether the progress of its
// phase is no longer believed from now on.
func (d *doubt) weigh(small bool) (lost bool) {
	d.progressed++
	if small {
		d.small++
	}
	switch {
	case d.on:
		d.on = d.small > d.progressed/fewSmall
	case d.small >= enoughSmall && d.small > d.progressed/2:
		d.on, lost = true, true
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

func (l *lag) observe(delay time.Duration) {
	if l.n >= lagMemory {
		l.sum -= float64(l.sum / lagMemory) // a product with 1/32, and not fused
		l.n--
	}
	l.sum += float64(delay)
	l.n++
}

func (l *lag) mean() time.Duration {
	if l.n == 0 {
		return l.prior
	}
	return time.Duration(l.sum / l.n)
}
