package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
)

// refitPart says when the survival curve is fitted again: as soon as more than 1/refitPart of the run times are new.
// The number is a choice.
const refitPart = 16

// ages predicts how long attempts take from run times alone, without progress reports. It fits a survival curve to
// the run times of attempts that have ended, of attempts that were killed, and of attempts that still run. If the
// policy does not read the remaining time (t_rem) as a distribution, ages keeps only the longest run time.
type ages struct {
	// The number of successful attempts from which the survival curve of run times is used: three. In a phase of three
	// tasks or fewer that share no run times, it is the number of the other tasks, but at least one.
	enoughEnds int8
	curve      survival.Curve
	// The longest run time of a successful attempt, in seconds, scaled to a task of the mean work; 0 if no attempt has
	// succeeded.
	longest float64
	// The run times of attempts that finished or were killed.
	runTimes []runTime
	// The number of successful attempts in runTimes.
	successes int32
	// Run times are kept only of tasks whose index is a multiple of stride, to bound the memory of a large phase.
	stride int
	// The time at which the survival curve of run times was fitted last; noTime if it never was.
	fittedAt time.Duration
	// The number of run times that were added after fittedAt.
	newRunTimes int
}

// runTime is the run time of one attempt that is over. If ended is true, the attempt finished with success. Otherwise
// it was killed, and would have taken at least this long.
type runTime struct {
	seconds float32
	ended   bool
	work    float64
}

// maxRunTimes is the number of tasks whose run times are kept for the survival curve. More tasks would hardly make the
// curve better. The number is a choice; the page docs/calibration.md shows how wrong predictions are with it.
const maxRunTimes = 8192

// newAges returns the run times of a phase of n tasks that has not begun.
func newAges(n int, shares bool) ages {
	m := ages{fittedAt: noTime, enoughEnds: int8(min(max(n-1, 1), survival.EnoughEnds))}
	if shares {
		m.enoughEnds = survival.EnoughEnds
	}
	m.sample(n)
	return m
}

// sample sets of which tasks run times are kept, in a phase of n tasks.
func (m *ages) sample(n int) {
	for m.stride = 1; m.stride < (n+maxRunTimes-1)/maxRunTimes; {
		m.stride *= 2
	}
}

// hasCurve reports whether enough attempts have ended with success to use the survival curve of run times.
func (m *ages) hasCurve() bool { return m.curve.Ends() >= int(m.enoughEnds) }

// keepsTask reports whether the run times of the task's attempts are kept. In a large phase, they are kept only for
// tasks whose index is a multiple of stride.
func (m *ages) keepsTask(task int) bool { return task%m.stride == 0 }

// note makes the run time of a successful attempt the longest, if it is. The time is in seconds, and scaled to a task
// of the mean work.
func (m *ages) note(seconds float64) { m.longest = max(m.longest, seconds) }

// setLongest sets the longest run time of a growing phase, and counts the run time that the Knowledge has got.
func (m *ages) setLongest(seconds float64) { m.longest = seconds }

// noteNew counts a run time that the Knowledge has got, in a growing phase.
func (m *ages) noteNew() { m.newRunTimes++ }

// add adds the run time of an attempt of a task.
func (m *ages) add(task int, t runTime) {
	if !m.keepsTask(task) {
		return
	}
	m.runTimes = append(m.runTimes, t)
	m.newRunTimes++
	if t.ended {
		m.successes++
	}
}

// stale reports whether the survival curve of run times must be fitted again. This is so if more than a part of its
// run times (refitPart) is new, or if an interval has passed since the last fit, because all running attempts have aged
// in that time. A curve that was never fitted is stale, too. The curve has the given number of run times.
func (m *ages) stale(now, interval time.Duration, runTimes int) bool {
	return m.fittedAt == noTime || m.newRunTimes > runTimes/refitPart || now-m.fittedAt >= interval
}

// empty empties the curve, to fit it again at the time now.
func (m *ages) empty(now time.Duration) {
	m.fittedAt, m.newRunTimes = now, 0
	m.curve.Reset()
}

// fit fits the curve to the run times that were added to it. Silent says that attempts report no progress.
func (m *ages) fit(silent bool) {
	m.curve.Silent = silent
	m.curve.Fit()
}
