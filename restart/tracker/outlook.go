package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// What the forecast says of a task: t_rem of its copies, and t_new of one more.

// remaining returns t_rem of a copy by its reports: the host's, or the model's, which is unknown at the age of 0 and so
// before the begin. In a phase of which no copy has ever reported progress nothing is known; one silent copy among
// others that report is another matter.
func (f *forecast) remaining(w stint, c *copyState) time.Duration {
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
func (f *forecast) foresee(w stint, c *copyState, i int, to *restart.Copy) {
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
func (f *forecast) predict(c *copyState, age, left time.Duration, scale float64) survival.Prediction {
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
		f.running(func(c *copyState, w stint) {
			if m.keeps(c.task) {
				m.curve.Observe(b.age(c).Seconds()/f.scale(float64(w)), false)
			}
		})
	}
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

// running calls do with each copy that runs, and the work that it has found.
func (f *forecast) running(do func(c *copyState, w stint)) {
	for i := range f.book.copies.all {
		if c := &f.book.copies.all[i]; c.task != none && c.begun {
			do(c, f.book.tasks[c.task].stint(c.resumed))
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

// middle is the quantile that is the median.
const middle = 0.5

// usual is what a task of some work usually takes; it is known if the unit times are.
func (f *forecast) usual(w stint) (time.Duration, bool) {
	median := 0.0
	switch {
	case f.rates.Known():
		median = f.rates.Quantile(middle) * f.rates.Work(float64(w))
	case f.pupil != nil && f.ages.sure():
		median = f.ages.curve.Quantile(middle) * f.scale(float64(w))
	default:
		return 0, false
	}
	d, _ := num.Duration(median)
	return d, true
}

// needs is t_rem of a copy whose machine leaves, as seen is what the policy sees. That counts once ends have shown how
// far off predictions are, and plain extrapolation before. Where both are unknown, the copy takes what the longest took
// that has ended, or as long again as it has run; Unknown while none has ended.
func (f *forecast) needs(w stint, c *copyState, seen time.Duration) time.Duration {
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

// stuckTimes is how many times the longest time of a copy that has ended must pass without that one begins or ends,
// for the phase to be stuck. A choice: far beyond what attempts that are only slow take.
const stuckTimes = 4

// stuck reports whether no copy has begun or ended for longer than a task of some work ever took, by far, of this phase
// and of its kind: few have ended of a small phase, and by chance soon.
func (f *forecast) stuck(w stint) bool {
	idle, long := num.Sub(f.book.now, f.book.moved), f.ages.long
	held := func() bool {
		most, _ := num.Duration(stuckTimes * long * f.scale(float64(w)))
		return idle >= most
	}
	if !held() { // the kind makes it no shorter
		return false
	}
	for _, l := range f.pupil.lives(&f.ages) {
		if l.ended {
			long = max(long, float64(l.seconds)/f.scale(l.work))
		}
	}
	return long > 0 && held()
}
