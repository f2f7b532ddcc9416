package main

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"

	"straggler-examples/internal/des"
)

// What docs/progress.md says of the worlds: Mantri saves time in each of them at no more than 1.5 % more slot time;
// and where attempts are slow wherever they run and tasks wait, no other policy ends earlier, or with less slot time.
// A record that knows the bad machine from a phase in which Mantri let nothing end there saves as much as one from a
// phase without a policy.
func TestWorlds(t *testing.T) {
	const seeds = 60 // over 20 the one bad machine's share is off by as much as a point
	require.Equal(t, "mantri", worldPolicies()[1].name)
	for _, w := range worlds {
		policies, compared := worldPolicies(), w.badLuck > 0 && w.tasks > w.slots
		if !compared {
			policies = policies[:2]
		}
		row, err := w.row(policies, seeds)
		require.NoError(t, err)
		mantri := row[1]
		assert.Less(t, mantri.wall, 95., w.name)
		assert.Less(t, mantri.used, 101.5, w.name)
		if !w.record {
			assert.InDelta(t, 100, row[0].wall, 1e-9, w.name)
			assert.InDelta(t, 100, row[0].used, 1e-9, w.name)
		}
		if w.second {
			assert.Less(t, mantri.wall, row[0].wall+1, w.name)
			assert.Less(t, mantri.used, row[0].used, w.name)
		}
		if !compared {
			continue
		}
		for i, other := range row {
			assert.LessOrEqual(t, mantri.wall, other.wall, "%s: %s", w.name, policies[i].name)
			assert.LessOrEqual(t, mantri.used, other.used, "%s: %s", w.name, policies[i].name)
		}
	}
}

// Without a policy one wave takes as long as its longest task, and uses the sum of all.
func TestWorldWithoutPolicy(t *testing.T) {
	w := world{tasks: 40, slots: 50, badLuck: 0.05}
	used := map[time.Duration]bool{}
	for seed := range uint64(20) {
		var want outcome
		draws := des.NewDraws(seed)
		for task := range uint64(w.tasks) {
			luck := draws.For(0, task, 0)
			takes := time.Duration((15 + 10*luck.Float64()) * float64(time.Second))
			if luck.Float64() < w.badLuck {
				takes *= 8
			}
			want.wall = max(want.wall, takes)
			want.used += takes
		}
		got, err := w.run(restart.Never{}, seed)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		used[got.used] = true
	}
	assert.Len(t, used, 20, "each seed has a luck of its own")
}

func TestWorldsFlags(t *testing.T) {
	assert.ErrorContains(t, run([]string{"-worlds", "log.json"}, io.Discard), "log.json")
	assert.ErrorContains(t, run([]string{"-worlds", "-seeds", "0"}, io.Discard), "-seeds is 0")
}
