// Package risk computes how likely a job is to straggle, under each way of cloning that the Dolly paper compares.
// A job straggles if a task is much slower than the other tasks. The package is for readers of the paper, and for
// operators who compare ways of cloning. A scheduler does not need it; package clone makes the decisions.
//
// For example, a job has ten tasks, each with three clones, and a clone straggles with probability 0.1:
//
//	p, err := risk.Of(risk.TaskLevel, 10, 3, 0.1)
//	// 0.010
//
// With risk.JobLevel the whole job is cloned three times, and not each task. The probability is then 0.276.
//
// Source: Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013 (Dolly), §3.1
// and §4.2.
package risk

import (
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Scheme is a way of cloning. The values and the names of the constants will not change.
type Scheme uint8

const (
	// TaskLevel launches every task c times and uses the clone of each task that ends first. The job has one
	// phase. The function clone.Count computes c for this scheme. TaskLevel is the zero value.
	TaskLevel Scheme = iota
	// JobLevel launches the whole job c times and uses the job that ends first. The job has one phase.
	JobLevel
	// Contention is for a job of two phases with n tasks each. Every task of the second phase reads every task of
	// the first phase, and each task has c clones. All clones of a task in the second phase read the same clone in
	// the first phase: the clone that ends first. They do this although they then compete for its output. The
	// paper calls this scheme CC.
	Contention
	// Avoidance is for a job of two phases with n tasks each. Every task of the second phase reads every task of
	// the first phase, and each task has c clones. Each clone in the first phase is read by only one clone of
	// every task in the second phase. The pairing is coordinated. Clones in the first phase that do not straggle
	// are read by the same clones in the second phase, for all tasks of the first phase. The paper calls this
	// scheme CAC. Its equation assumes this coordination without saying so.
	Avoidance
	// RandomAvoidance is like [Avoidance], but without coordination. For each task of the first phase, chance
	// decides which of its clones is read by which clone in the second phase. This is independent for each task. A
	// pairing that does not look at the clones has this probability, which is far larger than the probability for
	// Avoidance. The paper does not treat this scheme.
	RandomAvoidance
)

var schemeNames = [...]string{
	TaskLevel: "task-level", JobLevel: "job-level", Contention: "contention", Avoidance: "avoidance",
	RandomAvoidance: "random-avoidance",
}

// String returns the name of the scheme.
func (s Scheme) String() string { return enum.Name(schemeNames[:], s) }

// MarshalText returns the name of the scheme. It returns an error if the value has no name.
func (s Scheme) MarshalText() ([]byte, error) { return enum.Text(schemeNames[:], s) }

// UnmarshalText sets the scheme to the constant whose name is text. It returns an error if no constant has this name.
func (s *Scheme) UnmarshalText(text []byte) error { return enum.Parse(schemeNames[:], text, s) }

// prefix is the start of the error messages of this package.
const prefix = "clone/risk"

// maxClones is the largest number of clones of each task for Avoidance and RandomAvoidance. A little above this
// number, the binomial coefficients do not fit in a float64.
const maxClones = 1000

// Of returns the probability that a job straggles if it is cloned by a scheme [Dolly §3.1, §4.2]. The job has n
// tasks. For Contention, Avoidance and RandomAvoidance it has two phases of n tasks each. Each task has c clones.
// Each clone straggles with probability p, independently of all other clones.
//
// The paper's equation (2), for Avoidance, has a misprint. For each task of the first phase, take the number of its
// clones that do not straggle. Call the smallest such number m. Let Ψ(d) be the probability that m is at least d.
// Then m is exactly d with the probability Ψ(d)-Ψ(d+1). The paper prints Ψ(d)-Ψ(d-1), which is negative. Of uses the
// correct probability. It does not subtract numbers that are nearly equal, so that small results have all their
// digits.
//
// Of returns an error if n or c is less than 1, if p is not in [0, 1), or if the scheme has no name. For Avoidance
// and RandomAvoidance, c may be at most 1000. Cost: O(1), and O(c²) for these two schemes; no allocation except
// for the error.
func Of(s Scheme, n, c int, p float64) (float64, error) {
	switch {
	case n < 1:
		return 0, check.Bad(prefix, "n", n, "1 task or more")
	case c < 1:
		return 0, check.Bad(prefix, "c", c, "1 clone or more")
	case !(p >= 0 && p < 1):
		return 0, check.Bad(prefix, "p", p, "a probability in [0, 1)")
	}
	tasks := float64(n)
	switch s {
	case TaskLevel:
		return anyOf(tasks, power(p, c)), nil
	case JobLevel:
		return power(anyOf(tasks, p), c), nil
	case Contention:
		return anyOf(2*tasks, power(p, c)), nil
	case Avoidance, RandomAvoidance:
		if c > maxClones {
			return 0, check.Badf(prefix, "c", c, "at most %d clones for %v", maxClones, s)
		}
		if s == Avoidance {
			return avoidance(tasks, c, p), nil
		}
		return randomAvoidance(tasks, c, p), nil
	}
	return 0, check.Named(prefix, "scheme", s)
}

// power returns q^c. For large c it uses math.Exp and not math.Pow. The error of math.Pow grows with c; the error of
// math.Exp grows only with c log q.
func power(q float64, c int) float64 {
	if c <= maxClones {
		return math.Pow(q, float64(c))
	}
	return math.Exp(float64(c) * num.Log(q))
}

// anyOf returns 1-(1-q)^n: the probability that at least one event happens, for n independent events that each
// have the probability q.
func anyOf(n, q float64) float64 { return -math.Expm1(n * math.Log1p(-q)) }

// avoidance returns the probability that a job straggles under the scheme Avoidance. For each of the n tasks of the
// first phase, take the number of its c clones that do not straggle. Call the smallest such number d. avoidance sums
// over d:
//
//	P(d = 0) + Σ_{d=1..c} [Ψ(d)-Ψ(d+1)] (1-(1-p^d)^n),   Ψ(d) = (1-q_d)^n,   q_d = P(Bin(c,p) > c-d)
//
// Here P(d = 0) = 1-Ψ(1) and Ψ(c+1) = 0. Each q_d is a sum of positive terms, and the difference of two Ψ is
// computed as a product. So no digits cancel.
func avoidance(n float64, c int, p float64) float64 {
	tail := binomial(c, c, p) // q_1: the probability that all clones of a task straggle
	risk := anyOf(n, tail)
	for d := 1; d <= c; d++ {
		logTail := math.Log1p(-tail)
		exactly := math.Exp(n * logTail) // Ψ(d); for d = c this is already the probability of exactly d
		if exactly == 0 {
			break // for larger d the probability is 0, too
		}
		if d < c {
			tail = min(1, tail+binomial(c, c-d, p))
			exactly *= -math.Expm1(n * (math.Log1p(-tail) - logTail))
		}
		risk += float64(exactly * anyOf(n, math.Pow(p, float64(d))))
	}
	return min(risk, 1)
}

// randomAvoidance returns the probability that a job straggles under the scheme RandomAvoidance. It sums over k,
// the number of clones of a task in the second phase that read no straggler. Each clone in the second phase reads
// no straggler with probability (1-p)^n. The clones are independent, because each task of the first phase assigns
// its clones by chance.
func randomAvoidance(n float64, c int, p float64) float64 {
	bad := anyOf(n, p)
	risk := 0.0
	for k := 0; k <= c; k++ {
		risk += float64(binomial(c, c-k, bad) * anyOf(n, math.Pow(p, float64(k))))
	}
	return min(risk, 1)
}

// binomial returns the probability that exactly i of c independent events with probability p happen. c must be at
// most maxClones, so that the number of ways to choose i events is finite as a float64.
func binomial(c, i int, p float64) float64 {
	ways := 1.0
	for j := 1; j <= min(i, c-i); j++ {
		ways = ways * float64(c-j+1) / float64(j)
	}
	if p == 1 {
		if i == c {
			return 1
		}
		return 0
	}
	return ways * math.Pow(p, float64(i)) * math.Exp(float64(c-i)*math.Log1p(-p))
}
