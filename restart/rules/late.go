package rules

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// LATE copies the slow task that is expected to end last, by its progress rate so far [LATE §4]. Its zero value has
// the parameters of the paper's evaluation. Safe for concurrent use.
//
// A task gets one copy if all these conditions are true:
//
//   - The task has run for at least MinAge.
//   - No task waits for a slot.
//   - Fewer copies run than SpeculativeCap allows.
//   - The task's progress rate (its score divided by its age) is below a percentile of the rates of all tasks that
//     run or have finished. Field SlowTask is the percentile.
//   - The total work of the machine that asks for work is not below a percentile of the totals of all machines. Field
//     SlowNode is the percentile.
//
// A percentile q is the smallest value with the following property: at least the share q of the values is not
// greater. A rate equal to the percentile is not slow. So if all tasks have equal rates, no task is slow. Gain is the
// time until the task is expected to end. Give the slot to the task with the largest Gain, as [restart.Next] does.
//
// In a phase without progress reports, the paper's formula would give an infinite time for all tasks. In such a phase
// the age of the attempt is used instead.
type LATE struct {
	// SpeculativeCap is the share of the phase's slots in which copies may run. A new copy is made only while copies
	// run in a smaller share of the slots. 0 means 0.1; with 1 or more there is no limit. (The paper's sensitivity
	// analysis prefers 0.2.)
	SpeculativeCap float64 `want:"factor"`
	// SlowNode is a percentile, in (0, 1], of the total work of the machines. A machine whose total is below the
	// percentile gets no copies. 0 means 0.25; Off means that every machine may get copies.
	SlowNode float64 `want:"share or off"`
	// SlowTask is a percentile, in (0, 1], of the progress rates of the tasks. A task whose rate is below the
	// percentile is slow. 0 means 0.25; Off means that every task is slow.
	SlowTask float64 `want:"share or off"`
	// MinAge is how long an attempt must have run at least. 0 means a minute; Off means that there is no minimum.
	MinAge time.Duration `want:"age"`
	// UseRemaining ranks tasks by Attempt.Remaining, if it is known. Otherwise tasks are ranked by the remaining time
	// that follows from the progress score and the age. If parts of a task run at different speeds [LATE §4.2],
	// compute Attempt.Remaining with [estimate.TimeLeftBySubphase].
	UseRemaining bool
	// Early makes copies even while tasks wait for slots. The Mantri paper compares itself with this variant of LATE
	// [Mantri §6.3, Figure 15].
	Early bool
}

// Effective returns the policy with each zero field replaced by its default, for logs.
func (l LATE) Effective() LATE {
	l.SpeculativeCap = check.Or(l.SpeculativeCap, 0.1)
	l.SlowNode = check.Or(l.SlowNode, 0.25)
	l.SlowTask = check.Or(l.SlowTask, 0.25)
	l.MinAge = check.Or(l.MinAge, time.Minute)
	return l
}

// Validate returns an error for the first field that is out of range. The error states the value and the allowed
// range.
func (l LATE) Validate() error { return check.Valid(l) }

// Decide returns Copy if the task should get a copy, and otherwise Keep with the reason. It computes at most two
// quantiles, and does not allocate.
func (l LATE) Decide(t restart.Task, p restart.Phase) restart.Decision {
	l = l.Effective()
	if reason := single(t); reason != restart.NoReason {
		return restart.Decision{Reason: reason}
	}
	c := &t.Attempts[0]
	if c.Elapsed < l.MinAge {
		return refuse(restart.TooYoung, restart.RunSeconds, c.Elapsed.Seconds(), l.MinAge.Seconds())
	}
	if p.Waiting > 0 && !l.Early {
		return restart.Decision{Reason: restart.TasksWaiting}
	}
	d := l.rank(c, t, p)
	if d.Action == restart.Keep {
		return d
	}
	if no := l.refuse(p); no.Reason != restart.NoReason {
		no.Remaining = d.Remaining
		return no
	}
	return d
}

// refuse returns a decision to keep the task if no copy may be made now: no slot is free, too many copies run, or the
// machine is slow. If a copy may be made, the reason of the decision is NoReason.
func (l LATE) refuse(p restart.Phase) restart.Decision {
	if p.FreeSlots <= 0 {
		return restart.Decision{Reason: restart.NoFreeSlot}
	}
	// The rule compares the share of the slots in which copies run with SpeculativeCap. It does not compare a number
	// of copies with a product, because a product can be wrong at the boundary: in float64, 0.07*100 is more than 7.
	if share := float64(p.Copies) / float64(max(p.Slots, 0)); p.Slots <= 0 || !(share < l.SpeculativeCap) {
		return refuse(restart.CapReached, restart.CopyShare, share, l.SpeculativeCap)
	}
	if m := p.Peers.Machine; m.Of != nil && l.SlowNode != restart.Off {
		if bar := m.Of.Quantile(l.SlowNode); m.Total < bar {
			return refuse(restart.SlowMachine, restart.MachineScore, m.Total, bar)
		}
	}
	return restart.Decision{}
}

// rank decides about the task itself: whether it is slow, and which Gain it has.
func (l LATE) rank(c *restart.Attempt, t restart.Task, p restart.Phase) restart.Decision {
	d := restart.Decision{Reason: restart.NoEstimate, Remaining: estimate.TimeLeft(c.Score, c.Elapsed)}
	if p.Silent {
		// If no task reports progress, the oldest attempt is taken to be furthest behind.
		d.Remaining = max(0, c.Elapsed)
	}
	if l.UseRemaining && c.Remaining != estimate.Unknown {
		d.Remaining = max(0, c.Remaining)
	}
	if d.Remaining == estimate.Unknown || !num.Finite(c.Score) || c.Elapsed <= 0 {
		return d
	}
	if l.SlowTask != restart.Off {
		if p.Peers.ProgressRates == nil {
			return d
		}
		rate, bar := c.Score/c.Elapsed.Seconds(), p.Peers.ProgressRates.Quantile(l.SlowTask)
		d.Comparison = restart.Compare(restart.ProgressRate, rate, bar)
		if !(d.Value < d.Threshold) {
			d.Reason = restart.NotSlow
			return d
		}
	}
	d.Action, d.Reason, d.Gain, d.Avoid = restart.Copy, restart.LongestToEnd, d.Remaining, restart.Avoid(t, p)
	return d
}
