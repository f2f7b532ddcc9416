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

// logBill logs the time that the policy would have saved so far, once a minute. Another goroutine computes it, because
// a bill of 8,000 jobs may take seconds: meanwhile the coordinator goes on. Only one goroutine does so at a time.
func (c *Coordinator) logBill(now time.Time) {
	if since := now.Sub(c.billed); !c.o.Shadow || since >= 0 && since < billEvery {
		return
	}
	first := c.billed.IsZero()
	if c.billed = now; first || !c.billing.CompareAndSwap(false, true) {
		return
	}
	var lines []func()
	for _, g := range c.groups {
		bill := c.bill(g)
		lines = append(lines, func() {
			if b := bill(); b.Tasks > 0 {
				c.o.Log.Info("queue: shadow: so far the policy "+b.String(), "kind", g.kind, "batch", g.batch, "jobs", b.Tasks)
			}
		})
	}
	go func() {
		defer c.billing.Store(false)
		for _, line := range lines {
			line()
		}
	}()
}

// bill returns a function that computes the time that the policy would have saved in a group so far. Any goroutine may
// call it.
func (c *Coordinator) bill(g *group) func() shadow.Bill {
	if !c.o.Shadow {
		return func() (none shadow.Bill) { return none }
	}
	r := shadow.Record{
		Prefetch: c.o.Prefetch, Attempts: g.phase.Attempts(), Reports: g.reported, Interval: g.config.Interval, Lag: c.o.Look,
		Timeout: g.config.Timeout, BackOff: g.config.BackOff,
	}
	for _, name := range slices.Sorted(maps.Keys(c.workers)) {
		r.Machines = append(r.Machines, engine.Machine{Name: name, Slots: c.workers[name].slots})
	}
	for i, j := range g.jobs {
		if j.Work > 0 {
			r.Work = append(r.Work, make([]float64, i+1-len(r.Work))...)
			r.Work[i] = j.Work
		}
	}
	return func() shadow.Bill {
		b, err := shadow.Replay(r, g.config.Policy, g.config.Limits)
		if err != nil {
			c.o.Log.Warn("queue: there is no bill", "kind", g.kind, "error", err)
		}
		return b
	}
}
