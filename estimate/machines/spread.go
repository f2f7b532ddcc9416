package machines

import "math"

// This file keeps the ratios of the attempts on the machines of a class. The lower bounds of a single machine are
// compared with these ratios, to find out how probable it is that an attempt runs this long on another machine.

const (
	perOctave = 16 // number of bins for each doubling of the ratio
	octaves   = 8  // number of doublings below the typical time, and number of doublings above it
	bins      = 2 * octaves * perOctave
)

// spread is a histogram of the attempts that are remembered of the machines of a class, by their ratio. points has
// the number of known ratios in each bin. bounds has the number of lower bounds in each bin, including bounds of
// running attempts. Without the bounds, the histogram would contain only the quick attempts at first. The numbers
// are integers, so a removal leaves no rounding error. The numbers do not fade with age: a machine may change
// within an hour, but the distribution of times seldom does.
type spread struct{ points, bounds [bins]int }

// count adds the evidence of an attempt n times, or removes it if n is -1. An unfinished attempt that had run for
// less than a quarter of its typical time is ignored.
func (s *spread) count(e evidence, n int) {
	if e.seen < full {
		return
	}
	switch i := min(max(bin(float64(e.ratio)), 0), bins-1); e.kind {
	case point:
		s.points[i] += n
	case bound:
		s.bounds[i] += n
	}
}

// countAll adds all the evidence of a machine n times, or removes it if n is -1.
func (s *spread) countAll(m *machine, n int) {
	for _, e := range m.past[:m.pasts] {
		s.count(e, n)
	}
	for j := range m.present[:m.presents] {
		s.count(m.present[j].evidence, n)
	}
}

// survivors has, for each bin, the share of attempts whose ratio reaches the lower edge of the bin. The last entry
// is the share of attempts whose ratio reaches the upper edge of the last bin.
type survivors [bins + 1]float64

// without returns the distribution of the ratios on the machines of a class, except for machine m, by the
// product-limit estimate [Kaplan and Meier 1958]. The distribution also includes guessed attempts, and the argument
// guess is their number. Half of the guessed attempts take longer than the centre of the class. For x of at least
// 1, the probability that a guessed attempt takes over x times the centre is 1/2x. So a time that was never seen is
// not impossible. If only a few attempts on other machines are known, the guessed attempts make the attempts of m
// prove less.
func (s *spread) without(m *machine, centre, guess float64) (left survivors) {
	own := spread{}
	own.countAll(m, 1)
	risk := 0
	for i := range bins {
		risk += s.points[i] + s.bounds[i] - own.points[i] - own.bounds[i]
	}
	left[0] = 1
	for i, guessed := 0, guess; i < bins; i++ {
		// The conversion prevents a fused multiply-subtract.
		next := float64(guess * guessedBeyond(edge(i+1)/centre))
		points := s.points[i] - own.points[i]
		left[i+1] = left[i] * (1 - (float64(points)+(guessed-next))/(float64(risk)+guessed))
		risk -= points + s.bounds[i] - own.bounds[i]
		guessed = next
	}
	return left
}

// guessedBeyond returns the share of the guessed attempts that take over x times the centre of the class.
func guessedBeyond(x float64) float64 {
	if x < 1 {
		return 1 - float64(x/2) // the product with a half is exact, so fusing changes nothing
	}
	return .5 / x
}

// roots are the powers of two with the exponents 0, 1/16, 2/16, ..., 15/16. The roots are constants, and
// multiplying them by powers of two is exact. So bins are equal on all architectures.
var roots = [perOctave]float64{
	1, 1.0442737824274138, 1.0905077326652577, 1.1387886347566916, 1.189207115002721, 1.241857812073484,
	1.2968395546510096, 1.3542555469368927, 1.4142135623730951, 1.4768261459394993, 1.5422108254079407,
	1.6104903319492543, 1.681792830507429, 1.7562521603732995, 1.8340080864093424, 1.9152065613971474,
}

// edge returns the lower edge of bin i, as a ratio. i must not be negative.
func edge(i int) float64 { return math.Ldexp(roots[i%perOctave], i/perOctave-octaves) }

// bin returns the number of the bin to which a ratio belongs. The number is negative if the ratio is below the
// first bin, and bins or more if the ratio is above the last bin.
func bin(ratio float64) int {
	fraction, exponent := math.Frexp(ratio)
	i := 0
	for i+1 < perOctave && roots[i+1] <= 2*fraction {
		i++
	}
	return (exponent-1+octaves)*perOctave + i
}
