package estimate

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// factorsOf has the factor of each machine.
type factorsOf [4]float64

func (f *factorsOf) Factor(machine int) float64 { return f[machine] }

// onMachines is a phase with a hundred finished samples on each of four machines.
func onMachines(t *testing.T, factors *factorsOf) *UnitTimes {
	u, err := NewUnitTimes(UnitTimesConfig{Factors: factors, FixedOverhead: true})
	require.NoError(t, err)
	for i := range 400 {
		u.Finish(NoSample, Run{Age: span(10), Work: 1, Machine: i % 4})
	}
	return u
}

// The samples of a machine were divided by a factor, the divisor. If the factor of the machine rises and falls
// around this divisor, the samples are not divided again, however often the factor changes. If the factor moves
// away and stays there, they are divided again.
func TestOnlyTheDistanceOfAFactorMovesSamples(t *testing.T) {
	factors := &factorsOf{1, 1, 1, 1}
	u := onMachines(t, factors)
	for i := range 2000 {
		factors[0] = 1 + .001*float64(i%2)
		u.Running(NoSample, Run{Age: span(10), Done: 1, Work: 1, Machine: 0})
	}
	assert.InDelta(t, 0, u.origin.drift, 2, "the drift is at most a thousandth of each sample")
	assert.Greater(t, u.origin.updates, 2000, "no sample was divided again")

	for factors[1] = 1; factors[1] < 1.5; factors[1] += .01 {
		u.Running(NoSample, Run{Age: span(10), Done: 1, Work: 1, Machine: 1})
	}
	assert.Less(t, u.origin.updates, 2000)
}

// The drift equals its definition after any additions and removals.
func TestDriftIsTheSumOverTheMachines(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	factors := &factorsOf{1, 2, 3, 1e300}
	u := onMachines(t, factors)
	ids := make([]int, 50)
	for i := range ids {
		ids[i] = NoSample
	}
	for range 3000 {
		i, machine := r.IntN(len(ids)), r.IntN(4)
		switch r.IntN(8) {
		case 0:
			factors[machine] = .5 + r.Float64()
		case 1:
			factors[machine] = []float64{1e-300, 1e300, 1}[r.IntN(3)]
		case 2:
			u.Drop(ids[i])
			ids[i] = NoSample
		default:
			ids[i] = u.Running(ids[i], Run{Age: span(1 + 9*r.Float64()), Done: 1, Work: 1, Machine: machine})
		}
		samples, drift := make([]int, len(u.origin.machines)), 0.
		for at := range u.samples {
			if u.holds(at) {
				samples[u.origin.machine[at]]++
			}
		}
		for k, m := range u.origin.machines {
			require.Equal(t, samples[k], m.samples)
			require.Equal(t, m.shift(), m.off)
			require.Greater(t, m.divisor, 0.)
			drift += m.off
		}
		require.InDelta(t, drift, u.origin.drift, 1e-6+1e-9*drift)
	}
}
