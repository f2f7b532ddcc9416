package replicate

import "time"

// Target is a machine to which an output may be copied.
type Target struct {
	// CopyTime is the time of a copy to this machine, at least 0. The paper calls it t_rep.
	CopyTime time.Duration
	// Loss is the probability, in [0, 1], that a copy on this machine is lost, too, if the output is lost. Use
	// [Losses.Probability], or 1 for a machine that fails together with the machine of the output.
	Loss float64
}

// DecideTarget chooses the machine for a copy of an output. For each target it applies the rule of [Decide], with
// the CopyTime and the Loss of the target in place of c.CopyTime and c.ReplicaLoss. It chooses the target for which
// the time saved minus the time of the copy is largest. If targets are equal, it chooses the lowest index.
//
// The paper says "another machine in the rack" [Mantri §5.3]. So pass the machines of the output's rack, except:
//
//   - the output's own machine
//   - machines without enough space for the output
//   - machines that are losing outputs now ([LossBursts.Active])
//
// DecideTarget returns the index of the target and the decision for it. If no copy should be made, it returns -1
// and the decision for the best target. If no target has valid numbers, the reason is [NoEstimate]. O(n) for n
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
