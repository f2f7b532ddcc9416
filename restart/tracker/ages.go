package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/rules"
)

// refitPart says when the survival curve is fitted again: as soon as more than 1/refitPart of the run times are new.
// The number is a choice.
const refitPart = 16

// ages estimates how long attempts take from run times alone, without progress reports. It fits a survival curve to
// the run times of attempts that have ended, of attempts that were killed, and of attempts that still run. It also
// contains the shape of progress: which share of its time an attempt needs for which share of its work. If the policy
// does not read the remaining time (t_rem) as a distribution, ages does little and costs little.
type ages struct {
	// The policy reads the remaining time of attempts as a distribution. If on is false, no run times are kept, and no
	// survival curve is fitted.
	on bool
	// The number of successful attempts from which the survival curve of run times is used: three. In a phase of three
	// tasks or fewer without an Experience, it is the number of the other tasks, but at least one.
	enoughEnds int8
	// The policy reads the account of trials. Then progress is doubted, since an attempt may have stalled (stallWeight),
	// and the progress of an attempt that progresses evenly is believed, if most ended attempts progressed evenly.
	readsTrials bool
	// endedShown is the number of ended attempts that reported often enough to show whether they progressed evenly.
	// endedEven is the number of ended attempts that progressed evenly.
	endedShown, endedEven int
	shape                 *survival.Shape
	curve                 survival.Curve
	// The mean work of a task.
	meanWork float64
	// The longest run time of a successful attempt, in seconds, scaled to a task of the mean work; 0 if no attempt has
	// succeeded.
	longest float64
	// The run times of attempts that finished or were killed.
	runTimes []runTime
	// The number of successful attempts in runTimes.
	successes int32
	// Run times are kept only of tasks whose index is a multiple of stride, to bound the memory of a large phase.
	stride int32
	// The time at which the survival curve of run times was fitted last; noTime if it never was.
	fittedAt time.Duration
	// The number of run times that were added after fittedAt.
	newRunTimes int
	// Memory of the method foresee: the distribution of the remaining time of each attempt of the task that is decided
	// about.
	foreseen []foreseen
	// Memory of the method fresh: the curve of run times without the oldest attempt of the task. It is nil until it is
	// first used.
	fresh *survival.Without
}

// foreseen is the distribution of the remaining time of one attempt. It is predicted either from the attempt's
// progress (outlook) or from its age (residual). It is allocated apart from the Tracker, because few tasks have
// several attempts and a Tracker should stay small.
type foreseen struct {
	outlook  survival.Outlook
	residual survival.Residual
}

// runTime is the run time of one attempt that is over. If ended is true, the attempt finished with success. Otherwise
// it was killed, and would have taken at least this long.
type runTime struct {
	seconds float32
	ended   bool
	work    float64
}

// These numbers are choices. The page docs/calibration.md shows how wrong predictions are with them.
const (
	// The number of tasks whose run times are kept for the survival curve. More tasks would hardly make the curve
	// better.
	maxRunTimes = 8192
	// The weight of the possibility that an attempt has stalled. Its unit is the weight of an assumed error of
	// progress.
	stallWeight = 2
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

// hasCurve reports whether enough attempts have ended with success to use the survival curve of run times.
func (m *ages) hasCurve() bool { return m.curve.Ends() >= int(m.enoughEnds) }

// keepsTask reports whether the run times of the task's attempts are kept. In a large phase, they are kept only for
// tasks whose index is a multiple of stride.
func (m *ages) keepsTask(task int32) bool { return task%m.stride == 0 }

// addRunTime adds the run time of an attempt: its age when it finished (success) or was killed. Work is the work of
// the attempt. Scale is how many times longer an attempt of this work takes than an attempt of the mean work.
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

// stale reports whether the survival curve of run times must be fitted again. This is so if more than a part of its
// run times (refitPart) is new, or if an interval has passed since the last fit, because all running attempts have aged
// in that time. A curve that was never fitted is stale, too.
func (m *ages) stale(now, interval time.Duration) bool {
	return m.fittedAt == noTime || m.newRunTimes > len(m.runTimes)/refitPart || now-m.fittedAt >= interval
}

// refit fits the survival curve of run times again, if the curve is out of date. It then also finds again which
// machines are suspect: machines with far more slow attempts than chance explains.
func (f *forecast) refit() {
	m, b := &f.ages, f.book
	if !m.stale(b.now, f.interval) {
		return
	}
	m.fittedAt, m.newRunTimes = b.now, 0
	m.curve.Reset()
	if f.addEnded(&m.curve) < int(m.enoughEnds) {
		m.curve.Reset() // too few successes: an empty curve is cheaper, and it is not used yet
	} else {
		f.addRunning(&m.curve)
	}
	m.curve.Silent = !f.reported
	m.curve.Fit()
	f.findSuspects()
}

// addEnded adds the run times of ended attempts to a curve, both of this phase and of the phases that share its
// Experience. It returns the number of attempts among them that ended with success.
func (f *forecast) addEnded(curve *survival.Curve) (ends int) {
	for _, times := range [...][]runTime{f.ages.runTimes, f.link.runTimes(&f.ages)} {
		for _, t := range times {
			if curve.Observe(float64(t.seconds)/f.scale(t.work), t.ended) && t.ended {
				ends++
			}
		}
	}
	return ends
}

// addRunning adds the ages of running attempts to a survival curve: each attempt will take at least as long as its
// age.
func (f *forecast) addRunning(curve *survival.Curve) {
	f.eachRunning(func(a *attemptState) {
		if f.ages.keepsTask(a.task) {
			w := f.book.tasks[a.task].stint(a.resumed)
			curve.Observe(f.book.age(a).Seconds()/f.scale(float64(w)), false)
		}
	})
}

// eachRunning calls the function do for each running attempt of the phase.
func (f *forecast) eachRunning(do func(a *attemptState)) {
	for i := range f.book.attempts.all {
		if a := &f.book.attempts.all[i]; a.task != none && a.begun {
			do(a)
		}
	}
}
