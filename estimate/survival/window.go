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

// RefitPart says when a curve is fitted again: once more than one in RefitPart of its values has changed. It is a
// choice.
const RefitPart = 16

// These numbers are choices.
const (
	mostInWindow = 4096 // most values that a Window keeps of runs that are over; more values would not improve the curve
	refitMoments = 1024 // parts of Keep; after one part the curve is fitted again, because all runs that still run have aged
)

// WindowConfig holds the choices of a [Window].
type WindowConfig struct {
	// Keep is how long the window keeps the time of a run that is over. It must be positive.
	Keep time.Duration
	// Origin is the unique name of this process, of at most 255 bytes. Processes that share the times of their runs,
	// by [Window.AppendDelta] and [Window.Merge], know each other by this name. Empty: the window shares nothing.
	Origin string
	// MaxSkew is how far the clock of another process may be ahead. Merge refuses a delta from further in the future.
	// 0 means a minute.
	MaxSkew time.Duration
}

// Effective returns the configuration with its defaults filled in.
func (c WindowConfig) Effective() WindowConfig {
	c.MaxSkew = check.Or(c.MaxSkew, time.Minute)
	return c
}

// Validate reports the first field that is out of range, with its value and its range; nil if there is none.
func (c WindowConfig) Validate() error {
	const place = "estimate/survival: WindowConfig"
	return cmp.Or(check.Least(place, "Keep", c.Keep, 1), c.choices().Validate(place))
}

func (c WindowConfig) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: c.Keep}
}

// Window keeps the times of runs of one kind of job. It is for a host that has no phases, and knows only when runs
// start and end. The window holds each run that has not ended, and at most the latest 4096 runs that ended or were
// killed within Keep. Its [Curve] takes the place of the curve of a phase. Make a window by [NewWindow]. It is not
// safe for concurrent use; keep one for each kind of job.
type Window struct {
	config WindowConfig
	clock  clock.Clock
	runs   []time.Duration     // for each number of a run, the time at which it began; -1 for a free number
	free   []int               // the free numbers
	past   merge.List[pastRun] // the runs that are over

	curve   Curve
	valid   bool          // curve holds the runs as of fitted
	fitted  time.Duration // when curve was fitted
	changes int           // runs that began or ended since fitted
}

// pastRun is a run that ended or was killed.
type pastRun struct {
	seconds float64 // its time, or its age when it was killed
	ended   bool    // false: the run was killed
}

// NewWindow returns an empty window, or an error that names the field that is out of range.
func NewWindow(c WindowConfig) (*Window, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Window{config: c.Effective()}, nil
}

// at returns the instant now on the clock of the window, which never steps back.
func (w *Window) at(now time.Time) time.Duration { return w.config.choices().At(&w.clock, now) }

// Start notes that a run begins, and returns the number of the run. The number is used again once the run is over.
// O(1) amortised.
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

// End notes that a run is over. If success is true, the run took its age. If success is false, the run was killed,
// and would have taken at least its age. If no run has the number, End changes nothing. O(1) amortised.
func (w *Window) End(now time.Time, id int, success bool) {
	if age, ok := w.remove(w.at(now), id); ok {
		w.add(pastRun{age, success})
	}
}

// Observe adds the time of a run without Start and End. If success is true, the run took the given seconds. If
// success is false, the run was killed at that age. Another unit than seconds is possible if it is always the same:
// with the seconds that tasks took for a unit of work, the curve is a Prior of estimate.UnitTimes. Observe reports
// whether it added the time: it refuses a time that is negative, NaN, or more than estimate.MaxSample. O(1)
// amortised.
func (w *Window) Observe(now time.Time, seconds float64, success bool) bool {
	w.at(now)
	ok := seconds >= 0 && seconds <= estimate.MaxSample
	if ok {
		w.changes++
		w.add(pastRun{seconds + 0, success})
	}
	return ok
}

// add adds a run that is over.
func (w *Window) add(o pastRun) {
	if w.past.Len() >= 2*mostInWindow {
		w.newest()
	}
	w.past.Add(w.config.choices(), w.clock.Since, o)
}

// newest returns the runs in the window that are over, and drops all older runs.
func (w *Window) newest() []merge.Observation[pastRun] {
	return w.past.Newest(form(), w.config.choices(), w.clock.Since, mostInWindow)
}

// Drop removes a run that failed: its age says nothing about the time of other runs. If no run has the number, Drop
// changes nothing. O(1).
func (w *Window) Drop(now time.Time, id int) { w.remove(w.at(now), id) }

// remove frees the number of a run, and returns its age in seconds.
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

// Age returns the age of a run in seconds; 0 if no run has the number. O(1).
func (w *Window) Age(now time.Time, id int) float64 {
	if at := w.at(now); id >= 0 && id < len(w.runs) && w.runs[id] >= 0 {
		return max(at-w.runs[id], 0).Seconds()
	}
	return 0
}

// Curve returns the curve of the window. It fits the curve again if more than one in sixteen of its runs has begun or
// ended since the last fit, or if a thousandth of Keep has passed. The curve is valid until the next call. For n runs
// in the window, a start or an end costs O(log n) amortised, and each thousandth of Keep costs O(n log n). A host
// that asks about all n runs at one moment pays O(1) for each run.
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

// form says how runs that are over are encoded for other processes.
func form() merge.Form[pastRun] {
	return merge.Form[pastRun]{Place: "estimate/survival", Kind: 'w', Fact: func(c *snapshot.Codec, o *pastRun) {
		c.Amount(&o.seconds)
		c.Bool(&o.ended)
	}}
}

// AppendVersion appends the version of the window to dst. The version is a summary of the runs that the window knows.
// From it another process finds the runs that this window lacks; see [Window.AppendDelta].
func (w *Window) AppendVersion(dst []byte) []byte { return w.past.AppendVersion(form(), dst) }

// AppendDelta appends to dst the runs that are over and are not in since. since is the version of the reader, by its
// AppendVersion; nil means that the reader knows no run. If origins are given, the delta holds only the runs that
// these processes have seen. AppendDelta returns an error if since is no version. A run takes about 15 bytes.
func (w *Window) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return w.past.AppendDelta(form(), w.config.choices(), w.clock.Since, dst, since, origins)
}

// Merge adds the runs of another process from a delta of its AppendDelta. Deltas may come in any order and more than
// once: windows that know the same runs give the same curve at the same instant, to the last bit, if all their runs
// are over. At most half of the 4096 kept runs come from one process. Merge returns an error and adds no run in three
// cases:
//
//   - The window has no Origin.
//   - The delta is damaged, or is no delta.
//   - The delta comes from more than MaxSkew after now. The error is a FieldError of package straggler.
//
// O(1) for each run.
func (w *Window) Merge(now time.Time, delta []byte) error {
	err := w.past.Merge(form(), w.config.choices(), w.at(now), delta)
	if w.valid = w.valid && err != nil; w.past.Len() > 2*mostInWindow {
		w.newest()
	}
	return err
}
