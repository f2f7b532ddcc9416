package estimate

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// span converts seconds to a duration, to the nanosecond.
func span(seconds float64) time.Duration {
	d, _ := num.Duration(seconds)
	return d
}

// ran returns the Run of an attempt that has done all its work.
func ran(seconds, work float64) Run {
	return Run{Age: span(seconds), Work: work, Done: math.Inf(1)}
}

// wave returns the run with its field FirstWave set to first.
func wave(r Run, first bool) Run {
	r.FirstWave = first
	return r
}
