package replicate

import "time"

// AtRisk is an output on a machine that lost it or is losing others.
type AtRisk struct {
	// Cost is what it takes to have the output again, from [Graph.Cost].
	Cost Cost
	// Missing is the probability in [0, 1] that the output cannot be read when it is wanted: 1 if it is known to be
	// lost, else that of [LossBursts.Missing].
	Missing float64
	// Copies counts the copies on other machines, not in danger. One is enough to leave the output alone.
	Copies int
	// Readers counts the tasks that have not read the output yet. If there are none, it is left alone.
	Readers int
}

// DecideRecompute says whether to recompute an output before anyone asks for it [Mantri §5.3]: if it is lost or likely
// to be, no copy is left elsewhere, tasks still need it, and the budget covers the cluster time that it takes. Saves is
// the stall that is avoided, Missing times Cost.Redo. The paper has the rule in words only. O(1), no allocation.
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

func (a *AtRisk) saves() time.Duration {
	if a.Missing == 1 {
		return a.Cost.Redo
	}
	return duration(a.Cost.Redo.Seconds() * a.Missing)
}

// ChooseRecompute appends to dst the outputs to recompute when the budget does not cover all: most stall avoided per
// second of cluster time first. It chooses as [Choose] does.
func ChooseRecompute(dst []int, atRisk []AtRisk, budget time.Duration) []int {
	return choose(dst, len(atRisk), int64(budget), func(i int) (gain, price int64, ok bool) {
		d := DecideRecompute(atRisk[i], budget)
		return int64(d.Saves), int64(d.Takes), d.Action == Recompute
	})
}
