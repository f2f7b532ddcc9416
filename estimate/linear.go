package estimate

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// Linear is the Mantri paper's model of the remaining time of an attempt (t_rem) [Mantri §5.5, equation 2,
// corrected: the printed formula is the total time]:
//
//	t_rem = (d - d_read)/rate + t_wrapup
//
// Here d is the work of the task, d_read is the part of the work that is done, and t_wrapup is the time between the
// last unit of work and the end. The rate is a moving average of the units read per second. The zero value of
// Linear averages over the whole time of the attempt, as the equation does, and assumes that a silent attempt,
// which sends no reports, has stopped. Safe for concurrent use.
type Linear struct {
	// Window sets how fast the moving average of the rate forgets old progress. Progress that is one Window older
	// than the last report has 37 % of the weight of new progress, or up to 40 % if there were no reports in
	// between. The paper gives no figure. 0 means that all progress of the attempt has the same weight.
	Window time.Duration
	// Grace is how long an attempt may be silent, that is, send no reports, before the model assumes that the
	// attempt stopped at its last report. Until then the model assumes that the attempt continues at its rate. 0
	// means that the model assumes a stop as soon as the attempt is silent.
	Grace time.Duration
	// WrapUp is the wrap-up time (t_wrapup): the time from the last unit of work read to the end of the attempt.
	// The type [WrapUp] learns it. A negative value is treated as 0.
	WrapUp time.Duration
}

// Progress stores a summary of the progress reports of one attempt. The zero value is an attempt that has just
// begun and has not reported. Not safe for concurrent use: each attempt needs a separate value.
type Progress struct {
	at     time.Duration // age of the attempt at its last report
	done   float64       // units of work that the attempt had done at its last report; never falls
	read   float64       // weighted sum of the units read, in which recent units count more
	passed float64       // weighted sum of the seconds passed, with the same weights
}

// Done returns the units of work that the attempt has reported as done. The paper calls this number d_read.
func (p *Progress) Done() float64 { return p.done }

// At returns the age of the attempt at its last report, or 0 if the attempt never reported.
func (p *Progress) At() time.Duration { return p.at }

// Report records a progress report. age is the age of the attempt, and done is the number of units of work that the
// attempt has done since it began. Report returns whether the report was used. A report is ignored if it is older
// than the last report, or if done is negative, NaN or infinite. If done is less than in an earlier report, the
// report is used as a report of no new progress. O(1), no allocation.
func (m Linear) Report(p *Progress, age time.Duration, done float64) bool {
	if age < p.at || !(done >= 0) || math.IsInf(done, 1) {
		return false
	}
	p.read, p.passed = m.average(p, age, max(0, done-p.done))
	p.at, p.done = age, max(p.done, done)
	return true
}

// Reread replaces the number of units that the attempt has reported so far by done. Call Reread when the meaning of the
// reported units becomes better known. For example, an attempt has reported 50 of 100 units, and now it is known that
// this half takes 60 % of the time: then done is 60. The rate of the attempt is multiplied by the same factor as the
// number of units. O(1), no allocation.
func (p *Progress) Reread(done float64) {
	if factor := done / p.done; factor > 0 && num.Finite(factor) {
		p.read *= factor
		p.done = done
	}
}

// average returns the two sums of the moving average at the given age: the weighted units read and the weighted
// seconds passed. gain is the number of units that the attempt has read since its last report. A moment that lies x
// windows in the past has the weight e^(-x), so the early part of a long gap between reports has less weight than
// its late part. The weight of a gap is the mean weight of its moments. A rational function replaces the
// exponential, because the last bit of an exponential differs between architectures.
func (m Linear) average(p *Progress, age time.Duration, gain float64) (read, passed float64) {
	gap := (age - p.at).Seconds()
	if m.Window <= 0 || gap == 0 {
		return p.read + gain, p.passed + gap
	}
	x := gap / m.Window.Seconds()
	tail := x + float64(x*x/2) // approximately e^x - 1: the terms of first and second order
	keep := 1 / (1 + tail)
	weight := keep * (1 + float64(x/2)) // (1-keep)/x, the mean weight of the moments of the gap
	return float64(p.read*keep) + float64(gain*weight), float64(p.passed*keep) + float64(gap*weight)
}

