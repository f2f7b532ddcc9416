package pool

import (
	"time"

	"github.com/straggler-go/straggler/restart"
)

// result records in pool.trials which attempt returned the item's result, so that the item's copies and restarts are
// counted as won or lost. The attempt is d.attempts[at]. If at is none, it is an attempt whose context had been
// ended, and which is no longer in d.attempts.
func (p *pool) result(d *tracked, at int, now time.Time) {
	ran, old := time.Duration(0), at == none
	if at != none {
		ran, old = now.Sub(d.attempts[at].begun), at == 0 && d.trial.State == restart.CopyOnTrial
	}
	p.trials.Finish(&d.trial, ran, old)
	for i := range d.attempts {
		if i != at {
			task, phase := p.task(now, d), p.phase(now)
			p.trials.Kill(&d.trial, &task, &phase, i, i == 0)
		}
	}
}
