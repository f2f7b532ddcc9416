package machines

import "math"

// What a machine's factor probably is where most of its attempts were ended before they were done. Each is only a lower
// bound; but many of them, at ages to which others' attempts hardly live, are evidence.

const (
	gridStep = perOctave / 4 // bins between two factors of the grid
	maxGrid  = 20 * 4        // steps up to the largest Limit
)

// grid is what is held of a machine of which nothing is known: how likely each factor is against its class. Factors go
// by quarters of an octave, from 1 to Limit.
type grid struct {
	prior [maxGrid + 1]float64
	steps int
}

// alike is what the first steps of the grid get by how machines of a class differ that are in order: by a tenth,
// log-normally. So a machine that is a fifth slower is not taken for a slow one.
var alike = [...]float64{.832, .166, .0013}

// slowShare is how many machines are taken to be slow, by over f times with a probability of 1/f: half of them by 2 or
// more. It is about the chance of a healthy machine to be taken for a slow one because its attempts were killed for
// what was only bad luck, however long that goes on: evidence that is 1/p times as likely on a slow machine turns up
// on a healthy one with a probability of at most p (Ville's inequality). At a tenth of it a slow machine is known
// after half as many attempts again, at ten times of it after two thirds; see the table in the package's
// documentation.
const slowShare = 1e-3

func newGrid(limit, slow float64) (g grid) {
	for k := 0; k <= maxGrid && (k == 0 || factor(k) <= limit); k++ {
		g.prior[k] = float64(slow * (1/factor(k) - 1/factor(k+1))) // no fused multiply-add: one answer everywhere
		if k < len(alike) {
			g.prior[k] += alike[k]
		}
		g.steps++
	}
	return g
}

// factor returns the factor of a step of the grid.
func factor(k int) float64 { return edge(k*gridStep + octaves*perOctave) }

// told is a piece of evidence as the grid sees it.
type told struct {
	bin    int
	weight int // in eighths
	bound  bool
}

// tell returns a piece of evidence as the grid sees it, with what is left of it now.
func (r *Record) tell(e evidence) told {
	weight := int(math.Round(8 * e.weight(r.clock.Since, r.config.HalfLife)))
	return told{bin(float64(e.ratio)), weight, e.kind == bound}
}

// well is the share of the attempts on a slow machine that run as elsewhere: it is not slow all the time, and was not
// before it became so.
const well = 1. / 32

// likely returns how likely the evidence is on a machine that is so many bins slower than its class.
func (e told) likely(left *survivors, slower int) float64 {
	return power(float64((1-well)*e.chance(left, slower))+float64(well*e.chance(left, 0)), e.weight)
}

// chance is likely for an attempt during which the machine was that slow, for evidence that counts in full. A point
// counts with its neighbours, as few of the others may have hit its very bin.
func (e told) chance(left *survivors, slower int) float64 {
	at := e.bin - slower
	if e.bound {
		return left[min(max(at, 0), bins)]
	}
	return left[min(max(at-1, 0), bins-2)] - left[min(max(at+2, 2), bins)]
}

// power returns p to the power of so many eighths, from 0 to 8, by square roots, which are exact everywhere: evidence
// that counts half tells as much as its square root.
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

// posterior returns the median of what a machine's location may be, given all its evidence, how long attempts take on
// the others of its class, and the class's centre. Some microseconds.
func (r *Record) posterior(m *machine, centre float64) float64 {
	left := r.classes[m.class].spread.without(m, centre, r.config.Trust)
	var all [recent + MostRunning]told
	n := 0
	for _, e := range m.past[:m.pasts] {
		if e.kind != silent {
			all[n] = r.tell(e)
			n++
		}
	}
	for j := range m.present[:m.presents] {
		if e := m.present[j].evidence; e.kind != silent {
			all[n] = r.tell(e)
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
