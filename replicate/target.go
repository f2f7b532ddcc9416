package replicate

import "time"

// Target is a machine that may hold a copy of an output.
type Target struct {
	// CopyTime is the paper's t_rep: the time of a copy to this machine, at least 0.
	CopyTime time.Duration
	// Loss is the probability, in [0, 1], that a copy on this machine is lost, too, if the output is lost. Use
	// [Losses.Probability], or 1 for a machine that fails together with the machine of the output.
	Loss float64
}

// DecideTarget chooses the machine for a copy of an output. For each target it applies the rule of [Decide] with the
// target's CopyTime and Loss instead of c.CopyTime and c.ReplicaLoss. It chooses the target with the largest saving
// minus copy time. Ties go to the lowest index.
//
// The paper says "another machine in the rack" [Mantri §5.3]. So pass the machines of the output's rack, except
// these:
//
//   - the output's own machine
//   - machines without enough space for the output
//   - machines that are losing outputs now ([LossBursts.Active])
//
// DecideTarget returns the index of the target and the decision for it. If no copy is worth its time, it returns -1
// and the decision for the best target. Without a target with valid numbers, the reason is [NoEstimate]. O(n) for n
// targets, no allocation.
func DecideTarget(c Candidate, targets []Target, tokens int64) (int, Decision) {
	best, decision := -1, Decision{Reason: NoEstimate}
	for i, t := range targets {
		c.CopyTime, c.ReplicaLoss = t.CopyTime, t.Loss
		d := Decide(c, tokens)
		if d.Reason != NoEstimate && (best < 0 || d.Saves-d.Takes > decision.Saves-decision.Takes) {
			best, decision = i, d
		}
	}
	if decision.Action != Replicate {
		best = -1
	}
	return best, decision
}
