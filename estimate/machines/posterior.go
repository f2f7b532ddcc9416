package machines

import "math"

// This file computes the probable factor of a machine on which most attempts were ended early. Each such attempt
// gives only a lower bound: it would have taken at least this long. If many attempts reach an age that few attempts
// on other machines reach, these bounds are evidence that the machine is slow.

const (
	gridStep = perOctave / 4 // number of bins of the class spread between two neighbouring factors of the grid
	maxGrid  = 20 * 4        // number of steps of the grid up to the largest allowed Limit
)

// grid is a list of possible factors of a machine in comparison with its class, and prior is the probability of
// each factor before any evidence. The first factor is 1, each further factor is 2^(1/4) times the factor before,
// and the last factor is at most Limit.
type grid struct {
	prior [maxGrid + 1]float64
	steps int
}

// healthyPrior has three probabilities: that a healthy machine takes as long as its class, 2^(1/4) = 1.19 times as
// long, and 1.41 times as long. Healthy machines differ by a tenth, with a log-normal distribution. So a machine
// that is a fifth slower is not mistaken for a slow machine.
var healthyPrior = [...]float64{.832, .166, .0013}

// slowShare is the share of machines that are slow, before any evidence. The probability that a slow machine is
// over f times slower is 1/f. So half of the slow machines are 2 or more times slower.
//
// slowShare is also about the probability that a healthy machine is ever called slow because its attempts were
// killed by bad luck. The reason is Ville's inequality: evidence that is 1/p times as likely on a slow machine
// occurs on a healthy machine with a probability of at most p. If slowShare were a tenth of its value, the record
// would need half as many attempts again to detect a slow machine. If slowShare were ten times its value, the
// record would need two thirds of the attempts. The second table in the package's documentation has the numbers.
const slowShare = 1e-3

// newGrid returns the grid for a limit from 1 to 1e6. The factor with the number maxGrid is above each such limit.
func newGrid(limit, slow float64) (g grid) {
	for k := 0; factor(k) <= limit; k++ {
		// The conversion prevents a fused multiply-add.
		g.prior[k] = float64(slow * (1/factor(k) - 1/factor(k+1)))
		if k < len(healthyPrior) {
			g.prior[k] += healthyPrior[k]
		}
		g.steps++
	}
	return g
}

// factor returns the k-th factor of the grid, which is 2^(k/4).
func factor(k int) float64 { return edge(k*gridStep + octaves*perOctave) }

// gridEvidence is the evidence of one attempt in a form for fast computation: its ratio as the number of a bin, and
// its weight in eighths. If bound is true, the ratio is only a lower bound.
type gridEvidence struct {
	bin    int
	weight int // in eighths: 8 is full weight
	bound  bool
}

// onGrid converts the evidence of an attempt to a gridEvidence, with the present weight of the attempt.
func (r *Record) onGrid(e evidence) gridEvidence {
	weight := int(math.Round(8 * e.weight(r.clock.Since, r.config.HalfLife)))
	return gridEvidence{bin(float64(e.ratio)), weight, e.kind == bound}
}

// normalShare is the share of the attempts on a slow machine that run as fast as on other machines. The reason is
// that a slow machine is not slow all the time, and that its earlier attempts may have run before it became slow.
const normalShare = 1. / 32

// likely returns the likelihood of an attempt's evidence, if the machine is slower than its class. The argument
// slower is by how many bins of the ratio the machine is slower, and left is the distribution of the ratios on the
// other machines of the class.
func (e gridEvidence) likely(left *survivors, slower int) float64 {
	return power(float64((1-normalShare)*e.chance(left, slower))+float64(normalShare*e.chance(left, 0)), e.weight)
}

// chance returns the likelihood of an attempt's evidence if the machine was slower by that many bins during the
// whole attempt, and if the attempt has its full weight. A known ratio is treated as a range that includes the
// neighbouring bins, because few attempts on other machines may be in exactly the same bin.
func (e gridEvidence) chance(left *survivors, slower int) float64 {
	at := e.bin - slower
	if e.bound {
		return left[min(max(at, 0), bins)]
	}
	return left[min(max(at-1, 0), bins-2)] - left[min(max(at+2, 2), bins)]
}

// power returns p to the power of eighths/8, for eighths from 0 to 8. It uses square roots, which are exact on all
// architectures. With this power, evidence of half weight has the square root of its likelihood.
func power(p float64, eighths int) float64 {
	if eighths == 8 {
		return p
	}
	of := 1.
	for bit := 4; bit > 0; bit /= 2 {
		if p = math.Sqrt(p); eighths&bit != 0 {
			of *= p
		}
	}
	return of
}

// posterior returns the probable location of a machine, which is the median of its attempts' ratios. It is used if
// many attempts gave only lower bounds, so that the median cannot be computed directly. posterior computes the
// probability of each factor of the grid from all evidence of the machine, and from the times of attempts on the
// other machines of the class. The result is the median of these factors, times the class's centre. posterior takes
// some microseconds.
func (r *Record) posterior(m *machine, centre float64) float64 {
	left := r.classes[m.class].spread.without(m, centre, r.config.Trust)
	var all [recent + MostRunning]gridEvidence
	n := 0
	for _, e := range m.past[:m.pasts] {
		if e.kind != silent {
			all[n] = r.onGrid(e)
			n++
		}
	}
	for j := range m.present[:m.presents] {
		if e := m.present[j].evidence; e.kind != silent {
			all[n] = r.onGrid(e)
			n++
		}
	}
	var upTo [maxGrid + 1]float64
	sum := 0.
	for k := range r.grid.steps {
		p := r.grid.prior[k]
		for _, e := range all[:n] {
			p *= e.likely(&left, k*gridStep)
		}
		sum += p
		upTo[k] = sum
	}
	k := 0
	for upTo[k] < sum/2 {
		k++
	}
	return min(factor(k)*centre, r.config.Limit)
}
