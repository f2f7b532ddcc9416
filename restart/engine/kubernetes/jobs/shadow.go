package jobs

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/shadow"
)

// wanted is a decision of the policy in shadow mode.
type wanted struct {
	index    int
	decision restart.Decision
}

// showWanted records an event and a metric for each decision that the policy has taken in shadow mode since the last
// call, such as
//
//	StragglerShadow: Index 12, not done: copy idle-slot ...
func (c *Controller) showWanted(key string, job *batchv1.Job) {
	c.mu.Lock()
	var all []wanted
	if r := c.runs[key]; r != nil {
		all, r.wanted = r.wanted, nil
	}
	c.mu.Unlock()
	for _, w := range all {
		d := w.decision
		c.metrics.shadow.WithLabelValues(d.Action.String(), d.Reason.String()).Inc()
		d.Avoid = restart.MachineSet{} // without the nodes by their numbers, which mean nothing to a reader
		c.events.Eventf(job, v1.EventTypeNormal, "StragglerShadow", "Index %d, not done: %v", w.index, d)
	}
}

// sumUp calls Config.OnEnd for a Job that has ended. In shadow mode, it also records the time that the policy would
// have saved as an event and in the metrics:
//
//	StragglerBill: The policy saves 78 %: 44s in place of 3m22s, with 4 copies and 0 restarts
func (c *Controller) sumUp(r *run, job *batchv1.Job, p *plan) {
	c.mu.Lock() // the phase reads the names of the nodes
	sum := Summary{Job: job, Ledger: r.phase.Ledger(), Journal: r.phase.Journal()}
	attempts, nodes := r.phase.Attempts(), c.machines.List()
	c.mu.Unlock()
	if r.spec.shadow {
		limits := r.config.Limits
		if !r.spec.copies {
			limits.Copies = restart.Off
		}
		b, err := shadow.Replay(shadow.Record{
			Machines: shadow.Machines(attempts, nodes, r.spec.slots), Work: r.config.Work, Attempts: attempts,
			Reports: r.reported(), Interval: r.config.Interval, Lag: p.startup(),
			BackOff: func(_, failures int) time.Duration { return backoff(failures) },
		}, r.config.Policy, limits)
		switch {
		case err != nil:
			sum.Bill.Why = err.Error()
			c.events.Eventf(job, v1.EventTypeWarning, "StragglerBill", "There is no bill: %v", err)
		case b.Tasks > 0:
			sum.Bill = b
			c.metrics.billed.WithLabelValues("without").Add(b.Without.Seconds())
			c.metrics.billed.WithLabelValues("with").Add(b.With.Seconds())
			c.events.Eventf(job, v1.EventTypeNormal, "StragglerBill", "The policy %v", b)
		}
	}
	if c.config.OnEnd != nil {
		c.config.OnEnd(sum)
	}
}

// reported reports whether a pod of the Job has reported its progress.
func (r *run) reported() bool {
	for _, s := range r.seen {
		if !s.asOf.IsZero() {
			return true
		}
	}
	return false
}

// startup returns the median time from the creation of a winning pod to its begin.
func (p *plan) startup() time.Duration {
	var took []time.Duration
	for _, pod := range p.winners {
		if pod == nil {
			continue
		}
		if begun, _ := span(pod); begun.After(pod.CreationTimestamp.Time) {
			took = append(took, begun.Sub(pod.CreationTimestamp.Time))
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}