// Rate returns the moving average of the units of work per second, as of the attempt's last report. Rate returns 0
// if the attempt never reported.
func (p *Progress) Rate() float64 {
	if p.passed == 0 {
		return 0
	}
	return p.read / p.passed
}

// Remaining returns the remaining time (t_rem) of an attempt of the given age. work is the number of units that the
// attempt has to do in total, including the units that are done. The answer is [Unknown] in three cases:
//
//   - the attempt has shown no progress, and its age is 0 or at most Grace
//   - all its progress was reported at the age of 0, which gives no rate
//   - work is not a positive finite number
//
// An attempt that shows no progress for longer than Grace has no rate, and the printed model would give it an
// infinite remaining time. Remaining returns the age of the attempt instead: an attempt that has done nothing for
// 30 s is expected to take another 30 s. This answer protects an attempt that starts slowly from a kill at its
// first report. The answer still makes a hung attempt look slow.
//
// O(1), no allocation. While the attempt is silent, the answer falls as the age grows until Grace has passed. After
// that, the answer never falls as the age grows. New progress never makes the answer longer, with one exception:
// with the first progress, the equation replaces the age, and the result may be longer.
func (m Linear) Remaining(p *Progress, age time.Duration, work float64) time.Duration {
	age = max(age, p.at)
	wrapUp := max(m.WrapUp, 0)
	silence := age - p.at
	switch {
	case !(work > 0) || math.IsInf(work, 1):
		return Unknown
	case p.done >= work:
		return wrapUp
	case p.done == 0 && age <= m.Grace, p.done == 0 && age == 0:
		return Unknown
	case p.done == 0:
		return num.Add(age, wrapUp)
	}
	read, passed := p.read, p.passed
	if silence > m.Grace {
		read, passed = m.average(p, age, 0)
		silence = 0 // the average now contains it
	}
	if passed == 0 {
		return Unknown
	}
	// The result of the last step may be infinite, but no step before it overflows if the operations have this
	// order. The result is infinite if the average has forgotten all progress of the attempt.
	rest, _ := num.Duration((work - p.done) / read * passed)
	return num.Add(max(0, num.Sub(rest, silence)), wrapUp)
}

// Validate returns an error that names the first field that is out of range, or nil.
func (m Linear) Validate() error {
	const place = "estimate: Linear"
	return cmp.Or(check.Least(place, "Window", m.Window, 0), check.Least(place, "Grace", m.Grace, 0))
}

// MarshalJSON returns the fields that are not zero as JSON. Names are kebab-case, times are in seconds, and a rule
// that is turned off has the value -1. UnmarshalJSON reads this form.
func (m Linear) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&m)) }
func (m *Linear) UnmarshalJSON(data []byte) error { return wire.Read(data, m, wire.Struct) }

// WrapUp learns the wrap-up time (t_wrapup) "from the behavior of earlier tasks in the phase" [Mantri §5.5]. The
// wrap-up time is the time between the last unit of work that a task reads and the end of the task. The zero value
// has observed no task. Not safe for concurrent use: each phase needs a separate value.
type WrapUp struct {
	seconds float64
	n       int
}

// Observe records a finished attempt. readAll is the age of the attempt when the host first knew that all work was
// done, and end is the age of the attempt at its end. Observe ignores the attempt if end is before readAll, or if
// readAll is negative. If readAll is the age at a progress report, the recorded time is too short by up to one
// interval between reports.
func (w *WrapUp) Observe(readAll, end time.Duration) {
	if readAll < 0 || end < readAll {
		return
	}
	w.n++
	w.seconds += ((end - readAll).Seconds() - w.seconds) / float64(w.n)
}

// Mean returns the mean wrap-up time of the observed attempts, or 0 before the first observation.
func (w *WrapUp) Mean() time.Duration {
	d, _ := num.Duration(w.seconds)
	return d
}
