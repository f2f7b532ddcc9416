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

// RefitPart says when a curve is fitted again: as soon as more than 1/RefitPart of its values have changed. The
// number is a choice.
const RefitPart = 16

// These numbers are choices.
const (
	// The largest number of ended runs that a Window keeps. More values would not improve the curve.
	mostInWindow = 4096
	// The curve is fitted again after the time Keep/refitMoments, even if no run has begun or ended: all running runs
	// are older then.
	refitMoments = 1024
)

// WindowConfig contains the settings of a [Window].
type WindowConfig struct {
	// Keep is how long the window keeps the time of a run after the run has ended. It must be positive.
	Keep time.Duration
	// Origin is the unique name of this process, of at most 255 bytes. Several processes can share the times of their
	// runs by [Window.AppendDelta] and [Window.Merge]. They identify each other by this name. If Origin is empty, the
	// window shares nothing.
	Origin string
	// MaxSkew is how far the clock of another process may be ahead of this process. Merge refuses data from a later
	// time. 0 means a minute.
	MaxSkew time.Duration
}

// Effective returns the configuration with each zero field replaced by its default.
func (c WindowConfig) Effective() WindowConfig {
	c.MaxSkew = check.Or(c.MaxSkew, time.Minute)
	return c
}

// Validate returns an error for the first field that is out of range, or nil. The error states the value and the
// allowed range.
func (c WindowConfig) Validate() error {
	const place = "estimate/survival: WindowConfig"
	return cmp.Or(check.Least(place, "Keep", c.Keep, 1), c.choices().Validate(place))
}

// choices returns the settings in the form that package merge needs.
func (c WindowConfig) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: c.Keep}
}

// Window keeps the times of runs of one kind of job. It is for a scheduler that knows only when runs start and end.
// The window contains each run that has not ended, and up to 4096 of the latest runs that ended or were killed within
// the time Keep. [Window.Curve] returns the distribution of their times. Create a window with [NewWindow]. A Window
// is not safe for concurrent use; keep a window for each kind of job.
type Window struct {
	config WindowConfig
	clock  clock.Clock
	// For each run number, the time at which the run began; -1 if the number is free.
	runs []time.Duration
	// The run numbers that are free.
	free []int
	// The runs that have ended or were killed.
	past merge.List[pastRun]

	// The distribution of the times of runs.
	curve Curve
	// True if curve contains the runs as of the time fitted.
	valid bool
	// The time at which curve was fitted.
	fitted time.Duration
	// The number of runs that began or ended since curve was fitted.
	changes int
}

// pastRun is a run that ended or was killed.
type pastRun struct {
	// How long the run took, or how old it was when it was killed.
	seconds float64
	// True if the run ended; false if it was killed.
	ended bool
}

// NewWindow returns an empty window. If a field of the configuration is out of range, it returns an error that states
// the field.
func NewWindow(c WindowConfig) (*Window, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Window{config: c.Effective()}, nil
}

// at converts the instant now to a time on the clock of the window. This clock never goes backwards.
func (w *Window) at(now time.Time) time.Duration { return w.config.choices().At(&w.clock, now) }

// Start records that a run begins now, and returns the number of the run. After the run has ended, the number is used
// again. O(1) amortised.
func (w *Window) Start(now time.Time) int {
	at := w.at(now)
	w.changes++
	if n := len(w.free); n > 0 {
		id := w.free[n-1]
		w.free = w.free[:n-1]
		w.runs[id] = at
		return id
	}
	w.runs = append(w.runs, at)
	return len(w.runs) - 1
}

// End records that the run with the number id ends now. If success is true, the time of the run is its age. If
// success is false, the run was killed, and would have taken at least its age. If no run has the number id, End
// changes nothing. O(1) amortised.
func (w *Window) End(now time.Time, id int, success bool) {
	if age, ok := w.remove(w.at(now), id); ok {
		w.add(pastRun{age, success})
	}
}

// Observe adds the time of a run that was not recorded by Start and End. If success is true, the run took the given
// number of seconds. If success is false, the run was killed at that age. The unit need not be seconds, but must be
// the same for all runs. For example, if the unit is the seconds for one unit of work, the curve can be the Prior of
// an estimate.UnitTimes. Observe reports whether it added the time: it refuses a time that is negative, NaN, or more
// than estimate.MaxSample. O(1) amortised.
func (w *Window) Observe(now time.Time, seconds float64, success bool) bool {
	w.at(now)
	ok := seconds >= 0 && seconds <= estimate.MaxSample
	if ok {
		w.changes++
		w.add(pastRun{seconds + 0, success})
	}
	return ok
}

