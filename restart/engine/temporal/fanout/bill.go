package fanout

import (
	"slices"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/shadow"
)

// bill returns the time that the policy of a phase in shadow mode would have saved so far. slots is how many attempts
// may run at once. noCopy says of each task whether it may not be copied and restarted. The bill of a phase that is too
// large for a simulation is zero.
func bill(p *engine.Phase, c *engine.Config, limits restart.Limits, slots int, reported bool, noCopy []bool) shadow.Bill {
	attempts, work := p.Attempts(), c.Work
	if !slices.ContainsFunc(work, func(w float64) bool { return w > 0 }) {
		work = nil
	}
	b, err := shadow.Replay(shadow.Record{
		Machines: shadow.Machines(attempts, c.Machines.List(), slots), Work: work, NoCopy: noCopy, Attempts: attempts,
		Reports: reported, Interval: c.Interval, Lag: c.Lag,
	}, c.Policy, limits)
	if err != nil {
		return shadow.Bill{}
	}
	return b
}
