package survival

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/clock"
)

// mostInWindow bounds the ends that a [Window] keeps: more would tell no more.
const mostInWindow = 4096

// Window keeps the times of a kind of job whose runs come and go, for a host that has no phases and knows starts and ends
// only: those that ended or were killed within the last while, 4096 at most, and all that run. It is a phase that moves. Make
// one by [NewWindow]. Not safe for concurrent use; one per kind of job.
type Window struct {
	keep  time.Duration
	clock clock.Clock
	runs  []time.Duration // when each began; negative if the place is free
	free  []int
	over  []over // by end
	curve Curve
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
		return nil, fmt.Errorf("survival: a window of %v, want a positive duration", keep)
	}
	return &Window{keep: keep}, nil
}

// Start records that a run begins, and returns its number until it is over. O(1) amortised.
func (w *Window) Start(now time.Time) int {
	at := w.clock.At(now)
	if n := len(w.free); n > 0 {
		id := w.free[n-1]
		w.free = w.free[:n-1]
		w.runs[id] = at
		return id
	}
	w.runs = append(w.runs, at)
	return len(w.runs) - 1
}

// End records that a run has ended with success, or with success false that it was killed: it would have taken at least so
// long. A number that is not in use changes nothing. O(1) amortised.
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

// Curve returns the curve as of now. It holds until the next call. O(n log n) in the runs of the window.
func (w *Window) Curve(now time.Time) *Curve {
	at := w.clock.At(now)
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
