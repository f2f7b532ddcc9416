// Package risk gives the probability that a job straggles under each way of cloning that Dolly compares: the analysis
// behind its choices. A host that clones does not need it; package clone holds the decisions.
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
	// TaskLevel launches every task c times and takes the first copy of each task. One phase. It is the zero value, and
	// what clone.Count is about.
	TaskLevel Scheme = iota
	// JobLevel launches the whole job c times and takes the first job that ends. One phase.
	JobLevel
	// Contention is task-level cloning of two phases of n tasks each, where all copies of a downstream task read the
	// upstream copy that ends first, however slow that makes the transfer (CC).
	Contention
	// Avoidance is task-level cloning of two phases where each upstream copy is read by one copy of every downstream
	// task (CAC). Pairing is coordinated: the good copies of all upstream tasks go to the same downstream copies, as
	// the paper's equation assumes without saying so.
	Avoidance
	// RandomAvoidance is Avoidance without coordination: which downstream copies an upstream copy goes to is left to
	// chance, each upstream task by itself. It is far worse than Avoidance, and what careless pairing gives. The paper
	// does not treat it.
	RandomAvoidance
)

var schemeNames = [...]string{"task-level", "job-level", "contention", "avoidance", "random-avoidance"}

// String returns the scheme's name.
func (s Scheme) String() string { return enum.Name(schemeNames[:], s) }

// MarshalText returns the scheme's name; an error for a value that does not exist.
func (s Scheme) MarshalText() ([]byte, error) { return enum.Text(schemeNames[:], s) }

// UnmarshalText sets the scheme by its name.
func (s *Scheme) UnmarshalText(text []byte) error { return enum.Parse(schemeNames[:], text, s) }

// place is that of errors.
const place = "clone/risk"

// maxCopies is the largest c for which Of treats the two schemes that avoid contention: not much above it, the number
// of ways to choose copies is no float64.
const maxCopies = 1000

// Of returns the probability that a job of n tasks, or of two phases of n tasks each for the last three schemes,
// straggles when it is cloned to c copies by the scheme and every copy straggles with probability p independently
// [Dolly §3.1, §4.2].
//
// The paper's equation (2), for Avoidance, is misprinted: the probability that exactly d copies are fine in the worst
// clone group is Ψ(d)-Ψ(d+1), not Ψ(d)-Ψ(d-1), which is negative. The correct one is used, in a form without
// cancellation, so that small risks keep their digits.
//
// It is an error if n or c is less than 1, if p is not in [0, 1), if the scheme is unknown, or if c exceeds 1000 for
// the two that avoid contention. O(1), and O(c²) for these two; no allocation except for the error.
func Of(s Scheme, n, c int, p float64) (float64, error) {
	switch {
	case n < 1:
		return 0, check.Bad(place, "n", n, "1 task or more")
	case c < 1:
		return 0, check.Bad(place, "c", c, "1 copy or more")
	case !(p >= 0 && p < 1):
		return 0, check.Bad(place, "p", p, "a probability in [0, 1)")
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
		if c > maxCopies {
			return 0, check.Badf(place, "c", c, "at most %d copies for %v", maxCopies, s)
		}
		if s == Avoidance {
			return avoidance(tasks, c, p), nil
		}
		return randomAvoidance(tasks, c, p), nil
	}
	return 0, check.Named(place, "scheme", s, schemeNames[:])
}

// power returns q^c. math.Pow multiplies, and its error grows with c; that of the other form only with c log q.
func power(q float64, c int) float64 {
	if c <= maxCopies {
		return math.Pow(q, float64(c))
	}
	return math.Exp(float64(c) * num.Log(q))
}

// anyOf returns 1-(1-q)^n, the probability that at least one of n independent events of probability q happens.
func anyOf(n, q float64) float64 { return -math.Expm1(n * math.Log1p(-q)) }

// avoidance sums over d, the smallest number of upstream copies that are fine in any of the n groups:
//
//	P(d = 0) + Σ_{d=1..c} [Ψ(d)-Ψ(d+1)] (1-(1-p^d)^n),   Ψ(d) = (1-q_d)^n,   q_d = P(Bin(c,p) > c-d)
//
// where P(d = 0) = 1-Ψ(1) and Ψ(c+1) = 0. The q_d are sums of positive terms, and a difference of two Ψ is taken as a
// product, so nothing cancels.
func avoidance(n float64, c int, p float64) float64 {
	tail := binomial(c, c, p) // q_1: all copies straggle
	risk := anyOf(n, tail)
	for d := 1; d <= c; d++ {
		logTail := math.Log1p(-tail)
		exactly := math.Exp(n * logTail) // Ψ(d), all of which counts if d = c
		if exactly == 0 {
			break // nor can more copies be fine everywhere
		}
		if d < c {
			tail = min(1, tail+binomial(c, c-d, p))
			exactly *= -math.Expm1(n * (math.Log1p(-tail) - logTail))
		}
		risk += float64(exactly * anyOf(n, math.Pow(p, float64(d))))
	}
	return min(risk, 1)
}

// randomAvoidance sums over k, the number of downstream copies that got only good inputs. Each does with probability
// (1-p)^n, independently, because shuffling the copies of a group keeps them independent.
func randomAvoidance(n float64, c int, p float64) float64 {
	bad := anyOf(n, p)
	risk := 0.0
	for k := 0; k <= c; k++ {
		risk += float64(binomial(c, c-k, bad) * anyOf(n, math.Pow(p, float64(k))))
	}
	return min(risk, 1)
}

// binomial returns P(Bin(c,p) = i) for c up to maxCopies, the largest for which the number of ways is a finite float64.
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
