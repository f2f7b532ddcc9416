package machines

import "math"

// How long attempts on a class's machines take against what is usual. The lower bounds of one machine are held against
// it: would an attempt have lived so long elsewhere?

const (
	perOctave = 16 // bins for each doubling
	octaves   = 8  // on either side of the usual time
	bins      = 2 * octaves * perOctave
)

// spread counts the attempts on the machines of a class, as far as the record holds them: those whose ratio is known,
// and those that lived at least so long, or do still. Without the latter only the quick would count at first. Counts
// are whole, so what is taken away again leaves nothing behind. They do not fade: a machine may change within an hour,
// how times spread seldom does.
type spread struct{ points, bounds [bins]int }

// count adds what an attempt has shown n times; -1 takes it away. One that had hardly begun says nothing.
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

// countAll counts all that a machine has shown.
func (s *spread) countAll(m *machine, n int) {
	for _, e := range m.past[:m.pasts] {
		s.count(e, n)
	}
	for j := range m.present[:m.presents] {
		s.count(m.present[j].evidence, n)
	}
}

// survivors is the share of attempts that live to the lower edge of each bin, and to the upper one of the last.
type survivors [bins + 1]float64

// without returns the survivors of a class without one of its machines, by the product-limit estimate [Kaplan and Meier
// 1958]. Attempts worth guess are added, half of which take longer than the class's centre, and x times as long with a
// probability of 1/2x. So what was never seen is not impossible, and the fewer others were seen, the less the machine's
// own attempts prove.
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

// guessedBeyond is the share of the guessed attempts that take over x times as long as usual.
func guessedBeyond(x float64) float64 {
	if x < 1 {
		return 1 - float64(x/2) // a product with a half, and not fused
	}
	return .5 / x
}

// roots are the powers of two by sixteenths. They are written down, and scaled exactly: bins are the same everywhere.
var roots = [perOctave]float64{
	1, 1.0442737824274138, 1.0905077326652577, 1.1387886347566916, 1.189207115002721, 1.241857812073484,
	1.2968395546510096, 1.3542555469368927, 1.4142135623730951, 1.4768261459394993, 1.5422108254079407,
	1.6104903319492543, 1.681792830507429, 1.7562521603732995, 1.8340080864093424, 1.9152065613971474,
}

// edge returns the lower edge of a bin that is not before the first.
func edge(i int) float64 { return math.Ldexp(roots[i%perOctave], i/perOctave-octaves) }

// bin returns the bin of a ratio, which may lie before the first or beyond the last.
func bin(ratio float64) int {
	fraction, exponent := math.Frexp(ratio)
	i := 0
	for i+1 < perOctave && roots[i+1] <= 2*fraction {
		i++
	}
	return (exponent-1+octaves)*perOctave + i
}
