package machines

import "math"

// This file computes the probable factor of a machine on which most attempts were ended early. Each such attempt is
// only a lower bound. Many bounds at ages that few attempts elsewhere reach are evidence.

const (
	gridStep = perOctave / 4 // bins between two factors of the grid
	maxGrid  = 20 * 4        // steps up to the largest Limit
)

// grid is the prior of a machine: the probability of each factor against its class, before any evidence. The
// factors of the grid rise by quarters of an octave, from 1 to Limit.
type grid struct {
	prior [maxGrid + 1]float64
	steps int
}

// healthyPrior is the probability of the first steps of the grid for healthy machines. Their factors differ by a
// tenth, log-normally, so a machine that is a fifth slower is not taken for a slow machine.
var healthyPrior = [...]float64{.832, .166, .0013}

// slowShare is the share of machines that are slow in the prior; a slow machine is over f times slower with a
// probability of 1/f. So half of the slow machines are 2 or more times slower.
//
// slowShare is also about the probability that a healthy machine is ever taken for slow because its attempts were
// killed by bad luck. The reason is Ville's inequality: evidence that is 1/p times as likely on a slow machine
// occurs on a healthy machine with a probability of at most p. With a tenth of slowShare a slow machine needs half
// as many attempts again before it is known. With ten times slowShare it needs two thirds of the attempts. See the
// table in the package's documentation.
const slowShare = 1e-3

func newGrid(limit, slow float64) (g grid) {
	for k := 0; k <= maxGrid && (k == 0 || factor(k) <= limit); k++ {
		g.prior[k] = float64(slow * (1/factor(k) - 1/factor(k+1))) // no fused multiply-add: one answer everywhere
		if k < len(healthyPrior) {
			g.prior[k] += healthyPrior[k]
		}
		g.steps++
	}
	return g
}

// factor returns the factor of a step of the grid.
func factor(k int) float64 { return edge(k*gridStep + octaves*perOctave) }

// gridEvidence is a piece of evidence in the units of the grid.
type gridEvidence struct {
	bin    int
	weight int // in eighths
	bound  bool
}

// onGrid returns a piece of evidence in the units of the grid, with its present weight.
func (r *Record) onGrid(e evidence) gridEvidence {
	weight := int(math.Round(8 * e.weight(r.clock.Since, r.config.HalfLife)))
	return gridEvidence{bin(float64(e.ratio)), weight, e.kind == bound}
}

// normalShare is the share of the attempts on a slow machine that run as on other machines. A slow machine is not
// slow all the time, and it was not slow before it became so.
const normalShare = 1. / 32

// likely returns the likelihood of the evidence on a machine that is slower than its class by the given number of
// bins.
func (e gridEvidence) likely(left *survivors, slower int) float64 {
	return power(float64((1-normalShare)*e.chance(left, slower))+float64(normalShare*e.chance(left, 0)), e.weight)
}

// chance returns the likelihood if the machine was slower by that number during the whole attempt and the evidence
// counts in full. A point includes the neighbouring bins, because few attempts elsewhere may have hit its exact
// bin.
func (e gridEvidence) chance(left *survivors, slower int) float64 {
	at := e.bin - slower
	if e.bound {
		return left[min(max(at, 0), bins)]
	}
	return left[min(max(at-1, 0), bins-2)] - left[min(max(at+2, 2), bins)]
}

// power returns p to the power of eighths/8, for eighths from 0 to 8, by square roots, which are exact everywhere.
// Evidence that counts half has the square root of its likelihood.
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

// posterior returns the median of the posterior of a machine's location. posterior uses all evidence of the machine, the
// times of attempts on the other machines of its class, and the class's centre. Some microseconds.
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
