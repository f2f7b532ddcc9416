package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/rules"
)

// ages estimates how long attempts take from run times alone: by a curve of the times of attempts that ended, run, or
// were killed. It also holds the shape of progress. It costs little unless the policy reads t_rem as a distribution.
type ages struct {
	on                    bool
	enoughEnds            int8    // successes from which the curve is used: three, or all other tasks of a small phase
	stallWeight           float32 // weight of the possibility that an attempt has stalled, for survival.Prediction
	usesEvenness          bool    // even progress is believed before enough attempts have ended
	onSuspects            bool    // the task in question runs on suspect machines only
	mostEvenNow           bool    // nearly all running attempts move evenly
	endedShown, endedEven int     // ended attempts that showed how they moved, and the even ones among them
	shape                 *survival.Shape
	curve                 survival.Curve
	meanWork              float64           // mean work of a task
	longest               float64           // longest run time of a success in seconds, scaled to the mean work; 0 for none
	runTimes              []runTime         // of attempts that finished or were killed
	successes             int32             // successes in runTimes
	stride                int32             // run times are kept of each task that is a multiple of stride
	fittedAt              time.Duration     // when the curve was made
	newRunTimes           int               // run times since then
	foreseen              []foreseen        // scratch of foresee: t_rem of each attempt of one task
	fresh                 *survival.Without // nil until it is used
	// withoutSuspects is the curve without attempts on suspect machines; nil until a machine is suspect
	withoutSuspects *survival.Curve
}

// foreseen is t_rem of one attempt, by its progress or by its age. It is not part of the Tracker, so that a Tracker is
// not larger for the few tasks with several attempts.
type foreseen struct {
	outlook  survival.Outlook
	residual survival.Residual
}

// runTime is the run time of an attempt that is over. Ended says that it finished; otherwise it was killed.
type runTime struct {
	seconds float32
	ended   bool
	work    float64
}

// These numbers are choices. The page docs/calibration.md shows how far predictions are off with them.
const (
	maxRunTimes = 8192 // tasks whose run times are kept; more tasks would not make the curve better
	fewEnds     = 8    // below this number of successes, more work counts as longer, but less work does not count as shorter
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

// hasCurve reports whether enough attempts have ended for a curve.
func (m *ages) hasCurve() bool { return m.curve.Ends() >= int(m.enoughEnds) }

// keepsTask reports whether the run times of a task are kept.
func (m *ages) keepsTask(task int32) bool { return task%m.stride == 0 }

// addRunTime adds the run time of an attempt that finished or was killed.
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

// stale reports whether the curve must be made again: more than one in sixteen of its run times are new, or an
// interval has passed, in which all running attempts have aged.
func (m *ages) stale(now, interval time.Duration) bool {
	return m.fittedAt == noTime || m.newRunTimes > len(m.runTimes)/survival.RefitPart || now-m.fittedAt >= interval
}

// refit makes the curve again if it is stale.
func (f *forecast) refit() {
	m, b := &f.ages, f.book
	if !m.stale(b.now, f.interval) {
		return
	}
	m.fittedAt, m.newRunTimes = b.now, 0
	m.curve.Reset()
	m.mostEvenNow = m.usesEvenness && m.endedShown < enoughShown && f.nearlyAllEven()
	if f.addEnded(&m.curve) < int(m.enoughEnds) {
		m.curve.Reset() // the curve is not used yet, as in most phases for most of their time
	} else {
		f.addRunning(&m.curve, false)
	}
	m.curve.Silent = !f.reported
	m.curve.Fit()
	f.findSuspects()
}

// addEnded adds the run times of the phase and of its kind to a curve, and returns the number of successes.
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

// addRunning adds the ages of running attempts to a curve, with or without attempts on suspect machines.
func (f *forecast) addRunning(curve *survival.Curve, withoutSuspects bool) {
	f.eachRunning(func(a *attemptState) {
		if f.ages.keepsTask(a.task) && !(withoutSuspects && a.machine != none && f.fleet.machines[a.machine].suspect) {
			w := f.book.tasks[a.task].stint(a.resumed)
			curve.Observe(f.book.age(a).Seconds()/f.scale(float64(w)), false)
		}
	})
}

// eachRunning calls do for each running attempt.
func (f *forecast) eachRunning(do func(a *attemptState)) {
	for i := range f.book.attempts.all {
		if a := &f.book.attempts.all[i]; a.task != none && a.begun {
			do(a)
		}
	}
}
