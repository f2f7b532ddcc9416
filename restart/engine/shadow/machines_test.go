package shadow

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart/engine"
)

func TestMachinesHaveTheSlotsThatWereUsed(t *testing.T) {
	var attempts []engine.Attempt
	run := func(machine string, begun, ended time.Duration) {
		a := engine.Attempt{Machine: machine, Begun: at(begun)}
		if ended > 0 {
			a.Ended = at(ended)
		}
		attempts = append(attempts, a)
	}
	run("b", 10, 20) // begins when the other has ended: one slot
	run("b", 0, 10)
	for i := range time.Duration(3) {
		run("a", i, 10)
	}
	run("a", 9, 0) // still runs
	run("a", 11, 12)
	attempts = append(attempts, engine.Attempt{Machine: "c"}, engine.Attempt{}) // have not begun
	for total, want := range map[int][]int{
		-1: {}, 0: {}, 1: {0, 1, 0}, 2: {1, 1, 0}, 4: {3, 1, 0}, 5: {4, 1, 0}, 6: {4, 1, 1}, 7: {4, 2, 1}, 13: {5, 4, 4},
	} {
		var list []engine.Machine
		for i, slots := range want {
			if slots > 0 {
				list = append(list, engine.Machine{Name: string(rune('a' + i)), Slots: slots})
			}
		}
		got := Machines(slices.Clone(attempts), []engine.Machine{{Name: "c"}, {Name: "a"}}, total)
		assert.Equal(t, len(list), len(got), "%d: %v", total, got)
		if len(list) > 0 {
			assert.Equal(t, list, got, total)
		}
	}
	assert.Empty(t, Machines(nil, nil, 10))
	known := []engine.Machine{{Name: "x", Slots: 2}, {Name: "y", Slots: 1}}
	assert.Equal(t, known, Machines(attempts, known, 10), "machines with slots are known")
}
