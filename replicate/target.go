package replicate

import "time"

// Target is a machine that may take a copy of an output.
type Target struct {
	// CopyTime is t_rep to this machine. It must not be negative.
	CopyTime time.Duration
	// Loss is the probability in [0, 1] that a copy on the machine is lost when it is wanted because the output is,
	// such as [Losses.Probability]; 1 on a machine that fails together with the output's own.
	Loss float64
}

// DecideTarget says on which of the machines to put a copy of an output, if on any: on the one that saves most, less
// what copying takes, by the rule of [Decide] with its CopyTime and its Loss; those of the candidate are not read. The
// paper says "another machine in the rack" [Mantri §5.3]: pass the machines of the rack without the output's own, with
// room for the output, and without those that are losing outputs now ([LossBursts.Active]).
//
// It returns the index of the machine and the decision for it, or -1 and why the best one will not do; without a
// machine, or with none whose numbers make sense, that is NoEstimate. Ties go to the lowest index. O(n), no allocation.
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