// add adds a run that ended or was killed.
func (w *Window) add(o pastRun) {
	if w.past.Len() >= 2*mostInWindow {
		w.newest()
	}
	w.past.Add(w.config.choices(), w.clock.Since, o)
}

// newest returns the latest runs that ended or were killed within the time Keep, at most mostInWindow. It drops all
// other runs that have ended.
func (w *Window) newest() []merge.Observation[pastRun] {
	return w.past.Newest(form(), w.config.choices(), w.clock.Since, mostInWindow)
}

// Drop removes the run with the number id, because it failed: the age of a failed run says nothing about the times of
// other runs. If no run has the number id, Drop changes nothing. O(1).
func (w *Window) Drop(now time.Time, id int) { w.remove(w.at(now), id) }

// remove frees the number of a run, and returns the age of the run in seconds. It returns false if no run has the
// number.
func (w *Window) remove(at time.Duration, id int) (age float64, ok bool) {
	if id < 0 || id >= len(w.runs) || w.runs[id] < 0 {
		return 0, false
	}
	age = max(at-w.runs[id], 0).Seconds()
	w.changes++
	w.runs[id] = -1
	w.free = append(w.free, id)
	return age, true
}

// Age returns the age of the run with the number id, in seconds. If no run has the number, Age returns 0. O(1).
func (w *Window) Age(now time.Time, id int) float64 {
	if at := w.at(now); id >= 0 && id < len(w.runs) && w.runs[id] >= 0 {
		return max(at-w.runs[id], 0).Seconds()
	}
	return 0
}

// Curve returns the distribution of the times of the runs in the window. It fits the curve again in two cases: more
// than a sixteenth of the runs have begun or ended since the last fit, or a thousandth of the time Keep has passed.
// The curve is valid until the next call. For n runs in the window, each start or end of a run costs O(log n)
// amortised, and each thousandth of Keep costs O(n log n). If Curve is called several times at the same moment, each
// further call costs O(1).
func (w *Window) Curve(now time.Time) *Curve {
	at := w.at(now)
	if w.valid && w.changes <= w.curve.Len()/RefitPart && at-w.fitted <= w.config.Keep/refitMoments {
		return &w.curve
	}
	w.valid, w.fitted, w.changes = true, at, 0
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

// form defines how ended runs are encoded for other processes.
func form() merge.Form[pastRun] {
	return merge.Form[pastRun]{Place: "estimate/survival", Kind: 'w', Fact: func(c *snapshot.Codec, o *pastRun) {
		c.Amount(&o.seconds)
		c.Bool(&o.ended)
	}}
}

// AppendVersion appends the version of the window to dst. The version is a summary of the runs that the window
// contains. Another process uses it to find the runs that this window does not contain; see [Window.AppendDelta].
func (w *Window) AppendVersion(dst []byte) []byte { return w.past.AppendVersion(form(), dst) }

// AppendDelta appends to dst the ended runs that another process does not know. The argument since is the version of
// that process, from its AppendVersion; nil means that the process knows no run. If origins are given, only runs that
// were recorded by these processes are appended. AppendDelta returns an error if since is not a version. A run takes
// about 15 bytes.
func (w *Window) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return w.past.AppendDelta(form(), w.config.choices(), w.clock.Since, dst, since, origins)
}

// Merge adds runs that another process has encoded with AppendDelta. Deltas may arrive in any order and more than
// once. Two windows that know the same runs return the same curve at the same instant, to the last bit, if all their
// runs have ended. At most half of the 4096 kept runs come from one process. Merge returns an error and adds no run
// in three cases:
//
//   - The window has no Origin.
//   - The delta is damaged, or is not a delta.
//   - The delta was written more than MaxSkew after the instant now. Then the error is a FieldError of package
//     straggler.
//
// O(1) for each run.
func (w *Window) Merge(now time.Time, delta []byte) error {
	err := w.past.Merge(form(), w.config.choices(), w.at(now), delta)
	if w.valid = w.valid && err != nil; w.past.Len() > 2*mostInWindow {
		w.newest()
	}
	return err
}
