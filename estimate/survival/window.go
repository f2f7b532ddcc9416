package survival

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// Renewed is by one in how many of its lives a curve must differ before it is made again: a choice.
const Renewed = 16

// These are choices.
const (
	mostInWindow = 4096 // ends that a Window keeps: more would tell no more
	moments      = 1024 // or a part of the window has passed, of so many, in which all that run have aged
)

// WindowConfig holds the choices of a [Window].
type WindowConfig struct {
	// Keep is the age from which on what has ended counts no more. It must be positive.
	Keep time.Duration
	// Origin is the name of this process among those that pass on to each other the times of such jobs, by
	// [Window.AppendDelta] and [Window.Merge]. It is of at most 255 bytes, and no other has it. Empty: nothing is passed
	// on.
	Origin string
	// MaxSkew is how far the clock of another process may be ahead: a delta from further in the future is refused. 0
	// means a minute.
	MaxSkew time.Duration
}

// Effective returns the configuration with its defaults filled in.
func (c WindowConfig) Effective() WindowConfig {
	c.MaxSkew = check.Or(c.MaxSkew, time.Minute)
	return c
}

// Validate reports the first field that is out of range, with its value and its range.
func (c WindowConfig) Validate() error {
	const place = "estimate/survival: WindowConfig"
	return cmp.Or(check.Least(place, "Keep", c.Keep, 1), c.choices().Validate(place))
}

func (c WindowConfig) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: c.Keep}
}

// Window keeps the times of a kind of job whose runs come and go, for a host that has no phases and knows starts and
// ends only: those that ended or were killed within the last while, 4096 at most, and all that run. It is a phase that
// moves. Make one by [NewWindow]. Not safe for concurrent use; one per kind of job.
type Window struct {
	config WindowConfig
	clock  clock.Clock
	runs   []time.Duration // when each began; negative if the place is free
	free   []int
	over   merge.List[over]

	curve  Curve
	made   bool          // the curve, at fitted
	fitted time.Duration // when that was
	since  int           // runs that began or ended since then
}

// over is a run that is over.
type over struct {
	seconds float64
	ended   bool
}

// NewWindow returns an empty window, or an error that names the field that is out of range.
func NewWindow(c WindowConfig) (*Window, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Window{config: c.Effective()}, nil
}

func (w *Window) at(now time.Time) time.Duration { return w.config.choices().At(&w.clock, now) }

// Start records that a run begins, and returns its number until it is over. O(1) amortised.
func (w *Window) Start(now time.Time) int {
	at := w.at(now)
	w.since++
	if n := len(w.free); n > 0 {
		id := w.free[n-1]
		w.free = w.free[:n-1]
		w.runs[id] = at
		return id
	}
	w.runs = append(w.runs, at)
	return len(w.runs) - 1
}

// End records that a run has ended with success, or with success false that it was killed: it would have taken at least
// so long. A number that is not in use changes nothing. O(1) amortised.
func (w *Window) End(now time.Time, id int, success bool) {
	if age, ok := w.take(w.at(now), id); ok {
		w.add(over{age, success})
	}
}

// Observe records the time of a run that was not reported while it ran: that it ended after so many seconds, or with
// success false that it was killed then. Any unit does, as long as it is always the same: with the seconds that each
// task took for a unit of its work, the curve is a Prior of estimate.UnitTimes. It reports whether the time was taken;
// see [Curve.Observe]. O(1) amortised.
func (w *Window) Observe(now time.Time, seconds float64, success bool) bool {
	w.at(now)
	taken := seconds >= 0 && seconds <= estimate.MaxSample
	if taken {
		w.since++
		w.add(over{seconds + 0, success})
	}
	return taken
}

func (w *Window) add(o over) {
	if w.over.Len() >= 2*mostInWindow {
		w.newest()
	}
	w.over.Add(w.config.choices(), w.clock.Since, o)
}

// newest is what is in the window.
func (w *Window) newest() []merge.Observation[over] {
	return w.over.Newest(form(), w.config.choices(), w.clock.Since, mostInWindow)
}

// Drop forgets a run that failed: its time says nothing. O(1).
func (w *Window) Drop(now time.Time, id int) { w.take(w.at(now), id) }

// take frees a run's place and returns its age in seconds.
func (w *Window) take(at time.Duration, id int) (age float64, ok bool) {
	if id < 0 || id >= len(w.runs) || w.runs[id] < 0 {
		return 0, false
	}
	age = max(at-w.runs[id], 0).Seconds()
	w.since++
	w.runs[id] = -1
	w.free = append(w.free, id)
	return age, true
}

// Age returns how long a run has taken so far, in seconds; 0 if the number is not in use.
func (w *Window) Age(now time.Time, id int) float64 {
	if at := w.at(now); id >= 0 && id < len(w.runs) && w.runs[id] >= 0 {
		return max(at-w.runs[id], 0).Seconds()
	}
	return 0
}

// Curve returns the curve as of now, or a moment ago: it is made again when one in sixteen of its runs has begun or
// ended, or a thousandth of the window has passed. It holds until the next call. Each start and end costs O(log n)
// amortised for n runs in the window, and each thousandth of it O(n log n); to ask about all that run at one moment
// costs O(1) each.
func (w *Window) Curve(now time.Time) *Curve {
	at := w.at(now)
	if w.made && w.since <= w.curve.Len()/Renewed && at-w.fitted <= w.config.Keep/moments {
		return &w.curve
	}
	w.made, w.fitted, w.since = true, at, 0
	w.curve.Reset()
	for _, o := range w.newest() {
		w.curve.Observe(o.Fact.seconds, o.Fact.ended)
	}
	for _, began := range w.runs {
		if began >= 0 {
			w.curve.Observe(max(at-began, 0).Seconds(), false)
		}
	}
	w.curve.Fit()
	return &w.curve
}

// form is how runs that are over are passed on.
func form() merge.Form[over] {
	return merge.Form[over]{Place: "estimate/survival", Kind: 'w', Fact: func(c *snapshot.Codec, o *over) {
		c.Amount(&o.seconds)
		c.Bool(&o.ended)
	}}
}

// AppendVersion appends what the window knows, as far as a process that knows more must know that to say the rest.
func (w *Window) AppendVersion(dst []byte) []byte { return w.over.AppendVersion(form(), dst) }

// AppendDelta appends the runs that are over beyond a version, that of the reader by its AppendVersion; nil stands for
// one that knows none. With origins it says only what these have seen. It is an error if since is no version. Some 15
// bytes a run.
func (w *Window) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return w.over.AppendDelta(form(), w.config.choices(), w.clock.Since, dst, since, origins)
}

// Merge takes in what another process has seen, by its AppendDelta, in any order, and as often as it comes: windows
// that know the same give the same curve at the same instant, to the last bit, as far as nothing runs. Of the 4096 that
// are kept at most half are those of one process. It is an error, and nothing is taken, if the window has no Origin,
// delta is damaged or none, or, a FieldError, if it comes from more than MaxSkew ahead of now. O(1) a run.
func (w *Window) Merge(now time.Time, delta []byte) error {
	err := w.over.Merge(form(), w.config.choices(), w.at(now), delta)
	if w.made = w.made && err != nil; w.over.Len() > 2*mostInWindow {
		w.newest()
	}
	return err
}
