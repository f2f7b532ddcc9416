package engine

import (
	"time"

	"github.com/straggler-go/straggler/restart"
)

// Close ends the phase, done or not, and returns the actions that cancel what still runs: none if it is done. Its
// tracker closes, so that the phase holds nothing of a shared Budget or record of machines any more; see
// [tracker.Tracker.Close]. From now on it is Done and submits nothing. Go on with Observe, or call [Phase.Release], so
// that its hosts are free for others: what is cancelled holds its slot until it is seen to end. To close again does
// nothing. The actions hold until the next call. O(n) in the number of tasks.
func (p *Phase) Close(now time.Time) []Action {
	p.ready()
	clear(p.actions)
	p.actions = p.actions[:0]
	p.tick(now)
	for i := range p.tasks {
		t := &p.tasks[i]
		for len(t.live) > 0 {
			p.cancel(t.live[0], restart.Decision{})
		}
		if !t.over {
			t.over, t.waits = true, false
			p.over++
		}
	}
	p.waiting = p.waiting[:0]
	p.tracker.Close(p.now)
	p.closed, p.told = true, 0
	return p.actions
}
