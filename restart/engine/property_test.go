package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// eager copies and restarts as often as it can.
type eager struct{ seed uint64 }

func (e eager) Decide(t restart.Task, p restart.Phase) restart.Decision {
	h := e.seed
	for _, c := range t.Attempts {
		h = h*31 + uint64(c.Elapsed/time.Millisecond) + uint64(c.Machine+2)
	}
	d := restart.Decision{Reason: restart.BeyondPeers, Attempt: int(h / 7 % uint64(len(t.Attempts)))}
	switch {
	case h%5 == 0 && p.FreeSlots > 0 && len(t.Attempts) < 4:
		d.Action, d.Attempt, d.Gain = restart.Copy, 0, time.Duration(h%1000)
	case h%11 == 0 && t.Restarts < 3:
		d.Action = restart.Restart
	case h%13 == 0 && len(t.Attempts) > 1:
		d.Action = restart.Kill
	}
	return d
}

// randomCluster draws a cluster in which everything may go wrong, and a configuration for it. One machine never
// dies.
func randomCluster(t *testing.T, seed uint64) (*cluster, engine.Config) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	c := &cluster{
		now: epoch, rng: rng, dispatch: time.Duration(rng.IntN(2000)) * time.Millisecond,
		dying: time.Duration(rng.IntN(1500)) * time.Millisecond, stale: time.Duration(rng.IntN(500)) * time.Millisecond,
	}
	for i := range 1 + rng.IntN(5) {
		c.machines = append(c.machines, simMachine{
			Machine: engine.Machine{Name: fmt.Sprint("h", i), Slots: 1 + rng.IntN(4)}, speed: 0.05 + rng.Float64(),
		})
	}
	c.work = make([]float64, rng.IntN(30))
	for i := range c.work {
		c.work[i] = 0.2 + 3*rng.Float64()
	}
	faulty := rng.IntN(3) == 0
	c.fail = func(task int) bool { return faulty && task%4 == 0 && rng.IntN(2) == 0 }
	policies := []restart.Policy{
		nil, rules.LATE{MinAge: time.Second}, rules.Dryad{}, rules.Spark{}, rules.MapReduce{}, eager{seed}, eager{seed + 1},
	}
	c.places = rng.IntN(3) == 0
	config := engine.Config{
		Work: c.work, Interval: period, Policy: policies[rng.IntN(len(policies))], Clones: max(0, rng.IntN(6)-2),
		Machines: c.known(t, engine.MachinesConfig{Rest: 5 * time.Second}), MaxLost: 100, Journal: true,
	}
	if c.places {
		for _, h := range c.machines {
			config.Slots += h.Slots
		}
		config.Preloaded = rng.IntN(2) == 0
		for i := range c.work {
			if config.Preloaded {
				c.submit(i, fmt.Sprint("a", i), "", nil)
			}
		}
	}
	return c, config
}

// On any cluster, under any policy:
//
//   - every task ends,
//   - no machine runs more attempts than it has slots,
//   - no two attempts of a task run on one machine while there are others,
//   - the journal replays exactly.
func TestNothingIsLostAndNothingOverbooked(t *testing.T) {
	for seed := range cases(50, 300) {
		c, config := randomCluster(t, seed)
		p, err := engine.New(config)
		require.NoError(t, err)
		polls := 0
		_, log := drive(t, c, p, period, func() {
			polls++
			for i, h := range c.machines {
				if !c.places {
					require.LessOrEqual(t, c.load(i), h.Slots, "seed %d: machine %s", seed, h.Name)
				}
				if i > 0 && c.rng.IntN(2000) == 0 {
					c.machines[i].dead = true
					if c.places { // the engine knows that the machine is dead, and says so
						config.Machines.SetDown(h.Name, true)
					}
				}
			}
		})
		checkActions(t, seed, c, p, log)
		if t.Failed() {
			return
		}
	}
}

func checkActions(t *testing.T, seed uint64, c *cluster, p *engine.Phase, log []engine.Action) {
	t.Helper()
	won := map[int]bool{}
	for _, a := range c.attempts {
		won[a.task] = won[a.task] || a.state == engine.Succeeded
	}
	givenUp := p.GivenUp()
	for task := range c.work {
		assert.NotEqual(t, won[task], slices.Contains(givenUp, task), "seed %d: task %d has a result or was given up", seed, task)
	}
	assert.Equal(t, len(c.work)-len(givenUp), p.Ledger().Finished, "seed %d", seed)
	assert.Zero(t, p.Ledger().Ignored, "seed %d", seed)
	names := map[string]bool{}
	for _, a := range log {
		if a.Op == engine.Submit {
			assert.False(t, names[a.ID], "seed %d: %s was submitted twice", seed, a.ID)
			names[a.ID] = true
			assert.NotContains(t, a.Avoid, a.Machine, "seed %d", seed)
			assert.True(t, len(a.Avoid) < len(c.machines), "seed %d: no machine is left", seed)
		}
	}
	replayed, err := journal.Replay(p.Journal(), journal.Options{Configure: func(_ int, rc *tracker.Config) {
		if _, custom := rc.Policy.(eager); rc.Policy == nil || custom {
			rc.Policy = eager{seed}
		}
	}})
	if err == nil { // a custom policy has no name in the journal
		assert.Equal(t, string(p.Journal()), string(replayed), "seed %d", seed)
	}
}

// The same reports give the same actions.
func TestSameReportsGiveSameActions(t *testing.T) {
	for seed := range uint64(20) {
		var logs [2][]engine.Action
		for i := range logs {
			c, config := randomCluster(t, seed)
			p, err := engine.New(config)
			require.NoError(t, err)
			_, logs[i] = drive(t, c, p, period, nil)
		}
		require.Equal(t, logs[0], logs[1], "seed %d", seed)
	}
}
