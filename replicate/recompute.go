package replicate

import "time"

// AtRisk is an output that its machine has lost, or an output on a machine that is losing outputs.
type AtRisk struct {
	// Cost is the expected cost of computing the output again, from [Graph.Cost].
	Cost Cost
	// Missing is the probability, in [0, 1], that the output is lost when a task wants to read it. If the output is
	// known to be lost, Missing is 1. Otherwise use the result of [LossBursts.Missing].
	Missing float64
	// Copies is the number of copies on other machines that are not losing outputs. If there is such a copy, the
	// output is not recomputed.
	Copies int
	// Readers is the number of tasks that must still read the output. If there is none, the output is not
	// recomputed.
	Readers int
}

// DecideRecompute says whether to recompute an output before a task asks for it [Mantri §5.3]. The paper gives the
// rule in words. The answer is [Recompute] if four conditions are true:
//
//   - The output is lost, or may be lost: Missing times Cost.Redo is more than 0. This product is the waiting time
//     that a recomputation is expected to save.
//   - No other copy exists.
//   - A task still needs the output.
//   - The budget is at least the cluster time of the recomputation.
//
// DecideRecompute does not change the budget: if the host recomputes the output, it must call [TimeBudget.Spend].
// O(1), no allocation.
func DecideRecompute(a AtRisk, budget time.Duration) Decision {
	if !(a.Missing >= 0 && a.Missing <= 1) || a.Cost.Redo < 0 || a.Cost.ClusterTime < 0 {
		return Decision{Reason: NoEstimate}
	}
	d := Decision{Saves: a.saves(), Takes: a.Cost.ClusterTime, Allowed: budget}
	switch {
	case a.Copies > 0:
		d.Reason = CopyLeft
	case a.Readers <= 0:
		d.Reason = NotNeeded
	case d.Saves == 0:
		d.Reason = SavesTooLittle
	case d.Takes > budget:
		d.Reason = OverBudget
	default:
		d.Action, d.Reason = Recompute, LossForeseen
	}
	return d
}

// saves returns the waiting time that a recomputation is expected to save.
func (a *AtRisk) saves() time.Duration {
	if a.Missing == 1 {
		return a.Cost.Redo
	}
	return duration(a.Cost.Redo.Seconds() * a.Missing)
}

// ChooseRecompute appends to dst the indices of the outputs to recompute, if the budget may not be enough for all
// outputs. It takes the output that saves the most waiting time per second of cluster time first, and skips each
// output that no longer fits into the budget. If a single output saves more than all these outputs together,
// ChooseRecompute takes only this output. The total saving is at least half of the largest possible saving. The
// order of equal outputs, the run time and the allocations are the same as for [Choose].
func ChooseRecompute(dst []int, atRisk []AtRisk, budget time.Duration) []int {
	return choose(dst, len(atRisk), int64(budget), func(i int) (gain, price int64, ok bool) {
		d := DecideRecompute(atRisk[i], budget)
		return int64(d.Saves), int64(d.Takes), d.Action == Recompute
	})
}
