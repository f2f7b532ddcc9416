package engine_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/rules"
)

// silent hides the progress reports from a phase.
type silent struct{ *engine.Phase }

func (s silent) Poll(now time.Time, attempts []engine.Attempt) engine.Turn {
	for i := range attempts {
		attempts[i].AsOf, attempts[i].Progress.Done = time.Time{}, 0
	}
	return s.Phase.Poll(now, attempts)
}

// One machine of four is six times slower than the others. Each attempt has a slot at once, and without the
// slow machine the work takes 4.5 s. The default policy finds that the machine is slow, with or without sizes
// and progress.
func TestSlowMachineIsNotTakenForLongTasks(t *testing.T) {
	run := func(p restart.Policy, sized, quiet bool) time.Duration {
		c := fourMachines(64, 16, 6)
		for i := range c.work {
			c.work[i] = 2 + float64(i%7)/10
		}
		phase, err := engine.New(engine.Config{
			Tasks: 64, Interval: 500 * time.Millisecond, Policy: p, Machines: c.known(t, engine.MachinesConfig{}),
			Work: map[bool][]float64{true: c.work}[sized],
		})
		assert.NoError(t, err)
		var o observer = phase
		if quiet {
			o = silent{phase}
		}
		took, _ := drive(t, c, o, 500*time.Millisecond, nil)
		return took
	}
	naive := rules.Spark{Quantile: 0.5, Multiplier: 2, MinRuntime: restart.Off, SlowRate: restart.Off}
	for _, sized := range []bool{true, false} {
		for _, quiet := range []bool{true, false} {
			none, want, took := run(restart.Never{}, sized, quiet), run(naive, sized, quiet), run(nil, sized, quiet)
			assert.Greater(t, none.Seconds(), 15., "the slow machine costs time without a policy")
			assert.LessOrEqual(t, took, want, "sized %t, quiet %t", sized, quiet)
		}
	}
}

// Long tasks on all machines make no machine slow. Then the losses by trials stay bounded.
func TestLongTasksMakeNoMachineSlow(t *testing.T) {
	c := fourMachines(64, 16, 1)
	for i := range c.work {
		if i%5 == 0 {
			c.work[i] = 12
		}
	}
	phase, err := engine.New(engine.Config{
		Tasks: 64, Interval: 500 * time.Millisecond, Machines: c.known(t, engine.MachinesConfig{}), MaxFailures: math.MaxInt,
	})
	assert.NoError(t, err)
	_, log := drive(t, c, silent{phase}, 500*time.Millisecond, nil)
	copies := 0
	for _, a := range log {
		if a.Op == engine.Submit && a.Decision.Action == restart.Copy {
			copies++
		}
	}
	assert.LessOrEqual(t, copies, 8, "at most 8 of 13 long tasks are copied")
}
