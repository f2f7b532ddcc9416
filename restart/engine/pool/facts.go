package pool

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
)

// task returns the facts about one item, for the policy. The remaining time of an attempt is estimated from the
// attempt's age alone, because attempts report no progress.
func (p *pool) task(now time.Time, d *tracked) restart.Task {
	age := now.Sub(d.attempts[0].begun)
	task := restart.Task{
		Fresh: estimate.Fresh{UnitTime: survival.Without{Curve: &p.fresh, Age: age.Seconds() / d.size}, Work: d.size},
		Work:  d.size, Restarts: d.restarts, Copies: d.copies, NoCopy: !p.copies || d.late,
		NoRestart: p.ignoresEnd || d.late,
		Longest:   seconds(float64(p.longest.Seconds() * d.size)),
	}
	if !d.newest.IsZero() {
		task.SinceCopy = max(now.Sub(d.newest), 1)
	}
	for _, r := range d.attempts {
		task.Attempts = append(task.Attempts, p.attemptFacts(now, r, d.size))
	}
	return task
}

// attemptFacts returns the facts about one attempt, for the policy: how long the attempt has run, and how long it
// will still take.
func (p *pool) attemptFacts(now time.Time, r attempt, size float64) restart.Attempt {
	age := now.Sub(r.begun)
	left := survival.Residual{Curve: &p.curve, Age: age.Seconds(), Scale: size}
	return restart.Attempt{Machine: none, Elapsed: age, Remaining: seconds(left.Mean()), Left: left, Basis: restart.ByAge}
}

// seconds converts a number of seconds to a duration of at most maxDuration.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, maxDuration.Seconds()) * float64(time.Second))
}

// phase returns the facts about all items together, for the policy.
func (p *pool) phase(now time.Time) restart.Phase {
	tasks, begun := p.items.Load(), p.next.Load()
	waiting := int(max(0, tasks-begun))
	if tasks == endless { // more items wait if no worker is idle
		tasks, waiting = begun, len(p.workers)*(1-min(p.idle, 1))
	}
	peers := restart.Peers{Durations: &p.curve}
	if p.config.work != nil {
		peers = restart.Peers{UnitTimes: &p.curve}
	}
	trials := p.trials
	trials.AtRisk += p.proposedTrials.AtRisk
	return restart.Phase{
		Interval: p.delta, Tasks: int(tasks), Finished: int(p.finished.Load()), Waiting: waiting, Stream: p.sequence,
		Slots:     len(p.workers),
		FreeSlots: max(0, p.idle-len(p.queue)-len(p.proposed)), Silent: true,
		Idle: now.Sub(p.changed), Peers: peers,
		Trials: trials, Limits: p.limits,
	}
}
