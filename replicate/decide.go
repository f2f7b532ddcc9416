package replicate

import "time"

// Candidate is an output that may be replicated.
type Candidate struct {
	// Cost is what it takes to have the output again, from [Graph.Cost].
	Cost Cost
	// CopyTime is t_rep, the time to move the data to another machine in the rack. It must not be negative.
	CopyTime time.Duration
	// Bytes is the size of the output, the tokens that a copy takes.
	Bytes int64
	// ReplicaLoss is the probability in [0, 1] that the copy is lost when it is wanted because the output is. 0, the
	// paper's rule, ignores that. [DecideTarget] looks for the machine.
	ReplicaLoss float64
}

// Decide says whether to replicate an output: if what recomputing it is expected to cost exceeds what copying it takes,
// and there are tokens for its bytes [Mantri §5.3]:
//
//	Cost.Expected * (1 - ReplicaLoss) > CopyTime  and  Bytes <= tokens
//
// Equal times are not enough. The times are compared as they are logged, rounded to the nanosecond, so that a loss of
// 0.1 of 30 s is not more than 3 s. The paper's rule has no ReplicaLoss; with it, the benefit counted is what the copy
// takes off the expected cost. The caller takes the bytes of a copy that it makes from the budget. O(1), no allocation.
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

// known reports whether the facts can be used.
func (c *Candidate) known() bool {
	return c.CopyTime >= 0 && c.Bytes >= 0 && c.Cost.Expected >= 0 && c.ReplicaLoss >= 0 && c.ReplicaLoss <= 1
}

func (c *Candidate) saves() time.Duration {
	if c.ReplicaLoss == 0 {
		return c.Cost.Expected
	}
	return duration(c.Cost.Expected.Seconds() * (1 - c.ReplicaLoss))
}

// Choose appends to dst the candidates to replicate when the tokens do not cover all that are worth it: most time
// saved, less what copying takes, per byte first, skipping what does not fit, or the single candidate that saves more
// than all of those. What it chooses saves at least half of what the best choice would. Every candidate chosen is one
// that [Decide] replicates with the tokens that those before it left. Ties go to the candidate that saves more, then to
// the lowest index. O(n log n); it allocates only if dst is too short for the candidates that are worth it.
func Choose(dst []int, candidates []Candidate, tokens int64) []int {
	return choose(dst, len(candidates), tokens, func(i int) (gain, price int64, ok bool) {
		d := Decide(candidates[i], tokens)
		return int64(d.Saves - d.Takes), d.Bytes, d.Action == Replicate
	})
}
