package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// A copy whose slot is on its task's machine goes to another machine, if there is room.
func TestCopyGoesToAMachineWithoutItsTask(t *testing.T) {
	for slots, want := range map[int][]string{1: {"submit 0.1 on b not on a: copy beyond-peers"}, 0: nil} {
		p, _ := newPhase(t, engine.Config{Tasks: 2, Policy: twice{}},
			engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 4}, {Name: "b", Slots: 1 + slots}}})
		first := []engine.Attempt{
			{ID: "0.0", State: engine.Running, Machine: "a"}, {ID: "x", Task: 1, State: engine.Running, Machine: "b"},
			{ID: "y", Task: 1, State: engine.Running, Machine: "a"}, // so task 1 needs no copy
		}
		p.Poll(epoch, first)
		var all []string
		for s := range 3 {
			all = append(all, lines(p.Poll(at(float64(s)), first).Actions)...)
		}
		assert.Equal(t, want, all, "%d free slots on b", slots)
	}
}

// asked counts how often the policy is asked.
type asked struct{ times *int }

func (a asked) Decide(restart.Task, restart.Phase) restart.Decision {
	*a.times++
	return restart.Decision{}
}

func TestPushAsksThePolicyOnceAnInterval(t *testing.T) {
	times := 0
	p, _ := newPhase(t, engine.Config{Tasks: 1, Slots: 2, Policy: asked{&times}}, engine.MachinesConfig{})
	p.Push(at(100), nil)
	p.Push(at(100.1), []engine.Attempt{{ID: "0.0", State: engine.Running}})
	for _, s := range []float64{105, 105.5, 105.9, 106, 106.9, 107} {
		before := times
		p.Push(at(s), nil)
		assert.Equal(t, s == 105 || s == 106 || s == 107, times > before, "at %v", s)
	}
}

// An order that does not permute the tasks is ignored, and is included in Ledger.Ignored.
func TestAnOrderThatLosesATaskIsCounted(t *testing.T) {
	for name, order := range map[string]func(time.Time, []int){
		"loses one":   func(_ time.Time, w []int) { w[0] = w[1] },
		"invents one": func(_ time.Time, w []int) { w[0] = -1 },
	} {
		p, _ := newPhase(t, engine.Config{Tasks: 3, Slots: 1, Order: order}, engine.MachinesConfig{})
		require.Len(t, p.Poll(epoch, nil).Actions, 1)
		assert.Equal(t, 1, p.Ledger().Ignored, name)
	}
}

// A missing attempt that was seen to run is treated as a loss of its machine. A missing attempt that was never seen
// does not.
func TestMissingAttemptIsALossOfItsMachineOnlyIfItWasSeen(t *testing.T) {
	for seen, resting := range map[bool][]string{true: {"a"}, false: nil} {
		p, h := newPhase(t, engine.Config{Tasks: 2, Policy: restart.Never{}},
			engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}}, Rest: time.Hour})
		p.Poll(at(0), nil)
		other := engine.Attempt{ID: "1.0", Task: 1, State: engine.Running, Machine: "b"}
		list := []engine.Attempt{other}
		if seen {
			list = append(list, engine.Attempt{ID: "0.0", State: engine.Running, Machine: "a"})
		}
		p.Poll(at(1), list)
		for s := 2; s < 100; s++ {
			p.Poll(at(float64(s)), []engine.Attempt{other})
		}
		assert.Equal(t, resting, h.Resting(at(100)), "seen: %v", seen)
	}
}
