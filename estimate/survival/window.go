package survival

import (
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/snapshot"
)

const (
	mostInWindow = 4096 // ends that a Window keeps: more would tell no more
	renewed      = 16   // its curve is made again when one in so many of its runs has begun or ended
	moments      = 1024 // or a part of the window has passed, of so many, in which all that run have aged
)

// Window keeps the times of a kind of job whose runs come and go, for a host that has no phases and knows starts and
// ends only: those that ended or were killed within the last while, 4096 at most, and all that run. It is a phase that
// moves. Make one by [NewWindow]. Not safe for concurrent use; one per kind of job.
type Window struct {
	keep  time.Duration
	clock clock.Clock
	runs  []time.Duration // when each began; negative if the place is free
	free  []int
	over  []over // by end

	curve  Curve
	made   bool          // the curve, at fitted
	fitted time.Duration // when that was
	since  int           // runs that began or ended since then
}

// over is a run that is over.
type over struct {
	at      time.Duration
	seconds float64
	ended   bool
}

// NewWindow returns an empty window, or an error if keep is not positive.
func NewWindow(keep time.Duration) (*Window, error) {
	if keep <= 0 {
		return nil, check.Bad("estimate/survival", "keep", keep, "a positive duration")
	}
	return &Window{keep: keep}, nil
}

// Start records that a run begins, and returns its number until it is over. O(1) amortised.
func (w *Window) Start(now time.Time) int {
	at := w.clock.At(now)
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
	at := w.clock.At(now)
	if age, ok := w.take(at, id); ok {
		if len(w.over) == 2*mostInWindow {
			w.over = w.over[:copy(w.over, w.over[mostInWindow:])]
		}
		w.over = append(w.over, over{at, age, success})
	}
}

// Drop forgets a run that failed: its time says nothing. O(1).
func (w *Window) Drop(now time.Time, id int) { w.take(w.clock.At(now), id) }

// take frees a run's place and returns its age in seconds.
func (w *Window) take(at time.Duration, id int) (age float64, ok bool) {
	if id < 0 || id >= len(w.runs) || w.runs[id] < 0 {
		return 0, false
	}
	age = (at - w.runs[id]).Seconds()
	w.since++
	w.runs[id] = -1
	w.free = append(w.free, id)
	return age, true
}

// Age returns how long a run has taken so far, in seconds; 0 if the number is not in use.
func (w *Window) Age(now time.Time, id int) float64 {
	if at := w.clock.At(now); id >= 0 && id < len(w.runs) && w.runs[id] >= 0 {
		return (at - w.runs[id]).Seconds()
	}
	return 0
}

// Curve returns the curve as of now, or a moment ago: it is made again when one in sixteen of its runs has begun or
// ended, or a thousandth of the window has passed. It holds until the next call. Each start and end costs O(log n)
// amortised for n runs in the window, and each thousandth of it O(n log n); to ask about all that run at one moment
// costs O(1) each.
func (w *Window) Curve(now time.Time) *Curve {
	at := w.clock.At(now)
	if w.made && w.since <= w.curve.Len()/renewed && at-w.fitted <= w.keep/moments {
		return &w.curve
	}
	w.made, w.fitted, w.since = true, at, 0
	gone := max(len(w.over)-mostInWindow, 0)
	for gone < len(w.over) && at-w.over[gone].at > w.keep {
		gone++
	}
	w.over = w.over[:copy(w.over, w.over[gone:])]
	w.curve.Reset()
	for _, o := range w.over {
		w.curve.Add(o.seconds, o.ended)
	}
	for _, began := range w.runs {
		if began >= 0 {
			w.curve.Add((at - began).Seconds(), false)
		}
	}
	w.curve.Fit()
	return &w.curve
}

const windowVersion = 2

// AppendBinary appends a snapshot of the window to dst. It never fails. O(n), some 30 bytes a run.
func (w *Window) AppendBinary(dst []byte) ([]byte, error) {
	c := snapshot.Codec{Dst: append(dst, windowVersion)}
	w.code(&c)
	return snapshot.Seal(c.Dst, len(dst)), nil
}

// MarshalBinary returns a snapshot; see [Window.AppendBinary].
func (w *Window) MarshalBinary() ([]byte, error) { return w.AppendBinary(nil) }

// UnmarshalBinary takes a snapshot, and goes on as the window that was written. What is not a snapshot is an error, and
// changes nothing. O(n log n).
func (w *Window) UnmarshalBinary(data []byte) error {
	c := snapshot.Codec{In: snapshot.NewReader("estimate/survival: Window", windowVersion, data)}
	var read Window
	read.code(&c)
	if err := c.In.Close(); err != nil {
		return err
	}
	*w = read
	return nil
}

func (w *Window) code(c *snapshot.Codec) {
	c.Duration(&w.keep)
	c.Clock(&w.clock)
	snapshot.List(c, &w.runs, 1, c.Duration)
	snapshot.List(c, &w.free, 1, func(id *int) { c.Number(id, 0, len(w.runs)-1) })
	snapshot.List(c, &w.over, 10, func(o *over) {
		c.Duration(&o.at)
		c.Amount(&o.seconds)
		c.Bool(&o.ended)
	})
	c.Part(&w.curve)
	c.Bool(&w.made)
	c.Duration(&w.fitted)
	c.Number(&w.since, 0, snapshot.Any)
	if c.In == nil || !c.OK() {
		return
	}
	c.Check(w.keep > 0, "has no length")
	taken := make([]bool, len(w.runs))
	for _, id := range w.free {
		c.Check(!taken[id] && w.runs[id] == -1, "lists a number as free that is not")
		taken[id] = true
	}
	for id, began := range w.runs {
		c.Check(taken[id] || began >= 0 && began <= w.clock.Since, "holds a run of another time")
	}
	before := time.Duration(0)
	for _, o := range w.over {
		c.Check(o.at >= before && o.at <= w.clock.Since, "holds an end of another time")
		before = o.at
	}
	c.Check(len(w.over) <= 2*mostInWindow, "holds too many ends")
	c.Check(w.fitted >= 0 && w.fitted <= w.clock.Since, "has a curve of another time")
}
