// Package recent keeps the times of recent runs, for the simulator of a host whose runs are in no phase.
package recent

import (
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
)

// most is the largest number of runs whose times are kept. More times would not improve the curve.
const most = 4096

// Times are the times of the runs that ended or were killed within the last Keep, and of at most the latest 4096 runs.
type Times struct {
	Keep  time.Duration
	over  []run // the earliest end is first
	curve survival.Curve
}

type run struct {
	at      time.Duration // when it ended or was killed
	seconds float64
	ended   bool // false if it was killed
}

// Observe adds the time of a run that ended at the instant now. If success is false, the run was killed then.
func (t *Times) Observe(now time.Duration, seconds float64, success bool) {
	t.over = append(t.over, run{now, seconds, success})
}

// Curve returns the distribution of the times. It is valid until the next call.
func (t *Times) Curve(now time.Duration) *survival.Curve {
	for len(t.over) > most || len(t.over) > 0 && t.over[0].at < now-t.Keep {
		t.over = t.over[1:]
	}
	t.curve.Reset()
	for _, r := range t.over {
		t.curve.Observe(r.seconds, r.ended)
	}
	t.curve.Fit()
	return &t.curve
}
