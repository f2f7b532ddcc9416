package des

import "math/rand/v2"

// Draws makes random numbers that belong to what they are drawn for, and not to when: the third copy of a task is as
// lucky under one policy as under another, whatever else was drawn in between. Policies can so be compared on the same
// luck. Not safe for concurrent use.
type Draws struct {
	seed   uint64
	source *rand.PCG
	rand   *rand.Rand
}

// NewDraws returns the draws of a seed.
func NewDraws(seed uint64) *Draws {
	source := rand.NewPCG(0, 0)
	return &Draws{seed: seed, source: source, rand: rand.New(source)}
}

// For returns the source that belongs to the given numbers. It is valid until the next call. The seed is mixed before a
// number meets it: seed 1 for task 3 would otherwise be as lucky as seed 3 for task 1, and small seeds would deal out the
// same luck in another order.
func (d *Draws) For(of ...uint64) *rand.Rand {
	h := mix(d.seed)
	for _, x := range of {
		h = mix(h ^ x)
	}
	d.source.Seed(h, mix(h))
	return d.rand
}

// mix is the finaliser of SplitMix64 after its increment.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
