package rules

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// LATE copies the task with the longest approximate time to end [LATE §4]. Its zero value has the parameters of
// the paper's evaluation. Safe for concurrent use.
//
// A task gets one copy under these conditions:
//
//   - The task has run for at least MinAge.
//   - No task waits.
//   - Fewer copies run than SpeculativeCap allows.
//   - The task's progress rate, score/age, is below the percentile SlowTask of the rates of all tasks that run
//     or have finished.
//   - The total work of the machine that asks is not below the percentile SlowNode of all machines.
//
// A percentile is the smallest value that at least this share of the values does not exceed. "Below" is strict,
// so the slowest of equal tasks is not slow. Gain is the time to end; give the slot to the task with the
// largest Gain, as [restart.Next] does.
//
// In a phase without progress reports the paper's time to end would be infinite for all tasks. In such a phase
// the age of the attempt takes its place.
type LATE struct {
	// SpeculativeCap is the share of the phase's slots that copies may hold: a copy is made while fewer copies
	// run. 0 means 0.1; 1 or more is no cap. (The paper's sensitivity analysis prefers 0.2.)
	SpeculativeCap float64
	// SlowNode is the percentile of the machines' total work, in (0, 1], below which a machine gets no copies.
	// 0 means 0.25; Off means that any machine gets copies.
	SlowNode float64
	// SlowTask is the percentile of progress rates, in (0, 1], below which a task is slow. 0 means 0.25; Off
	// means that any task is slow.
	SlowTask float64
	// MinAge is how long an attempt must have run. 0 means a minute; Off means no minimum.
	MinAge time.Duration
	// UseRemaining ranks tasks by Attempt.Remaining, where it is known, instead of the time to end that the
	// score implies. For tasks whose subphases run at different speeds [LATE §4.2], fill Remaining by
	// [estimate.TimeLeftBySubphase].
	UseRemaining bool
	// Early makes copies while tasks still wait. [Mantri §6.3, Figure 15] compares with this variant of LATE.
	Early bool
}

// Effective returns the policy with its defaults filled in, for logs.
func (l LATE) Effective() LATE {
	l.SpeculativeCap = check.Or(l.SpeculativeCap, 0.1)
	l.SlowNode = check.Or(l.SlowNode, 0.25)
	l.SlowTask = check.Or(l.SlowTask, 0.25)
	l.MinAge = check.Or(l.MinAge, time.Minute)
	return l
}

// Validate reports the first field that is out of range, with its value and its range.
func (l LATE) Validate() error {
	const place = "restart/rules: LATE"
	return cmp.Or(
		check.Factor(place, "SpeculativeCap", l.SpeculativeCap),
		check.Share(place, "SlowNode", l.SlowNode, true),
		check.Share(place, "SlowTask", l.SlowTask, true),
		check.Age(place, "MinAge", l.MinAge),
	)
}

// Decide returns Copy if the task is a candidate for a copy, and else Keep with the reason. At most two
// quantiles, no allocation.
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

// refuse returns why no copy may be made now: no free slot, the cap, or a slow machine. Its Reason is NoReason
// if a copy may be made.
func (l LATE) refuse(p restart.Phase) restart.Decision {
	if p.FreeSlots <= 0 {
		return restart.Decision{Reason: restart.NoFreeSlot}
	}
	// A quotient, because a product is wrong at the boundary: in float64, 0.07*100 is more than 7.
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

// rank tests the task itself.
func (l LATE) rank(c *restart.Attempt, t restart.Task, p restart.Phase) restart.Decision {
	d := restart.Decision{Reason: restart.NoEstimate, Remaining: estimate.TimeLeft(c.Score, c.Elapsed)}
	if p.Silent {
		d.Remaining = max(0, c.Elapsed) // among equal scores the oldest attempt is furthest behind
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
