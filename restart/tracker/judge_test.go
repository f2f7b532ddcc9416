package tracker

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
)

// A task runs on machine 0, earlier attempts of it ran on other machines, and machine 3 is bad. A new attempt avoids all
// of them, as long as a machine is left. If none is left, it may run again where an earlier attempt ran, and avoids
// machines 0 and 3 only.
func TestABadMachineIsAvoidedAlsoAfterAttemptsOnAllMachines(t *testing.T) {
	for _, c := range []struct {
		past     []int
		machines int // 0 if not known
		want     []int
	}{
		{[]int{1, 2}, 5, []int{0, 3, 1, 2}},
		{[]int{1, 2}, 4, []int{0, 3}},
		{[]int{1, 2, 1, 0}, 4, []int{0, 3}},
		{[]int{1, 1, 1}, 4, []int{0, 3, 1}},
		{[]int{1, 2}, 0, []int{0, 3, 1, 2}},
	} {
		var j judge
		d := restart.Decision{Action: restart.Copy}
		view := restart.Task{Attempts: []restart.Attempt{{Machine: 0}}, PastMachines: c.past}
		j.addAvoid(&d, &view, &restart.Phase{Machines: c.machines}, []int{3})
		var got []int
		for i := range d.Avoid.Len() {
			got = append(got, d.Avoid.At(i))
		}
		assert.Equal(t, c.want, got, "%+v", c)
	}
}
