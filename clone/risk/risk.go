// Package risk is for a reader of the Dolly paper, or an operator, who compares ways of cloning. The package computes
// how likely a job is to straggle under each way. A host that clones does not need this package; package clone has
// the decisions.
//
// For example, a job has ten tasks, each with three clones, and a clone straggles with probability 0.1:
//
//	p, err := risk.Of(risk.TaskLevel, 10, 3, 0.1)
//	// 0.010
//
// If the three clones were whole jobs instead, risk.JobLevel, the probability would be 0.276.
//
// Source: Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013 (Dolly), §3.1 and
// §4.2.
package risk

import (
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Scheme is a way of cloning. The names and values are stable.
type Scheme uint8

const (
	// TaskLevel launches every task c times and takes the first clone of each task that ends. The job has one phase.
	// clone.Count is about this scheme. TaskLevel is the zero value.
	TaskLevel Scheme = iota
	// JobLevel launches the whole job c times and takes the first job that ends. The job has one phase.
	JobLevel
	// Contention clones the tasks of two phases of n tasks each. All clones of a downstream task read the upstream clone
	// that ends first, although they then compete for its output. The paper calls this scheme CC.
	Contention
	// Avoidance clones the tasks of two phases of n tasks each. One clone of every downstream task reads each
	// upstream clone. The pairing is coordinated: the good clones of all upstream tasks go to the same downstream
	// clones. The paper calls this scheme CAC, and its equation assumes this coordination without saying so.
	Avoidance
	// RandomAvoidance is Avoidance without coordination. Each upstream task sends its clones to the downstream clones by
	// chance, independently of the other upstream tasks. A careless pairing works like this, and its risk is far larger
	// than the risk of Avoidance. The paper does not treat this scheme.
	RandomAvoidance
)

var schemeNames = [...]string{"task-level", "job-level", "contention", "avoidance", "random-avoidance"}

// String returns the scheme's name.
func (s Scheme) String() string { return enum.Name(schemeNames[:], s) }

// MarshalText returns the scheme's name, or an error for a value that does not exist.
func (s Scheme) MarshalText() ([]byte, error) { return enum.Text(schemeNames[:], s) }

// UnmarshalText reads a scheme's name, and returns an error for any other text.
func (s *Scheme) UnmarshalText(text []byte) error { return enum.Parse(schemeNames[:], text, s) }

// prefix is the prefix of this package's errors.
const prefix = "clone/risk"

// maxClones is the largest c for the two schemes that avoid contention. For a c not far above this value, the number of
// ways to choose clones does not fit into a float64.
const maxClones = 1000

// Of returns the probability that a job straggles under a scheme [Dolly §3.1, §4.2]. The job has n tasks, or two phases of
// n tasks each under the last three schemes. Each task has c clones. Each clone straggles with probability p,
// independently of all others.
//
// The paper's equation (2), for Avoidance, has a misprint. Let d be the number of fine clones in the clone group with the
// fewest. The probability of exactly d is Ψ(d)-Ψ(d+1). The printed Ψ(d)-Ψ(d-1) is negative. Of uses the correct
// probability, in a form without cancellation, so that small risks keep their digits.
//
// The error names the argument if n or c is less than 1, if p is not in [0, 1), or if the scheme is unknown. For Avoidance
// and RandomAvoidance, c may be at most 1000. O(1), and O(c²) for these two schemes; no allocation except for the error.
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
	return 0, check.Named(prefix, "scheme", s, schemeNames[:])
}

// power returns q^c. The error of math.Pow grows with c; the error of the second form grows only with c log q.
func power(q float64, c int) float64 {
	if c <= maxClones {
		return math.Pow(q, float64(c))
	}
	return math.Exp(float64(c) * num.Log(q))
}

// anyOf returns 1-(1-q)^n. Among n independent events of probability q, this is the probability that at least one
// event happens.
func anyOf(n, q float64) float64 { return -math.Expm1(n * math.Log1p(-q)) }

// avoidance sums over d, the number of fine upstream clones in the group with the fewest, among the n groups:
//
//	P(d = 0) + Σ_{d=1..c} [Ψ(d)-Ψ(d+1)] (1-(1-p^d)^n),   Ψ(d) = (1-q_d)^n,   q_d = P(Bin(c,p) > c-d)
//
// Here P(d = 0) = 1-Ψ(1) and Ψ(c+1) = 0. The q_d are sums of positive terms. The code computes a difference of two Ψ
// as a product. So no digits cancel.
func avoidance(n float64, c int, p float64) float64 {
	tail := binomial(c, c, p) // q_1: the probability that all clones straggle
	risk := anyOf(n, tail)
	for d := 1; d <= c; d++ {
		logTail := math.Log1p(-tail)
		exactly := math.Exp(n * logTail) // Ψ(d); for d = c this is the whole probability
		if exactly == 0 {
			break // larger d have probability 0 too
		}
		if d < c {
			tail = min(1, tail+binomial(c, c-d, p))
			exactly *= -math.Expm1(n * (math.Log1p(-tail) - logTail))
		}
		risk += float64(exactly * anyOf(n, math.Pow(p, float64(d))))
	}
	return min(risk, 1)
}

// randomAvoidance sums over k, the number of downstream clones with only good inputs. Each downstream clone has only
// good inputs with probability (1-p)^n. The downstream clones are independent, because shuffling the clones of a
// group keeps them independent.
func randomAvoidance(n float64, c int, p float64) float64 {
	bad := anyOf(n, p)
	risk := 0.0
	for k := 0; k <= c; k++ {
		risk += float64(binomial(c, c-k, bad) * anyOf(n, math.Pow(p, float64(k))))
	}
	return min(risk, 1)
}

// binomial returns P(Bin(c,p) = i) for c up to maxClones. Up to this c, the number of ways is a finite float64.
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
