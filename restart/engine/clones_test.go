package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// Small jobs get clones at their start, one job after another; two of the machines are 2 % slower than the others. A
// clone that is overtaken by another clone is no evidence that its machine is slow. No clone is killed as a third
// attempt, and each task has the same number of clones.
func TestClonesCountNothingAgainstTheirMachines(t *testing.T) {
	for _, policy := range []restart.Policy{restart.Never{}, restart.Mantri{}} {
		for clones := 1; clones <= 3; clones++ {
			c := &cluster{now: epoch, dying: 100 * time.Millisecond}
			for i := range 6 {
				speed := 1.0
				if i > 3 {
					speed = 0.98
				}
				c.machines = append(c.machines, simMachine{Machine: engine.Machine{Name: string(rune('a' + i)), Slots: 4}, speed: speed})
			}
			machines := c.known(t, engine.MachinesConfig{})
			for range 20 {
				c.attempts, c.work = nil, []float64{8, 8, 8}
				p, err := engine.New(engine.Config{
					Work: c.work, Interval: period, Policy: policy, Clones: clones, Machines: machines,
				})
				require.NoError(t, err)
				drive(t, c, p, period, func() { assert.Empty(t, append(machines.Resting(c.now), machines.Slow()...)) })
				l := p.Ledger()
				assert.Equal(t, 3*(clones-1), l.Clones)
				assert.Zero(t, l.Pruned+l.Copies+l.Restarts, "%v %d %v", policy, clones, l)
				p.Release()
			}
		}
	}
}

// A machine that leaves at a known time gets no new attempts, and an attempt that would not end there in time
// is copied elsewhere.
func TestAttemptOnALeavingMachineIsCopied(t *testing.T) {
	p, machines := newPhase(t, engine.Config{Tasks: 2, Slots: 4, Interval: time.Second},
		engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 2}, {Name: "b", Slots: 2}}})
	p.Poll(epoch, nil)
	running := func(i int, machine string, done float64) engine.Attempt {
		a := engine.Attempt{ID: []string{"0.0", "1.0"}[i], Task: i, State: engine.Running, Machine: machine, Begun: epoch}
		a.Progress.Done = done
		return a
	}
	p.Poll(at(10), []engine.Attempt{running(0, "a", 0.1), running(1, "b", 0.1)})
	machines.SetLeaving("a", at(40))
	var all []string
	for s := 11.0; s <= 20; s++ {
		all = append(all, lines(p.Poll(at(s), []engine.Attempt{running(0, "a", s/100), running(1, "b", s/100)}).Actions)...)
	}
	require.Len(t, all, 1, "%v", all)
	assert.Contains(t, all[0], "submit 0.1 on b")
}

// An engine that places is told to avoid a machine that leaves, until the machine stays after all.
func TestLeavingMachineIsAvoidedIfTheEnginePlaces(t *testing.T) {
	p, machines := newPhase(t, engine.Config{Tasks: 2, Slots: 1},
		engine.MachinesConfig{Machines: []engine.Machine{{Name: "a"}, {Name: "b"}}})
	machines.SetLeaving("a", at(40))
	assert.Equal(t, []string{"submit 0.0 not on a"}, lines(p.Poll(at(0), nil).Actions))
	machines.SetLeaving("a", time.Time{})
	done := []engine.Attempt{{ID: "0.0", State: engine.Succeeded, Machine: "b"}}
	assert.Equal(t, []string{"submit 1.0"}, lines(p.Poll(at(1), done).Actions))
}
