package replicate

import "time"

// Candidate is an output that may be copied. The zero value is an output whose loss costs nothing, so it is not
// copied.
type Candidate struct {
	// Cost is the expected cost of computing the output again, from [Graph.Cost].
	Cost Cost
	// CopyTime is the time to copy the output to another machine of the rack, at least 0. The paper calls it t_rep.
	CopyTime time.Duration
	// Bytes is the size of the output, at least 0. A copy spends one token for each byte.
	Bytes int64
	// ReplicaLoss is the probability, in [0, 1], that the copy is lost, too, if the output is lost. 0 means that
	// the copy is never lost, as in the paper. [DecideTarget] chooses the machine for the copy, and replaces
	// ReplicaLoss by the probability for this machine.
	ReplicaLoss float64
}

// Decide says whether to copy an output. The answer is [Replicate] if two conditions are true. The copy is expected
// to save more time than it takes, and the budget has a token for each byte [Mantri §5.3]:
//
//	Cost.Expected * (1 - ReplicaLoss) > CopyTime  and  Bytes <= tokens
//
// If the two times are equal, the answer is [Leave]. Decide compares the times after rounding them to nanoseconds,
// as the Decision prints them. For example, 0.1 times 30 s is not more than 3 s. The paper's rule has no
// ReplicaLoss. With ReplicaLoss, the saving is the part of the expected cost that the copy removes.
//
// Decide does not change the budget: if the host makes the copy, it must call [ByteBudget.Spend]. O(1), no
// allocation.
func Decide(c Candidate, tokens int64) Decision {
	d := Decision{Saves: c.saves(), Takes: c.CopyTime, Bytes: c.Bytes, Tokens: tokens}
	switch {
	case !c.known():
		return Decision{Reason: NoEstimate}
	case d.Saves <= d.Takes:
		d.Reason = SavesTooLittle
	case c.Bytes > tokens:
		d.Reason = OverBudget
	default:
		d.Action, d.Reason = Replicate, SavesTime
	}
	return d
}

// known reports whether all numbers of the candidate are in range.
func (c *Candidate) known() bool {
	return c.CopyTime >= 0 && c.Bytes >= 0 && c.Cost.Expected >= 0 && c.ReplicaLoss >= 0 && c.ReplicaLoss <= 1
}

// saves returns the time that a copy of the output is expected to save.
func (c *Candidate) saves() time.Duration {
	if c.ReplicaLoss == 0 {
		return c.Cost.Expected
	}
	return duration(c.Cost.Expected.Seconds() * (1 - c.ReplicaLoss))
}

// Choose appends to dst the indices of the candidates to copy, if the tokens may not be enough for all candidates.
// The gain of a candidate is the time that its copy saves minus the time that its copy takes. Choose takes the
// candidate with the largest gain per byte first, and skips each candidate that no longer fits into the budget. If
// a single candidate has a larger gain than all these candidates together, Choose takes only this candidate. If
// gains per byte are equal, the larger gain is first, and then the lower index.
//
// The total gain is at least half of the largest possible gain. Choose takes only candidates for which [Decide]
// answers [Replicate], if it gets the tokens that are left after the earlier chosen candidates.
//
// Choose takes O(n log n) for n candidates. It allocates only if dst is too short for all candidates with a gain.
func Choose(dst []int, candidates []Candidate, tokens int64) []int {
	return choose(dst, len(candidates), tokens, func(i int) (gain, price int64, ok bool) {
		d := Decide(candidates[i], tokens)
		return int64(d.Saves - d.Takes), d.Bytes, d.Action == Replicate
	})
}
