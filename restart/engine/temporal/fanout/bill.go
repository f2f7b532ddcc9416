package fanout

import (
	"slices"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/shadow"
)

// bill returns the time that the policy of a phase in shadow mode would have saved so far. slots is how many attempts
// may run at once. tasks say which tasks may not be copied, and which not restarted; nil means that all may. If there is
// no bill, for example because the phase is too large for a simulation, Bill.Why says why.
func bill(p *engine.Phase, c *engine.Config, limits restart.Limits, slots int, reported bool, tasks []Task) shadow.Bill {
	attempts, work := p.Attempts(), c.Work
	if !slices.ContainsFunc(work, func(w float64) bool { return w > 0 }) {
		work = nil
	}
	r := shadow.Record{
		Machines: shadow.Machines(attempts, c.Machines.List(), slots), Work: work, Attempts: attempts,
		Reports: reported, Interval: c.Interval, Lag: c.Lag,
	}
	for _, t := range tasks {
		r.NoCopy, r.NoRestart = append(r.NoCopy, t.NoCopy), append(r.NoRestart, t.NoRestart)
	}
	b, err := shadow.Replay(r, c.Policy, limits)
	if err != nil {
		return shadow.Bill{Why: err.Error()}
	}
	return b
}
