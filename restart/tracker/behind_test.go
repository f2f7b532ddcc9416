package tracker

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A machine is behind if the ways in which so many of its copies could be overdue, by chance and on any machine, are at
// most one in fifty.
func TestBehindIsHardlyChance(t *testing.T) {
	for _, one := range []struct {
		overdue, ended int32
		share          float64
		machines       int
		want           bool
	}{
		{overdue: 1, share: 0, machines: 2},                              // one may be the task's own
		{overdue: 16, share: 0.25, machines: 4, want: true},              // all of its wave
		{overdue: 2, share: 0.05, machines: 20},                          // .05
		{overdue: 2, share: 0.05, machines: 7, want: true},               // .0175
		{overdue: 2, ended: 1, share: 0.05, machines: 7},                 // 3 ways: .0525
		{overdue: 3, ended: 1, share: 0.099, machines: 5, want: true},    // 4 ways: .0194
		{overdue: 16, ended: 30, share: 0.25, machines: 4},               // in 46 there are 11.5
		{overdue: 1 << 20, ended: 1 << 20, share: 1, machines: 1 << 20},  // no overflow into a yes
		{overdue: 1 << 20, share: 1e-300, machines: 1 << 20, want: true}, // nor underflow into a no
	} {
		m := machine{overdue: one.overdue, ended: one.ended}
		assert.Equal(t, one.want, m.isBehind(one.share, one.machines), "%+v", one)
	}
}

// Of machines that differ by chance alone, hardly one in fifty phases has one that is called behind.
func TestBehindByChanceIsRare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const phases, machines, slots = 4000, 10, 8
	wrong := 0
	for range phases {
		share, any := 0.05+0.3*r.Float64(), false
		for range machines {
			var m machine
			for range slots {
				if r.Float64() < share {
					m.overdue++
				} else {
					m.ended++
				}
			}
			any = any || m.isBehind(share, machines)
		}
		if any {
			wrong++
		}
	}
	assert.LessOrEqual(t, wrong, phases/50)
	assert.Positive(t, wrong, "the bound says nothing")
}
