package tracker

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A machine is suspect if the expected number of machines with as many overdue attempts by chance is at most one in
// fifty.
func TestASuspectMachineIsHardlyChance(t *testing.T) {
	for _, one := range []struct {
		overdue, ended int32
		share          float64
		machines       int
		want           bool
	}{
		{overdue: 1, share: 0, machines: 2},                              // it may be the task's own attempt
		{overdue: 16, share: 0.25, machines: 4, want: true},              // all attempts of its wave
		{overdue: 2, share: 0.05, machines: 20},                          // expected .05
		{overdue: 2, share: 0.05, machines: 7, want: true},               // expected .0175
		{overdue: 2, ended: 1, share: 0.05, machines: 7},                 // 3 ways: expected .0525
		{overdue: 3, ended: 1, share: 0.099, machines: 5, want: true},    // 4 ways: expected .0194
		{overdue: 16, ended: 30, share: 0.25, machines: 4},               // chance alone makes 11.5 of 46 overdue
		{overdue: 1 << 20, ended: 1 << 20, share: 1, machines: 1 << 20},  // an overflow makes no machine suspect
		{overdue: 1 << 20, share: 1e-300, machines: 1 << 20, want: true}, // an underflow clears no machine
	} {
		m := suspicion{overdue: one.overdue, ended: one.ended}
		assert.Equal(t, one.want, m.isSuspect(one.share, one.machines), "%+v", one)
	}
}

// If machines differ by chance alone, hardly one phase in fifty has a suspect machine.
func TestFewMachinesAreSuspectByChance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const phases, machines, slots = 4000, 10, 8
	wrong := 0
	for range phases {
		share, any := 0.05+0.3*r.Float64(), false
		for range machines {
			var m suspicion
			for range slots {
				if r.Float64() < share {
					m.overdue++
				} else {
					m.ended++
				}
			}
			any = any || m.isSuspect(share, machines)
		}
		if any {
			wrong++
		}
	}
	assert.LessOrEqual(t, wrong, phases/50)
	assert.Positive(t, wrong, "some machine must be suspect, or the test shows nothing")
}
