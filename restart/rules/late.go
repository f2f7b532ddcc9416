package rules

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// LATE speculates on the task with the longest approximate time to end [LATE §4]. Its zero value has the parameters of
// the paper's evaluation. Safe for concurrent use.
//
// A task gets one copy if it has run for a minute, if no task waits, if fewer than SpeculativeCap copies run, if its
// progress rate score/age is below SlowTask, and if the machine that asks is not below SlowNode. Both percentiles are
// the smallest value that at least this share of the values does not exceed, and "below" is strict, so the slowest of
// equals is not slow. The tasks whose rates count are all that run or have finished. The decision's Gain is the time
// left; give the slot to the largest, as [restart.Next] does. In a phase that never reports progress a task's score
// says nothing, and the paper's time left would be for ever for all; there it is the age of the copy.
type LATE struct {
	// SpeculativeCap is the share of the phase's slots that copies may hold; a copy is launched while fewer run. 0 means
	// 0.1; 1 or more is no cap. (The paper's sensitivity analysis prefers 0.2.)
	SpeculativeCap float64
	// SlowNode is the percentile of the machines' total work, in (0, 1], below which a machine gets no copies. 0 means
	// 0.25; Off: any machine.
	SlowNode float64
	// SlowTask is the percentile of progress rates, in (0, 1], below which a task is slow. 0 means 0.25; Off: any task.
	SlowTask float64
	// MinAge is how long a copy must have run. 0 means a minute; Off: at once.
	MinAge time.Duration
	// UseRemaining ranks by Attempt.Remaining, where it is known, instead of by the time left that the score implies. Fill it
	// by [estimate.TimeLeftBySubphase] for tasks whose subphases run at different speeds [LATE §4.2].
	UseRemaining bool
	// Early makes copies while tasks still wait: the variant of LATE that [Mantri §6.3, Figure 15] compares with.
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

// Decide says whether the task is a candidate for a copy. Two quantiles at most, no allocation.
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

// refuse looks for what speaks against any copy now: no slot, the cap, the machine that asks.
func (l LATE) refuse(p restart.Phase) restart.Decision {
	if p.FreeSlots <= 0 {
		return restart.Decision{Reason: restart.NoFreeSlot}
	}
	// A quotient is right on the boundary where the product is not: 0.07*100 is more than 7.
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

// rank is the test of the task itself.
func (l LATE) rank(c *restart.Attempt, t restart.Task, p restart.Phase) restart.Decision {
	d := restart.Decision{Reason: restart.NoEstimate, Remaining: estimate.TimeLeft(c.Score, c.Elapsed)}
	if p.Silent {
		d.Remaining = max(0, c.Elapsed) // of equal scores the oldest is the farthest behind
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
