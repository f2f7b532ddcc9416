package des

import "math/rand/v2"

// Draws makes random numbers that depend on numbers such as a task and an attempt, and not on the order of the calls.
// For example, the third attempt of a task has the same luck under every policy. So policies are compared with the
// same luck. Draws is not safe for concurrent use.
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

// For returns the random source for the given numbers. The source is valid until the next call. The seed is mixed
// before the numbers are added. Without this, seed 1 with task 3 would have the same luck as seed 3 with task 1, and
// small seeds would only change the order of the same luck.
func (d *Draws) For(of ...uint64) *rand.Rand {
	h := mix(d.seed)
	for _, x := range of {
		h = mix(h ^ x)
	}
	d.source.Seed(h, mix(h))
	return d.rand
}

// mix returns the next output of SplitMix64: the increment, and then its finalizer.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
