package pool

import (
	"time"

	"github.com/straggler-go/straggler/restart"
)

// result tells the account of trials which attempt brought the item's result: d.attempts[at], or, if at is none, an
// attempt that had been told to end.
func (p *pool) result(d *tracked, at int, now time.Time) {
	ran, old := time.Duration(0), at == none
	if at != none {
		ran, old = now.Sub(d.attempts[at].begun), at == 0 && d.trial.Action == restart.Copy
	}
	p.trials.Finish(&d.trial, ran, old)
	for i := range d.attempts {
		if i != at {
			task, phase := p.task(now, d), p.phase(now)
			p.trials.Kill(&d.trial, &task, &phase, i, i == 0)
		}
	}
}
