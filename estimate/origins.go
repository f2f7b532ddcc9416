package estimate

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

const (
	driftShare   = .02 // how far the mean may be off, about, before all samples are divided by their factors again
	driftUpdates = 16  // but at most once in that part of as many updates as there are samples
	mostShift    = 1e6 // the largest share by which one sample counts as off, so that sums stay finite
)

// origins knows on which machine each sample of a [UnitTimes] was taken, and by which factor it was divided. It stays
// empty where all machines are alike.
type origins struct {
	places   map[int]int32 // in machines, by the host's number
	machines []origin
	machine  []int32 // by sample: the place of its machine
	drift    float64 // the sum of origin.off over all machines
	updates  int     // since all samples were divided by the factors of their machines
}

// origin is a machine on which samples were taken.
type origin struct {
	number int
	factor float64 // as it was last
	// divisor is a running mean of the factors by which its samples were divided. Samples that have left still count in it,
	// and factors above and below the last one cancel out.
	divisor float64
	off     float64 // the distance of factor from divisor as a share, times the number of samples
	samples int
}

// factor asks for a machine's factor; 1 if there are no factors, or none that makes sense.
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

// measure finds again how far the samples of a machine are off. Only the distance counts: a factor that goes to and fro
// has moved no sample.
func (o *origins) measure(m *origin) {
	off := m.shift()
	o.drift = max(o.drift+(off-m.off), 0) // rounding must not take it below 0
	m.off = off
}

// shift returns what origin.off is to be.
func (m *origin) shift() float64 {
	return float64(min(math.Abs(m.factor-m.divisor)/min(m.factor, m.divisor), mostShift) * float64(m.samples)) // not fused
}

// join notes where a sample was taken, after its machine's factor was asked for.
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
	if m.samples == 1 { // what an earlier sample was divided by counts no more
		m.divisor = factor
	} else {
		m.divisor += (factor - m.divisor) / float64(m.samples)
	}
	o.measure(m)
}

// leave notes that a sample is gone.
func (o *origins) leave(sample int) {
	if sample < len(o.machine) {
		m := &o.machines[o.machine[sample]]
		m.samples--
		o.measure(m)
	}
}

// of returns the factor of the machine of a sample.
func (o *origins) of(sample int) float64 { return o.machines[o.machine[sample]].factor }

// moved reports, at an update, whether the factors have moved so far that all of so many samples are to be divided
// again.
func (o *origins) moved(samples int) bool {
	o.updates++
	return o.drift > driftShare*float64(samples) && o.updates >= samples/driftUpdates
}

// settled notes that all samples have been divided by the factors as they are.
func (o *origins) settled() {
	o.drift, o.updates = 0, 0
	for i := range o.machines {
		m := &o.machines[i]
		m.divisor, m.off = m.factor, 0
	}
}
