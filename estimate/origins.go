package estimate

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

const (
	driftShare   = .02 // how far the mean may be off, about, before all samples are divided by their factors again
	driftUpdates = 16  // but at most once in that part of as many updates as there are samples
)

// origins knows on which machine each sample of a [UnitTimes] was taken, and by which factor it was divided. It stays
// empty where all machines are alike.
type origins struct {
	places   map[int]int32 // in machines, by the host's number
	machines []origin
	machine  []int32 // by sample: the place of its machine
	drift    float64 // how far factors have moved since the unit times were found, summed over the samples
	updates  int     // since then
}

type origin struct {
	number  int
	factor  float64 // as it was last
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
		m := &o.machines[place]
		o.drift += float64(math.Abs(factor-m.factor) / min(factor, m.factor) * float64(m.samples))
		m.factor = factor
	}
	return factor
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
		o.machines = append(o.machines, origin{number: number, factor: factor})
	}
	for len(o.machine) <= sample {
		o.machine = append(o.machine, 0)
	}
	o.machine[sample] = place
	o.machines[place].samples++
}

// leave notes that a sample is gone.
func (o *origins) leave(sample int) {
	if sample < len(o.machine) {
		o.machines[o.machine[sample]].samples--
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
func (o *origins) settled() { o.drift, o.updates = 0, 0 }
