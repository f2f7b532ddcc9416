package estimate

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

const (
	driftShare = .02 // share by which the mean may be wrong, about; beyond this, all samples are divided again
	// Samples per update: all samples are divided again at most once in len(samples)/driftUpdates updates.
	driftUpdates = 16
	mostShift    = 1e6 // the largest share by which one sample counts as wrong, so that sums stay finite
)

// origins records, for each sample of a [UnitTimes], the machine that it was taken on and the factor that divided
// it. Without Factors, origins stays empty.
type origins struct {
	places   map[int]int32 // index in machines, by the host's number of the machine
	machines []origin
	machine  []int32 // by sample: the index of its machine in machines
	drift    float64 // the sum of origin.off over all machines
	updates  int     // updates since all samples were last divided by the factors of their machines
}

// origin is a machine on which samples were taken.
type origin struct {
	number int
	factor float64 // the last factor known
	// divisor is a running mean of the factors that have divided the samples of this machine. Samples that have
	// left still count in the mean, and factors above and below the last factor cancel out.
	divisor float64
	off     float64 // the distance of factor from divisor as a share, times the number of samples
	samples int
}

// factor returns the factor of a machine. The factor is 1 if factors is nil or its answer is not a positive finite
// number.
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

// measure computes again how far the samples of a machine are off. Only the present distance counts: a factor that
// rises and then falls back leaves no distance.
func (o *origins) measure(m *origin) {
	off := m.shift()
	o.drift = max(o.drift+(off-m.off), 0) // rounding must not make it negative
	m.off = off
}

// shift computes the value of origin.off.
func (m *origin) shift() float64 {
	return float64(min(math.Abs(m.factor-m.divisor)/min(m.factor, m.divisor), mostShift) * float64(m.samples)) // not fused
}

// join records the machine of a sample. The caller has asked for the machine's factor before.
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
	if m.samples == 1 { // the divisors of earlier samples no longer count
		m.divisor = factor
	} else {
		m.divisor += (factor - m.divisor) / float64(m.samples)
	}
	o.measure(m)
}

// leave records that a sample is gone.
func (o *origins) leave(sample int) {
	if sample < len(o.machine) {
		m := &o.machines[o.machine[sample]]
		m.samples--
		o.measure(m)
	}
}

// of returns the factor of the machine of a sample.
func (o *origins) of(sample int) float64 { return o.machines[o.machine[sample]].factor }

// moved counts an update and reports whether the factors have changed enough to divide all samples again. The
// argument is the number of samples.
func (o *origins) moved(samples int) bool {
	o.updates++
	return o.drift > driftShare*float64(samples) && o.updates >= samples/driftUpdates
}

// settled records that all samples have been divided by the present factors.
func (o *origins) settled() {
	o.drift, o.updates = 0, 0
	for i := range o.machines {
		m := &o.machines[i]
		m.divisor, m.off = m.factor, 0
	}
}
