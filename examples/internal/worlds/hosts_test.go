package worlds

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/cluster"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// lucky returns the time of each further attempt of a task of a world whose machines are alike.
func lucky(w *World, seed int) func(task int) time.Duration {
	l, next := newLuck(Work, seed), make([]int, w.Tasks)
	return func(task int) time.Duration {
		of, f := w.task(l, 0, task), w.fate(l, Linear, 0, task, next[task])
		next[task]++
		return time.Duration((of.seconds + f.more) * f.slow * 1e9)
	}
}

// inReplay plays a world in the host that replays logs.
func inReplay(t *testing.T, w *World, p restart.Policy, seed int) Outcome {
	takes := lucky(w, seed)
	phase := &sim.Phase{Name: w.Name, Interval: 10 * time.Second, Machines: w.machines()}
	for i := range w.Tasks {
		phase.Tasks = append(phase.Tasks, sim.Task{Work: 1, Attempts: []sim.Attempt{{Duration: takes(i)}}})
		phase.Order = append(phase.Order, int32(i))
	}
	for i := range w.machines() {
		phase.Slots = append(phase.Slots, sim.Slot{Machine: i})
	}
	phase.Draw = func(_ *rand.Rand, task, _ int, _ bool) time.Duration { return takes(task) }
	r, err := sim.Run(phase, sim.Options{Policy: p})
	require.NoError(t, err)
	return Outcome{Time: r.Time.Seconds(), Slots: r.Used.Seconds()}
}

// inCluster plays a world in the simulated cluster.
func inCluster(t *testing.T, w *World, p restart.Policy, seed int) Outcome {
	takes := lucky(w, seed)
	phase := cluster.Phase{Luck: func(_ *rand.Rand, task, _, _ int) float64 { return takes(task).Seconds() }}
	for range w.Tasks {
		phase.Tasks = append(phase.Tasks, cluster.Task{Seconds: 1})
	}
	c := cluster.Config{Interval: 10 * time.Second, Restart: p, Jobs: []cluster.Job{{Phases: []cluster.Phase{phase}}}}
	for range w.machines() {
		c.Machines = append(c.Machines, cluster.Machine{Slots: [2]int{1}})
	}
	r, err := cluster.Run(c)
	require.NoError(t, err)
	return Outcome{Time: r.End.Seconds(), Slots: r.Used[cluster.Map].Seconds()}
}

// The host of this package goes through all slots to find its next event. It is slow and obvious, and shares no code
// with the hosts that replay logs and that simulate a cluster. On the same luck, all three take the same time without a
// policy, and under a policy nearly the same: they break ties in another order. With STRAGGLER_LIVES the test plays more
// policies and seeds.
func TestHostsAgree(t *testing.T) {
	policies, seeds := map[string]restart.Policy{"never": restart.Never{}, "default": restart.LeastCost{}, "spark": rules.Spark{}}, 2
	if long {
		policies["mantri"], policies["late"], policies["dryad"], seeds = restart.Mantri{}, rules.LATE{}, rules.Dryad{}, 10
	}
	for _, name := range []string{"15 % attempts 8x/3w", "5 % attempts 8x/1w", "lognormal 1 sizes, unknown/3w", "healthy/3w"} {
		w := find(t, name)
		for policy, p := range policies {
			var own, replay, cluster Outcome
			for seed := 1; seed <= seeds; seed++ {
				o, err := w.Run(Game{Policy: p, Model: Linear, Set: Work, Seed: seed})
				require.NoError(t, err)
				r, c := inReplay(t, &w, p, seed), inCluster(t, &w, p, seed)
				if policy == "never" {
					for _, other := range []Outcome{r, c} {
						assert.InDelta(t, o.Time, other.Time, 1e-6, name)
						assert.InDelta(t, o.Slots, other.Slots, 1e-4, name)
					}
				}
				own, replay, cluster = sum(own, o), sum(replay, r), sum(cluster, c)
			}
			for host, o := range map[string]Outcome{"replay": replay, "cluster": cluster} {
				assert.InEpsilon(t, own.Time, o.Time, .02, "%s in %s under %s", name, host, policy)
				assert.InEpsilon(t, own.Slots, o.Slots, .01, "%s in %s under %s", name, host, policy)
			}
		}
	}
}

func sum(a, b Outcome) Outcome { return Outcome{Time: a.Time + b.Time, Slots: a.Slots + b.Slots} }
