package queue

import (
	"maps"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/shadow"
)

// billEvery is the time between two lines of the log about the bill.
const billEvery = time.Minute

// logBill logs the time that the policy would have saved so far, once a minute.
func (c *Coordinator) logBill(now time.Time) {
	if since := now.Sub(c.billed); !c.o.Shadow || since >= 0 && since < billEvery {
		return
	}
	first := c.billed.IsZero()
	if c.billed = now; first {
		return
	}
	for _, g := range c.groups {
		if b := c.bill(g); b.Tasks > 0 {
			c.o.Log.Info("queue: shadow: so far the policy "+b.String(), "kind", g.kind, "batch", g.batch, "jobs", b.Tasks)
		}
	}
}

// bill returns the time that the policy would have saved in a group so far.
func (c *Coordinator) bill(g *group) shadow.Bill {
	if !c.o.Shadow {
		return shadow.Bill{}
	}
	config := c.config(g)
	r := shadow.Record{
		Prefetch: c.o.Prefetch, Attempts: g.phase.Attempts(), Reports: g.reported, Interval: config.Interval, Lag: c.o.Look,
		Timeout: config.Timeout, BackOff: config.BackOff,
	}
	for _, name := range slices.Sorted(maps.Keys(c.size)) {
		r.Machines = append(r.Machines, engine.Machine{Name: name, Slots: c.size[name]})
	}
	for i, j := range g.jobs {
		if j.Work > 0 {
			r.Work = append(r.Work, make([]float64, i+1-len(r.Work))...)
			r.Work[i] = j.Work
		}
	}
	b, err := shadow.Replay(r, config.Policy, config.Limits)
	if err != nil {
		c.o.Log.Warn("queue: there is no bill", "kind", g.kind, "error", err)
	}
	return b
}
