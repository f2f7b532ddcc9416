package pool

import (
	"time"

	"github.com/straggler-go/straggler/restart"
)

// result tells the account that a run of an item has the result: that at a place in the list, or, if it is none, one whose
// context had ended.
func (p *pool) result(d *disputed, at int, now time.Time) {
	ran, old := time.Duration(0), at == none
	if at != none {
		ran, old = now.Sub(d.runs[at].begun), at == 0 && d.trial.Action == restart.Copy
	}
	p.trials.Finish(&d.trial, ran, old)
	for i := range d.runs {
		if i != at {
			task, phase := p.task(now, d), p.phase(now)
			p.trials.Kill(&d.trial, &task, &phase, i, i == 0)
		}
	}
}
