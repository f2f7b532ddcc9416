package pool

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
)

// task is what is known of an item: the ages of its runs, and by these how long they still take.
func (p *pool) task(now time.Time, d *disputed) restart.Task {
	age := now.Sub(d.runs[0].begun)
	task := restart.Task{
		Fresh: estimate.Fresh{UnitTime: survival.Without{Curve: &p.fresh, Age: age.Seconds()}, Work: 1},
		Work:  1, Restarts: d.restarts, Copies: d.duplicates, NoCopy: !p.copies,
		NoRestart: p.deaf, Trial: d.trial,
		Longest: p.most,
	}
	if !d.newest.IsZero() {
		task.SinceCopy = max(now.Sub(d.newest), 1)
	}
	for _, r := range d.runs {
		task.Attempts = append(task.Attempts, p.copyOf(now, r))
	}
	return task
}

// copyOf is what is known of a run.
func (p *pool) copyOf(now time.Time, r aRun) restart.Attempt {
	age := now.Sub(r.begun)
	left := survival.Residual{Curve: &p.curve, Age: age.Seconds()}
	return restart.Attempt{Machine: none, Elapsed: age, Remaining: seconds(left.Mean()), Left: left, Basis: restart.ByAge}
}

func seconds(s float64) time.Duration {
	return time.Duration(min(s, longest.Seconds()) * float64(time.Second))
}

// phase is what is known of all items.
func (p *pool) phase(now time.Time) restart.Phase {
	left := int(p.left.Load())
	waiting := max(0, p.items-int(p.next.Load()))
	trials := p.trials
	trials.AtRisk += p.asked.AtRisk
	return restart.Phase{
		Interval: p.delta, Tasks: p.items, Finished: p.items - left, Waiting: waiting, Slots: len(p.workers),
		FreeSlots: max(0, p.idle-len(p.queue)-len(p.wanted)), Silent: true,
		Idle: now.Sub(p.moved), Peers: restart.Peers{Durations: &p.curve},
		Trials: trials, Limits: p.limits,
	}
}
