package rules

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// SDA is the copying rule of Xu and Lau's Straggler Detection Algorithm, for clusters with little load [arXiv
// 1406.0609]. In the formulas, t_rem is the remaining time of the running attempt, and E is the expected time of a
// new attempt, E(t_new). A task gets one copy if no task waits for a slot and t_rem is greater than Multiplier times
// E. Gain is t_rem minus E. The zero value has the multiplier for Pareto run times. Safe for concurrent use.
//
// The paper chooses the multiplier, which it calls σ, and the number of copies so that the expected slot time of a
// task is smallest. The default is the result for run times with a Pareto distribution of index 2 and mean E. Without
// a copy the task still uses the slot time t_rem. With one copy it uses 2 E(min(t_rem, t_new)) = 2E - E²/(2 t_rem).
// So the copy lowers the slot time if t_rem exceeds (1+√2/2) E. Two copies never use less slot time than one. For
// other run times, σ can be computed in the same way.
//
// The following parts of the paper are left out: when to look at a task, the order of jobs, the clones of small jobs,
// and the load up to which a cluster has little load.
type SDA struct {
	// Multiplier is a factor, called σ in the paper. The remaining time must exceed Multiplier times the expected
	// time of a new attempt. 0 means 1+√2/2, about 1.707.
	Multiplier float64
}

// Effective returns the policy with a zero Multiplier replaced by its default, for logs.
func (s SDA) Effective() SDA {
	s.Multiplier = check.Or(s.Multiplier, 1+math.Sqrt2/2)
	return s
}

// Validate returns an error if Multiplier is out of range. The error states the value and the allowed range.
func (s SDA) Validate() error { return check.Factor("restart/rules: SDA", "Multiplier", s.Multiplier) }

// Decide returns Copy if the task should get a copy, and otherwise Keep with the reason. It computes t.Fresh.Mean
// once; all else is O(1). It does not allocate.
func (s SDA) Decide(t restart.Task, p restart.Phase) restart.Decision {
	return s.outlast(t, p, slot(p))
}

// ESE is the copying rule of Enhanced Speculative Execution, from the same paper as [SDA], for clusters with much
// load. A task gets one copy if its remaining time is greater than Multiplier times the expected time of a new
// attempt. In contrast to SDA, other tasks may wait for slots. Safe for concurrent use.
type ESE SDA

// Effective returns the policy with a zero Multiplier replaced by its default, for logs.
func (e ESE) Effective() ESE { return ESE(SDA(e).Effective()) }

// Validate returns an error if Multiplier is out of range. The error states the value and the allowed range.
func (e ESE) Validate() error { return check.Factor("restart/rules: ESE", "Multiplier", e.Multiplier) }

// Decide returns Copy if the task should get a copy, and otherwise Keep with the reason. It computes t.Fresh.Mean
// once; all else is O(1). It does not allocate.
func (e ESE) Decide(t restart.Task, p restart.Phase) restart.Decision {
	p.Waiting = 0
	return SDA(e).outlast(t, p, slot(p))
}

// outlast decides about a task by its remaining time. Argument taken is the reason why no slot is free for a copy, or
// NoReason if a slot is free.
func (s SDA) outlast(t restart.Task, p restart.Phase, taken restart.Reason) restart.Decision {
	if reason := single(t); reason != restart.NoReason {
		return restart.Decision{Reason: reason}
	}
	c := &t.Attempts[0]
	d := restart.Decision{Reason: restart.NoEstimate, Remaining: c.Remaining, Fresh: t.Fresh.Expected(), Basis: c.Basis}
	if d.Remaining == estimate.Unknown || d.Fresh == estimate.Unknown {
		return d
	}
	d.Bar, d.Reason = num.Times(d.Fresh, s.Effective().Multiplier), restart.NotSlow
	if d.Remaining > d.Bar {
		d.Reason = taken
	}
	if d.Reason == restart.NoReason {
		d.Action, d.Reason = restart.Copy, restart.FreshSooner
		d.Gain, d.Avoid = max(0, num.Sub(d.Remaining, d.Fresh)), restart.Avoid(t, p)
	}
	return d
}
