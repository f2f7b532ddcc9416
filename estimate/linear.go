package estimate

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// Linear is Mantri's model of the remaining time of a copy [Mantri §5.5, equation 2, corrected: the printed formula is
// the total time]:
//
//	t_rem = (d - d_read)/rate + t_wrapup
//
// where rate is a moving average of the units read per second. Its zero value averages over the copy's whole life, as
// the equation does, and takes every silence for a stop. Safe for concurrent use.
type Linear struct {
	// Window is the time over which the moving average forgets: progress made that long before the last report counts
	// 37 % if there were reports in between, up to 40 % if there were none. The paper gives no figure. 0 means the
	// copy's whole life.
	Window time.Duration
	// Grace is how long a copy may be silent before it is taken to have stopped at its last report. Until then it is
	// taken to go on at its rate. 0 means that it stops at once.
	Grace time.Duration
	// WrapUp is t_wrapup, the time from the last unit read to the end; see [WrapUp]. A negative one counts as none.
	WrapUp time.Duration
}

// Progress is what the reports of one copy have shown. The zero value is a copy that has just begun and has not
// reported. Not safe for concurrent use; one per copy.
type Progress struct {
	at     time.Duration // age of the copy at its last report
	done   float64       // units read by then; never falls
	read   float64       // units read, recent ones weighing more
	passed float64       // seconds passed, weighed alike
}

// Done returns the units of work that the copy has reported, d_read.
func (p *Progress) Done() float64 { return p.done }

// At returns the age of the copy when it last reported, 0 if it never did.
func (p *Progress) At() time.Duration { return p.at }

// Report takes a progress report: the copy's age and the units of work that it has done since it began. It reports
// whether the report was used. One that is older than the last, or whose work is negative, NaN or infinite, is dropped;
// one that takes progress back is taken as no progress. O(1), no allocation.
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

// average returns the sums of the moving average at the given age, if gain units were read since the last report. A gap
// weighs what its moments weigh: each moment counts e^(-x) after x windows, and so over a long gap the early part
// counts less. A rational function stands in for the exponential, which is not the same to the last bit on all
// architectures.
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

// Rate returns the moving average of the units of work per second at the copy's last report; 0 if it never reported.
func (p *Progress) Rate() float64 {
	if p.passed == 0 {
		return 0
	}
	return p.read / p.passed
}

// Remaining returns t_rem for a copy of the given age with work units to do in all, or [Unknown]: if the copy has shown
// no progress and is within Grace, if all its progress was reported at the age of 0, which makes no rate, or if work is
// not a positive finite number.
//
// A copy that shows no progress for longer than Grace has no rate; the printed model would give it for ever. It is
// given its age: having done nothing in that time, it will take at least as long again. So a copy that starts slowly
// is not killed at its first report, and one that hangs does not go unnoticed.
//
// O(1), no allocation. More age never makes the answer shorter, except within Grace, when time runs down. More progress
// never makes it longer, except that the first progress of all may: from then on the equation holds.
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
		silence = 0 // it is in the average
	}
	if passed == 0 {
		return Unknown
	}
	// In this order nothing overflows too early. Infinite if the average has forgotten that the copy ever moved.
	rest, _ := num.Duration((work - p.done) / read * passed)
	return num.Add(max(0, num.Sub(rest, silence)), wrapUp)
}

// Validate reports the field that is out of range, if any.
func (m Linear) Validate() error {
	const place = "estimate: Linear"
	return cmp.Or(check.Least(place, "Window", m.Window, 0), check.Least(place, "Grace", m.Grace, 0))
}

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (m Linear) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&m)) }
func (m *Linear) UnmarshalJSON(data []byte) error { return wire.Read(data, m, wire.Struct) }

// WrapUp learns t_wrapup, the time between a task's last unit read and its end, "from the behavior of earlier tasks in
// the phase" [Mantri §5.5]. The zero value has seen none. Not safe for concurrent use; one per phase.
type WrapUp struct {
	seconds float64
	n       int
}

// Observe records a finished copy: the age at which it was first known to have done all its work, and its age at its
// end. A pair that is out of order is dropped. If the first is that of a report, the result is short by up to one gap
// between reports.
func (w *WrapUp) Observe(readAll, end time.Duration) {
	if readAll < 0 || end < readAll {
		return
	}
	w.n++
	w.seconds += ((end - readAll).Seconds() - w.seconds) / float64(w.n)
}

// Mean returns the mean wrap-up time; 0 before anything was observed.
func (w *WrapUp) Mean() time.Duration {
	d, _ := num.Duration(w.seconds)
	return d
}
