package rules

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// SDA is the copying rule of Xu and Lau's Straggler Detection Algorithm, for clusters with little load [arXiv
// 1406.0609]. A task gets one copy if no task waits and t_rem exceeds, strictly, a multiple of E(t_new). Gain
// is t_rem less E(t_new). The zero value has the multiple for Pareto run times. Safe for concurrent use.
//
// The paper chooses the multiple, σ, and the number of copies so that the expected slot time of a task is
// least. The default is its result for run times that are Pareto of index 2 with mean E. Without a copy the
// task still takes the slot time t_rem. With one copy it takes 2 E(min(t_rem, t_new)) = 2E - E²/(2 t_rem). So
// the copy lowers the slot time if t_rem exceeds (1+√2/2) E. Two copies never take less slot time than one. For
// other run times find σ in the same way.
//
// These parts of the paper are not here: when to look at a task, the order of jobs, the clones of small jobs,
// and the load up to which a cluster counts as lightly loaded.
type SDA struct {
	// Multiplier is σ, in units of E(t_new). 0 means 1+√2/2, about 1.707.
	Multiplier float64
}

// Effective returns the policy with its default filled in, for logs.
func (s SDA) Effective() SDA {
	s.Multiplier = check.Or(s.Multiplier, 1+math.Sqrt2/2)
	return s
}

// Validate reports the field if it is out of range, with its value and its range.
func (s SDA) Validate() error { return check.Factor("restart/rules: SDA", "Multiplier", s.Multiplier) }

// Decide returns Copy if the task is worth a copy, and else Keep with the reason. O(1) besides t.Fresh.Mean, no
// allocation.
func (s SDA) Decide(t restart.Task, p restart.Phase) restart.Decision {
	return s.outlast(t, p, slot(p))
}

// ESE is the copying rule of the same paper's Enhanced Speculative Execution, for clusters with much load. ESE
// is the rule of [SDA] without the condition that no task waits. Safe for concurrent use.
type ESE SDA

// Effective returns the policy with its default filled in, for logs.
func (e ESE) Effective() ESE { return ESE(SDA(e).Effective()) }

// Validate reports the field if it is out of range, with its value and its range.
func (e ESE) Validate() error { return check.Factor("restart/rules: ESE", "Multiplier", e.Multiplier) }

// Decide returns Copy if the task is worth a copy, and else Keep with the reason. O(1) besides t.Fresh.Mean, no
// allocation.
func (e ESE) Decide(t restart.Task, p restart.Phase) restart.Decision {
	p.Waiting = 0
	return SDA(e).outlast(t, p, slot(p))
}

// outlast tests the task itself. The reason taken says why no slot is free for a copy, or is NoReason.
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
