package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// One machine of four is ten times slower. In shadow mode each task there is shown once, and every attempt runs to its
// end.
func TestShadowShowsEachTaskOnce(t *testing.T) {
	run := func(policy restart.Policy, show func(int, restart.Decision)) (*engine.Phase, []engine.Action) {
		c := fourMachines(16, 16, 10)
		p, err := engine.New(engine.Config{
			Work: c.work, Interval: period, Policy: policy, Machines: c.known(t, engine.MachinesConfig{}), Shadow: show,
		})
		require.NoError(t, err)
		_, log := drive(t, c, p, period, nil)
		return p, log
	}
	_, without := run(restart.Never{}, nil)
	decisions := map[int]int{}
	p, log := run(restart.Mantri{}, func(task int, d restart.Decision) {
		decisions[task]++
		assert.Contains(t, []restart.Action{restart.Copy, restart.Restart}, d.Action)
	})
	assert.Equal(t, without, log)
	assert.Zero(t, p.Ledger().Copies+p.Ledger().Restarts)
	assert.Equal(t, map[int]int{3: 1, 7: 1, 11: 1, 15: 1}, decisions)
}
