package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// times makes a distribution of t_rem: of what copies report by the shape of their progress, and of their ages by the
// times of those that ended, run, or were killed. It also gives t_new where nothing is reported at all.
type times struct {
	on    bool
	shape *survival.Shape
	curve survival.Curve
	mean  float64 // the mean work

	longest float64 // seconds that the longest took that has ended with success, had it had the mean work; 0 for none

	closed []life        // that ended or were killed
	enough int           // ends that make a curve: three, or all others of a small phase
	stride int           // lives of one in so many tasks are kept
	fitted time.Duration // when the curve was made
	since  int           // closed lives since then

	ahead []ahead // of each copy of the task that is looked at
	fresh survival.Without
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

const (
	mostLives = 8192 // tasks whose lives are kept: more would tell no more
	refit     = 16   // the curve is made again when its lives have grown by one in so many
	unsure    = 8    // ends before which more work is taken to take longer, and less work not to take shorter
)

func newTimes(c *Config) times {
	t := times{on: rules.Describe(c.Policy).Has(rules.Left), stride: 1, fitted: noTime, enough: min(max(len(c.Work)-1, 1), 3)}
	for i, w := range c.Work {
		t.mean += (w - t.mean) / float64(i+1)
	}
	if !t.on {
		return t
	}
	for t.stride < (len(c.Work)+mostLives-1)/mostLives {
		t.stride *= 2
	}
	if t.shape = new(survival.Shape); c.Shape != nil {
		t.shape = c.Shape.Phase()
	}
	return t
}

// read returns the work that stands for the share of its time that a copy has run, when it has done so much.
func (t *Tracker) read(s *taskState, done float64) float64 {
	if !t.times.on {
		return done
	}
	return t.times.shape.Time(done/s.units()) * s.units()
}

// done is the work that a copy has reported; where its progress is read through a shape, to within a share of 2^-24.
func (t *Tracker) done(s *taskState, c *copyState) float64 {
	if !t.times.on {
		return c.progress.Done()
	}
	return c.trail.Done() * s.units()
}

// bias is by what predictions from a copy's progress are too long.
func (t *Tracker) bias(c *copyState) float64 {
	if !t.times.on {
		return 1
	}
	return t.times.shape.Bias(c.trail.Passed())
}

// follow notes how far a copy has come, and what is predicted of it at the end of each part of its progress.
func (t *Tracker) follow(s *taskState, c *copyState, age time.Duration, done float64) {
	if !t.times.on || c.badUnits {
		return
	}
	before := c.trail.Passed()
	c.trail.Report(age, done/s.units())
	if c.trail.Passed() == before {
		return
	}
	c.atStage = 0
	if left := t.model.Remaining(&c.progress, age, s.units()); left != estimate.Unknown {
		c.atStage = float32(num.Add(age, left).Seconds())
	}
}

// ends learns from a copy that ended with success, or was killed.
func (t *Tracker) ends(s *taskState, c *copyState, age time.Duration, success bool) {
	if success {
		t.times.longest = max(t.times.longest, age.Seconds()/t.scale(s.work))
	}
	if !t.times.on {
		return
	}
	if int(c.task)%t.times.stride == 0 {
		t.times.closed = append(t.times.closed, life{float32(age.Seconds()), success, s.work})
		t.times.since++
	}
	if success && !c.badUnits {
		t.times.shape.Finish(&c.trail, age, t.model)
	}
}

// sure reports whether enough copies have ended to make a curve of.
func (m *times) sure() bool { return m.curve.Ends() >= m.enough }

// atMost is t_rem of a copy of which nothing else is known, for a task that is about to lose its machine: it takes what
// the longest took that has ended, or as long again as it has run. Unknown while none has ended.
func (t *Tracker) atMost(s *taskState, c *copyState) time.Duration {
	if t.times.longest == 0 {
		return estimate.Unknown
	}
	age := t.age(c)
	longest, _ := num.Duration(t.times.longest * t.scale(s.work))
	return max(num.Sub(longest, age), age)
}

// scale is how much longer than the mean task's a task's work lets it take. Until enough have ended to see what
// explains time, a small task is not taken to be a quick one: that would make the longest of all of its age.
func (t *Tracker) scale(work float64) float64 {
	e := t.rates.Work(work) / t.rates.Work(t.times.mean)
	if t.rates.Overhead() == 0 && t.ledger.Finished < unsure {
		e = max(e, 1)
	}
	if !(e > 0 && num.Finite(e)) {
		return 1
	}
	return e
}

// refresh makes the curve again where enough has happened: one in sixteen of its lives is new, or an interval has
// passed, in which all that run have aged.
func (t *Tracker) refresh() {
	m := &t.times
	if m.fitted != noTime && m.since <= len(m.closed)/refit && t.now-m.fitted < t.config.Interval {
		return
	}
	m.fitted, m.since = t.now, 0
	m.curve.Reset()
	ends := 0
	for _, l := range m.closed {
		if m.curve.Add(float64(l.seconds)/t.scale(l.work), l.ended) && l.ended {
			ends++
		}
	}
	if ends < m.enough { // nobody reads it: most phases are so for most of their time
		m.curve.Reset()
		m.curve.Fit()
		return
	}
	for i := range t.copies.all {
		c := &t.copies.all[i]
		if c.task != none && c.begun && int(c.task)%m.stride == 0 {
			work := t.tasks[c.task].work
			work -= c.resumed.of(work) // not asFound, of which the caller holds one
			m.curve.Add(t.age(c).Seconds()/t.scale(work), false)
		}
	}
	m.curve.Fit()
}

// foresee makes t_rem of the last of the copies a distribution, unless the host has given it, or nothing is known.
func (t *Tracker) foresee(s *taskState, c *copyState, copies []restart.Copy) {
	i := len(copies) - 1
	if !t.times.on || !c.begun || c.remaining != estimate.Unknown || c.badUnits || i >= scratchCopies {
		return
	}
	t.refresh()
	m, to := &t.times, &copies[i]
	if i >= len(m.ahead) { // those of the copies before this one stay where they are: this task's decision reads them there
		m.ahead = append(m.ahead, make([]ahead, i+1-len(m.ahead))...)
	}
	left := &m.ahead[i]
	age, scale := t.age(c).Seconds(), t.scale(s.work)
	reports := to.Remaining != estimate.Unknown && c.trail.Done() > 0
	if reports {
		p := survival.Prediction{
			Age: age, Total: age + to.Remaining.Seconds(), AtStage: float64(c.atStage), Stage: c.trail.Passed(), Scale: scale,
			Expected: t.config.Rates.Prior != nil || m.sure(),
		}
		if m.shape.Outlook(&left.outlook, p, &m.curve) {
			to.Left, to.Basis = &left.outlook, restart.ByProgress
			to.Remaining, _ = num.Duration(left.outlook.Mean())
			return
		}
	}
	if m.sure() && age > 0 {
		left.residual = survival.Residual{Curve: &m.curve, Age: age, Scale: scale}
		to.Left, to.Basis = &left.residual, restart.ByAge
		to.Remaining, _ = num.Duration(left.residual.Mean())
	} else if reports {
		to.Remaining = estimate.Unknown
	}
}

// byAges takes t_new from the curve, too, where t_rem rests on nothing else: from another source the two could not be
// compared.
func (t *Tracker) byAges(s *taskState, view *restart.Task) {
	m := &t.times
	if !m.on || t.reported || !m.sure() {
		return
	}
	oldest := time.Duration(0)
	for i := range view.Copies {
		oldest = max(oldest, view.Copies[i].Elapsed)
	}
	scale := t.scale(s.work)
	m.fresh = survival.Without{Curve: &m.curve, Age: oldest.Seconds() / scale}
	view.Fresh.UnitTime, view.Fresh.Work = &m.fresh, scale
}
