package machines

import "math"

// This file keeps the ratios of the attempts on the machines of a class. The lower bounds of one machine are
// compared with them: how probable is it that an attempt runs this long elsewhere?

const (
	perOctave = 16 // bins for each doubling of the ratio
	octaves   = 8  // doublings on either side of the typical time
	bins      = 2 * octaves * perOctave
)

// spread counts the remembered attempts on the machines of a class by their ratio. points counts known ratios, and
// bounds counts lower bounds, also of running attempts. Without the bounds only the quick attempts would count at
// first. Counts are integers, so a removal leaves no rounding error. Counts do not fade: a machine may change
// within an hour, but the distribution of times seldom does.
type spread struct{ points, bounds [bins]int }

// count adds n times the evidence of an attempt; -1 removes it. An attempt that had hardly begun does not count.
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

// countAll adds n times all the evidence of a machine.
func (s *spread) countAll(m *machine, n int) {
	for _, e := range m.past[:m.pasts] {
		s.count(e, n)
	}
	for j := range m.present[:m.presents] {
		s.count(m.present[j].evidence, n)
	}
}

// survivors is the share of attempts that reach the lower edge of each bin, and the upper edge of the last bin.
type survivors [bins + 1]float64

// without returns the survivors of a class without one of its machines, by the product-limit estimate [Kaplan and
// Meier 1958]. The argument guess adds this number of guessed attempts: half of them take longer than the class's
// centre, and a guessed attempt takes over x times the centre with a probability of 1/2x. So a time that was never
// seen is not impossible. If only a few attempts of other machines are known, the machine's own attempts prove
// less.
func (s *spread) without(m *machine, centre, guess float64) (left survivors) {
	own := spread{}
	own.countAll(m, 1)
	risk := 0
	for i := range bins {
		risk += s.points[i] + s.bounds[i] - own.points[i] - own.bounds[i]
	}
	left[0] = 1
	for i, guessed := 0, guess; i < bins; i++ {
		next := float64(guess * guessedBeyond(edge(i+1)/centre)) // no fused multiply-subtract
		points := s.points[i] - own.points[i]
		left[i+1] = left[i] * (1 - (float64(points)+(guessed-next))/(float64(risk)+guessed))
		risk -= points + s.bounds[i] - own.bounds[i]
		guessed = next
	}
	return left
}

// guessedBeyond is the share of the guessed attempts that take over x times the centre.
func guessedBeyond(x float64) float64 {
	if x < 1 {
		return 1 - float64(x/2) // a product with a half is exact, fused or not
	}
	return .5 / x
}

// roots are the powers of two by sixteenths. The roots are constants and are scaled exactly, so bins are equal on every
// architecture.
var roots = [perOctave]float64{
	1, 1.0442737824274138, 1.0905077326652577, 1.1387886347566916, 1.189207115002721, 1.241857812073484,
	1.2968395546510096, 1.3542555469368927, 1.4142135623730951, 1.4768261459394993, 1.5422108254079407,
	1.6104903319492543, 1.681792830507429, 1.7562521603732995, 1.8340080864093424, 1.9152065613971474,
}

// edge returns the lower edge of bin i, i >= 0.
func edge(i int) float64 { return math.Ldexp(roots[i%perOctave], i/perOctave-octaves) }

// bin returns the bin of a ratio, which may be before the first bin or beyond the last.
func bin(ratio float64) int {
	fraction, exponent := math.Frexp(ratio)
	i := 0
	for i+1 < perOctave && roots[i+1] <= 2*fraction {
		i++
	}
	return (exponent-1+octaves)*perOctave + i
}
