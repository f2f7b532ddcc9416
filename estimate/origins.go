package estimate

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

const (
	// all samples are divided by the factors again if the mean of the samples is wrong by about this share
	driftShare = .02
	// After all samples were divided by the factors, at least len(samples)/driftUpdates updates must follow before
	// all samples are divided again.
	driftUpdates = 16
	mostShift    = 1e6 // the largest relative error that is attributed to one sample; keeps the sums finite
)

// origins records the machine of each sample of a [UnitTimes]. The time of a sample is divided by the factor of its
// machine: how many times longer tasks take on that machine than on average. origins also records by which factors
// the samples were divided, because the factors change. If UnitTimes has no Factors, origins stays empty.
type origins struct {
	places   map[int]int32 // index in machines, keyed by the number that the host gives to the machine
	machines []origin
	machine  []int32 // by index of the sample: the index in machines of the sample's machine
	drift    float64 // the sum of origin.off over all machines
	updates  int     // updates since the last time that all samples were divided by the current factors
}

// origin is a machine on which samples were taken.
type origin struct {
	number int
	factor float64 // the newest known factor: how many times longer tasks take on this machine
	// divisor is a running mean of the factors by which the samples of this machine were divided. The mean includes
	// samples that were removed later. A factor above the newest factor and a factor below it cancel each other
	// out.
	divisor float64
	off     float64 // relative difference between factor and divisor, times the number of samples
	samples int
}

// factor asks the host's factors for the factor of a machine: how many times longer tasks take on this machine than
// on average. If that number has changed, factor stores the new number. The result is 1 if factors is nil, or if
// the answer is not a positive finite number.
func (o *origins) factor(factors Factors, machine int) float64 {
	if factors == nil {
		return 1
	}
	factor := factors.Factor(machine)
	if !(factor > 0) || !num.Finite(factor) {
		factor = 1
	}
	if place, ok := o.places[machine]; ok {
		if m := &o.machines[place]; m.factor != factor {
			m.factor = factor
			o.measure(m)
		}
	}
	return factor
}

// measure computes again by how much the samples of a machine are wrong because the factor of the machine has
// changed. Only the current difference matters: after a factor has risen and fallen back, the samples are right.
func (o *origins) measure(m *origin) {
	off := m.shift()
	o.drift = max(o.drift+(off-m.off), 0) // rounding must not make the drift negative
	m.off = off
}

// shift computes the value of origin.off: the relative difference between factor and divisor, times the number of
// samples.
func (m *origin) shift() float64 {
	// the conversion prevents a fused multiply-add
	return float64(min(math.Abs(m.factor-m.divisor)/min(m.factor, m.divisor), mostShift) * float64(m.samples))
}

// join records the machine of a new sample. number is the host's number of the machine. The caller must have
// obtained the factor from the method factor just before.
func (o *origins) join(sample int, number int, factor float64) {
	place, ok := o.places[number]
	if !ok {
		if o.places == nil {
			o.places = map[int]int32{}
		}
		place = int32(len(o.machines))
		o.places[number] = place
		o.machines = append(o.machines, origin{number: number, factor: factor, divisor: factor})
	}
	for len(o.machine) <= sample {
		o.machine = append(o.machine, 0)
	}
	o.machine[sample] = place
	m := &o.machines[place]
	m.samples++
	if m.samples == 1 { // the divisors of earlier samples, now removed, no longer matter
		m.divisor = factor
	} else {
		m.divisor += (factor - m.divisor) / float64(m.samples)
	}
	o.measure(m)
}

// leave records that a sample was removed.
func (o *origins) leave(sample int) {
	if sample < len(o.machine) {
		m := &o.machines[o.machine[sample]]
		m.samples--
		o.measure(m)
	}
}

// of returns the factor of the machine on which a sample was taken.
func (o *origins) of(sample int) float64 { return o.machines[o.machine[sample]].factor }

// moved records an update of the samples. It reports whether the factors of the machines have changed so much that
// all samples must be divided again. The argument is the number of samples.
func (o *origins) moved(samples int) bool {
	o.updates++
	return o.drift > driftShare*float64(samples) && o.updates >= samples/driftUpdates
}

// settled records that all samples have been divided by the current factors.
func (o *origins) settled() {
	o.drift, o.updates = 0, 0
	for i := range o.machines {
		m := &o.machines[i]
		m.divisor, m.off = m.factor, 0
	}
}
