package replicate

import "time"

// Candidate is an output that may be copied. The zero value is an output that costs nothing, so it is left alone.
type Candidate struct {
	// Cost is the expected cost of computing the output again, from [Graph.Cost].
	Cost Cost
	// CopyTime is the paper's t_rep: the time to copy the output to another machine of the rack, at least 0.
	CopyTime time.Duration
	// Bytes is the size of the output, at least 0. A copy takes one token for each byte.
	Bytes int64
	// ReplicaLoss is the probability, in [0, 1], that the copy is lost, too, if the output is lost. 0 means that the
	// copy is never lost, as in the paper. [DecideTarget] chooses the machine and sets ReplicaLoss.
	ReplicaLoss float64
}

// Decide says whether to copy an output. The answer is [Replicate] if two conditions hold. The copy is expected to
// save more time than it takes, and there is a token for each byte [Mantri §5.3]:
//
//	Cost.Expected * (1 - ReplicaLoss) > CopyTime  and  Bytes <= tokens
//
// Equal times lead to [Leave]. Decide compares the times that the Decision prints, rounded to nanoseconds. So 0.1
// times 30 s is not more than 3 s. The paper's rule has no ReplicaLoss. With it, the saving is the part of the
// expected cost that the copy removes.
//
// Decide does not change the budget: call [ByteBudget.Spend] for a copy that is made. O(1), no allocation.
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

// known reports whether all facts are in range.
func (c *Candidate) known() bool {
	return c.CopyTime >= 0 && c.Bytes >= 0 && c.Cost.Expected >= 0 && c.ReplicaLoss >= 0 && c.ReplicaLoss <= 1
}

// saves returns the time that the copy is expected to save.
func (c *Candidate) saves() time.Duration {
	if c.ReplicaLoss == 0 {
		return c.Cost.Expected
	}
	return duration(c.Cost.Expected.Seconds() * (1 - c.ReplicaLoss))
}

// Choose appends to dst the indices of the candidates to copy, if the tokens may not cover all of them. The gain of a
// candidate is the time saved minus the time of the copy. Choose takes the largest gain per byte first and skips
// candidates that no longer fit. If a single candidate has a larger gain than all these candidates together, Choose
// takes this candidate alone. Ties go to the larger gain, and then to the lowest index.
//
// The total gain is at least half of the largest possible gain. [Decide] answers [Replicate] for each chosen
// candidate, with the tokens that the chosen candidates before it leave.
//
// O(n log n) for n candidates. Choose allocates only if dst is too short for the candidates with a gain.
func Choose(dst []int, candidates []Candidate, tokens int64) []int {
	return choose(dst, len(candidates), tokens, func(i int) (gain, price int64, ok bool) {
		d := Decide(candidates[i], tokens)
		return int64(d.Saves - d.Takes), d.Bytes, d.Action == Replicate
	})
}
