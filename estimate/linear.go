package estimate

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// Linear is Mantri's model of the remaining time of an attempt [Mantri §5.5, equation 2, corrected: the printed
// formula is the total time]:
//
//	t_rem = (d - d_read)/rate + t_wrapup
//
// Here rate is a moving average of the units read per second. The zero value averages over the whole time of the
// attempt, as the equation does, and assumes that a silent attempt has stopped. Safe for concurrent use.
type Linear struct {
	// Window is the time over which the moving average forgets. Progress made one Window before the last report
	// counts 37 %, or up to 40 % if there were no reports in between. The paper gives no figure. 0 means the whole
	// time of the attempt.
	Window time.Duration
	// Grace is how long an attempt may be silent before the model assumes that it stopped at its last report. Until
	// then the model assumes that the attempt continues at its rate. 0 means that a silent attempt has stopped at
	// once.
	Grace time.Duration
	// WrapUp is t_wrapup, the time from the last unit read to the end of the attempt; see [WrapUp]. A negative
	// value counts as 0.
	WrapUp time.Duration
}

// Progress holds the reports of one attempt in a compact form. The zero value is an attempt that has just begun and
// has not reported. Not safe for concurrent use: each attempt needs a separate value.
type Progress struct {
	at     time.Duration // age of the attempt at its last report
	done   float64       // units read by then; never falls
	read   float64       // weighted sum of the units read, in which recent units count more
	passed float64       // weighted sum of the seconds passed, with the same weights
}

// Done returns the units of work that the attempt has reported, d_read.
func (p *Progress) Done() float64 { return p.done }

// At returns the age of the attempt at its last report, 0 if the attempt never reported.
func (p *Progress) At() time.Duration { return p.at }

// Report records a progress report: the age of the attempt and the units of work that it has done since it began.
// Report returns whether it used the report. Report drops a report that is older than the last report, and a report of
// negative, NaN or infinite work. A report of less work than before counts as a report of no progress. O(1), no
// allocation.
func (m Linear) Report(p *Progress, age time.Duration, done float64) bool {
	if age < p.at || !(done >= 0) || math.IsInf(done, 1) {
		return false
	}
	p.read, p.passed = m.average(p, age, max(0, done-p.done))
	p.at, p.done = age, max(p.done, done)
	return true
}

// Reread says that the units reported so far come to so many: it is known better now what a unit stands for. The rate
// changes by the same factor. O(1), no allocation.
func (p *Progress) Reread(done float64) {
	if factor := done / p.done; factor > 0 && num.Finite(factor) {
		p.read *= factor
		p.done = done
	}
}

// average returns the sums of the moving average at the given age, if the attempt has read gain units since its
// last report. Each moment counts e^(-x) after x windows, so the early part of a long gap counts less than its late
// part. The weight of a gap is the mean weight of its moments. A rational function stands in for the exponential,
// because the last bit of an exponential differs between architectures.
func (m Linear) average(p *Progress, age time.Duration, gain float64) (read, passed float64) {
	gap := (age - p.at).Seconds()
	if m.Window <= 0 || gap == 0 {
		return p.read + gain, p.passed + gap
	}
	x := gap / m.Window.Seconds()
	tail := x + float64(x*x/2) // e^x - 1, to second order
	keep := 1 / (1 + tail)
	weight := keep * (1 + float64(x/2)) // (1-keep)/x
	return float64(p.read*keep) + float64(gain*weight), float64(p.passed*keep) + float64(gap*weight)
}

// Rate returns the moving average of the units of work per second at the attempt's last report; 0 if the attempt
// never reported.
func (p *Progress) Rate() float64 {
	if p.passed == 0 {
		return 0
	}
	return p.read / p.passed
}

// Remaining returns t_rem for an attempt of the given age that has work units to do in total. The answer is
// [Unknown] in three cases:
//
//   - the attempt has shown no progress and is within Grace
//   - all its progress was reported at the age of 0, which gives no rate
//   - work is not a positive finite number
//
// An attempt that shows no progress for longer than Grace has no rate, and the printed model would give it an
// infinite remaining time. Remaining returns its age instead: an attempt that has done nothing for 30 s will take
// at least another 30 s. This answer protects an attempt that starts slowly from a kill at its first report, and it
// still makes a hung attempt look slow.
//
// O(1), no allocation. The answer never falls as the age grows, except within Grace, when time runs down. The
// answer never grows with progress, except with the first progress of all, from which on the equation applies.
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
	// In this order no intermediate result overflows too early. The result is infinite if the average has forgotten
	// that the attempt ever moved.
	rest, _ := num.Duration((work - p.done) / read * passed)
	return num.Add(max(0, num.Sub(rest, silence)), wrapUp)
}

// Validate returns an error that names the first field out of range, or nil.
func (m Linear) Validate() error {
	const place = "estimate: Linear"
	return cmp.Or(check.Least(place, "Window", m.Window, 0), check.Least(place, "Grace", m.Grace, 0))
}

// MarshalJSON returns the fields that are not zero. Names are kebab-case, times are in seconds, and Off is -1.
// UnmarshalJSON reads this form.
func (m Linear) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&m)) }
func (m *Linear) UnmarshalJSON(data []byte) error { return wire.Read(data, m, wire.Struct) }

// WrapUp learns t_wrapup "from the behavior of earlier tasks in the phase" [Mantri §5.5]. t_wrapup is the time
// between a task's last unit read and its end. The zero value has observed no task. Not safe for concurrent use:
// each phase needs a separate value.
type WrapUp struct {
	seconds float64
	n       int
}

// Observe records a finished attempt: readAll is the age at which the host first knew that all work was done, and
// end is the age at the end. A pair with end before readAll is dropped. If readAll is the age at a report, the
// result is too short by up to one interval between reports.
func (w *WrapUp) Observe(readAll, end time.Duration) {
	if readAll < 0 || end < readAll {
		return
	}
	w.n++
	w.seconds += ((end - readAll).Seconds() - w.seconds) / float64(w.n)
}

// Mean returns the mean wrap-up time, 0 before the first observation.
func (w *WrapUp) Mean() time.Duration {
	d, _ := num.Duration(w.seconds)
	return d
}
