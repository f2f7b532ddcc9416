package rules

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// SDA is the copying rule of Xu and Lau's Straggler Detection Algorithm, for clusters with little load [arXiv 1406.0609]:
// a task gets one copy if no task waits and t_rem exceeds, strictly, a multiple of E(t_new). Gain is t_rem less E(t_new).
// Safe for concurrent use.
//
// The paper finds the multiple, σ, and the number of copies by minimising the slots' time that a task is expected to
// use. Where run times are Pareto of index 2, of mean E, one copy makes it 2 E(min(t_rem, t_new)) = 2E - E²/(2 t_rem) in
// the place of t_rem, which is less beyond (1+√2/2) E; a second copy never makes it less again. That is the default. For
// other run times find σ in the same way. The rest of the paper is not here: when in a task's life it is looked at, the
// order of jobs, the clones of small ones, and the load up to which a cluster has little.
type SDA struct {
	// Multiplier is σ, of E(t_new). 0 means 1+√2/2, 1.707.
	Multiplier float64
}

// Effective returns the policy with its default filled in, for logs.
func (s SDA) Effective() SDA {
	s.Multiplier = check.Or(s.Multiplier, 1+math.Sqrt2/2)
	return s
}

// Validate reports the field if it is out of range, with its value and its range.
func (s SDA) Validate() error { return check.Factor("restart/rules: SDA", "Multiplier", s.Multiplier) }

// Decide says whether the task is worth a copy. O(1) besides t.Fresh.Mean, no allocation.
func (s SDA) Decide(t restart.Task, p restart.Phase) restart.Decision {
	return s.outlast(t, p, slot(p))
}

// ESE is the copying rule of the same paper's Enhanced Speculative Execution, for clusters with much load: that of [SDA],
// whether tasks wait or not. Safe for concurrent use.
type ESE SDA

// Effective returns the policy with its default filled in, for logs.
func (e ESE) Effective() ESE { return ESE(SDA(e).Effective()) }

// Validate reports the field if it is out of range, with its value and its range.
func (e ESE) Validate() error { return check.Factor("restart/rules: ESE", "Multiplier", e.Multiplier) }

// Decide says whether the task is worth a copy. O(1) besides t.Fresh.Mean, no allocation.
func (e ESE) Decide(t restart.Task, p restart.Phase) restart.Decision {
	p.Waiting = 0
	return SDA(e).outlast(t, p, slot(p))
}

// outlast is the test of the task itself; taken is what keeps a copy from a slot.
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
