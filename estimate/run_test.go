package estimate

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// span is a time in seconds, to the nanosecond.
func span(seconds float64) time.Duration {
	d, _ := num.Duration(seconds)
	return d
}

// ran is the run of an attempt that has done all its work.
func ran(seconds, work float64) Run {
	return Run{Age: span(seconds), Work: work, Done: math.Inf(1)}
}

// wave sets whether a run belongs to the first wave.
func wave(r Run, first bool) Run {
	r.FirstWave = first
	return r
}
