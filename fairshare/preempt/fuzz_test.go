package preempt

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/exact"
)

// FuzzPlan plans for a random cluster with arbitrary usage and tasks. Plan must not panic, and no task may be
// killed twice. With StrictFloor no pool may be below its share after the plan.
func FuzzPlan(f *testing.F) {
	f.Add(uint64(1), []byte{9, 9, 9, 1, 2, 3}, int64(2))
	f.Add(uint64(7), []byte{200, 255, 0, 77}, int64(-1))
	f.Fuzz(func(t *testing.T, seed uint64, raw []byte, free int64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		c := randomCluster(t, rng, 3)
		config := randomConfig(rng)
		config.StrictFloor = seed%2 == 1
		s, err := New(c.tree, config)
		require.NoError(t, err)
		usage := make([]int64, len(c.pools))
		copy(usage, c.usage)
		tasks := c.tasks
		for i, b := range raw {
			usage[i%len(usage)] += int64(int8(b)) << (i % 60)
			tasks = append(tasks, Task{Pool: int(int8(b)) % 12, Slots: int64(int8(b)) << (i % 60), Dying: b&1 == 1,
				Protected: b&6 == 6})
		}
		require.NoError(t, s.Observe(time.Unix(0, 0), c.shares, usage))
		for i := range usage {
			c.usage[i] = max(0, usage[i])
			if len(c.children(i)) > 0 {
				c.usage[i] = 0
			}
		}
		for i := range raw {
			s.SetWaiting(i, Waiting{Units: int64(int8(raw[i])) << (i % 60), OneMachine: raw[i]&1 == 1})
		}
		plan := s.Plan(time.Unix(7200, 0), tasks, []int64{free})
		lost := make([]int64, len(usage))
		for _, v := range plan.Victims {
			task := tasks[v.Task]
			require.Equal(t, Killed, plan.Outcomes[v.Task])
			plan.Outcomes[v.Task] = UnknownPool // a second victim of this task would fail
			for i := task.Pool; i >= 0 && !c.under(v.For, i); i = c.pools[i].Parent.Index() {
				lost[i] = exact.Add(lost[i], task.slots())
			}
		}
		for i := range lost {
			if lost[i] > 0 && config.StrictFloor {
				require.GreaterOrEqual(t, c.used(i)-lost[i], c.shares[i].Slots, "pool %d must keep its share", i)
			}
		}
		for _, claim := range plan.Claims {
			require.Positive(t, claim.Deficit)
			require.GreaterOrEqual(t, claim.Granted, int64(0))
			require.Less(t, claim.Granted-claim.Deficit, s.watch[claim.Pool].waiting.size())
		}
	})
}
