package clone

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/merge/mergetest"
	"github.com/straggler-go/straggler/internal/snapshot"
)

const machinesOfFleet = 5

// indexOf returns the index of a machine in a process. Each process numbers the machines differently.
func indexOf(process, node int) int { return (node + process) % machinesOfFleet }

func member(t testing.TB, process int) *Blacklist {
	b, err := NewBlacklist(machinesOfFleet, BlacklistConfig{
		Window: time.Minute, MinTasks: 2, MaxShare: .4, Origin: mergetest.Name(process),
	})
	require.NoError(t, err)
	for node := range machinesOfFleet {
		require.True(t, b.SetName(indexOf(process, node), fmt.Sprint("node-", node)))
	}
	return b
}

func TestLawsOfMerge(t *testing.T) {
	mergetest.Laws(t, mergetest.Fleet[*Blacklist]{
		New: func(process int) *Blacklist { return member(t, process) },
		See: func(b *Blacklist, process int, now time.Time, random *rand.Rand) {
			node := random.IntN(1 + random.IntN(machinesOfFleet))
			b.Observe(now, indexOf(process, node), random.IntN(2+node) == 0)
		},
		Answer: func(b *Blacklist, now time.Time) (answer string) {
			for node := range machinesOfFleet {
				for machine := range machinesOfFleet {
					if b.fleet.Name(machine) == fmt.Sprint("node-", node) {
						banned := b.Banned(now, machine)
						p, known := b.Predicted(machine)
						answer += fmt.Sprintln(node, banned, p, known)
					}
				}
			}
			return answer
		},
	})
}

func TestBlacklistsMerge(t *testing.T) {
	now := time.Unix(6000, 0)
	a, b := member(t, 0), member(t, 1)
	for node := range machinesOfFleet {
		a.Observe(now, indexOf(0, node), node == 3)
		b.Observe(now, indexOf(1, node), node == 3)
	}
	assert.False(t, b.SetName(0, "node-0"), "machine 0 has a different name already")
	assert.False(t, b.SetName(machinesOfFleet, "x"))
	now = now.Add(time.Minute)
	assert.Empty(t, b.AppendBanned(nil, now), "one task on each machine is too few")
	delta, err := a.AppendDelta(nil, b.AppendVersion(nil))
	require.NoError(t, err)
	require.NoError(t, b.Merge(now, delta))
	assert.Equal(t, []int{indexOf(1, 3)}, b.AppendBanned(nil, now), "observations of the window that has ended must count")
	assert.Empty(t, b.AppendBanned(nil, now.Add(time.Minute)), "the observations are older than the latest window")
	p, known := b.Predicted(indexOf(1, 3))
	assert.True(t, known)
	assert.Equal(t, .6, p)
	_, known = b.Predicted(-1)
	assert.False(t, known)
	mergetest.Refuses(t, b, now, delta)
	assert.ErrorContains(t, member(t, 2).Merge(now.Add(-3*time.Minute), delta), "clone: delta of scheduler-0 is 2m0")
	assert.ErrorContains(t, new(Blacklist).Merge(now, delta), "Config.Origin")
}

// A prediction uses 15 windows. Among equally bad machines, the first name is banned.
func TestASharedPredictionUses15Windows(t *testing.T) {
	start := time.Unix(6000, 0)
	a := member(t, 1)
	for node := range 2 {
		a.Observe(start, indexOf(1, node), true)
		a.Observe(start, indexOf(1, node), true)
	}
	a.Observe(start, indexOf(1, 2), false)
	a.Observe(start, indexOf(1, 2), false)
	delta, err := a.AppendDelta(nil, nil)
	require.NoError(t, err)
	now := start.Add(14 * time.Minute)
	a.Observe(now, indexOf(1, 2), true)
	a.Observe(now, indexOf(1, 2), true)
	a.Banned(now.Add(time.Minute), 0)
	old, _ := a.Predicted(indexOf(1, 2))
	assert.InDelta(t, (1+(0+2./3)/2)/2, old, 1e-9)
	a.Banned(now.Add(2*time.Minute), 0)
	old, _ = a.Predicted(indexOf(1, 2))
	assert.Equal(t, 1., old, "the first window must not count any more")

	b := member(t, 4) // in this process node-0 is the last machine
	b.config.MaxShare = .2
	require.NoError(t, b.Merge(start.Add(time.Minute), delta))
	assert.Equal(t, []int{indexOf(4, 0)}, b.AppendBanned(nil, start.Add(time.Minute)))
}

func FuzzMerge(f *testing.F) {
	a, now := member(f, 0), time.Unix(6000, 0)
	for k := range 40 {
		a.Observe(now, k%machinesOfFleet, k%3 == 0)
	}
	delta, _ := a.AppendDelta(nil, nil)
	f.Add(delta[:len(delta)-4])
	f.Fuzz(func(t *testing.T, data []byte) {
		b, now := member(t, 1), now.Add(time.Minute)
		if b.Merge(now, snapshot.Seal(data, 0)) != nil {
			return
		}
		again, err := b.AppendDelta(nil, nil)
		require.NoError(t, err)
		require.NoError(t, member(t, 2).Merge(now, again))
		saved, _ := b.MarshalBinary()
		require.NoError(t, new(Blacklist).UnmarshalBinary(saved))
		require.LessOrEqual(t, len(b.AppendBanned(nil, now)), 2)
	})
}

// A later version reads the files that this version writes, or refuses them by their version.
func TestDeltasOfThisVersionAreRead(t *testing.T) {
	b, now := member(t, 0), time.Unix(6000, 0)
	b.Observe(now, 1, true)
	b.Observe(now.Add(time.Second), 2, false)
	b.Banned(now.Add(time.Minute), 1)
	mergetest.Kept(t, b, member(t, 1), now.Add(time.Minute),
		"0380e0ba84bf03000000000000e03f333333333333d33f9a9999999999d93f040b7363686564756c65722d3080"+
			"e0ba84bf0301d85e0080e0adc2dee0020080e0adc2dee002050000000000000000000000000000000200000000"+
			"0b7363686564756c65722d3080f085da2c80f9ffda2c80f9ffda2c028080f3bd9fdd0202066e6f64652d310202"+
			"80a8c9f7a6dd0202066e6f64652d32020005066e6f64652d30066e6f64652d31066e6f64652d32066e6f64652d"+
			"33066e6f64652d342cabb52e",
		"620200066e6f64652d31050132010b7363686564756c65722d3080f085da2c0080f9ffda2c0280f882ad160202"+
			"00c0843d02000220a51883")
}

// After the clock steps back, a delta is from the future and is refused. The state saved afterwards can be restored.
func TestStateSavedAfterARefusalIsRestored(t *testing.T) {
	a, b := member(t, 0), member(t, 1)
	a.Observe(time.Unix(6000, 0), indexOf(0, 0), true)
	b.Banned(time.Unix(6000, 0), 0)
	delta, err := a.AppendDelta(nil, nil)
	require.NoError(t, err)
	require.ErrorContains(t, b.Merge(time.Unix(5000, 0), delta), "ahead of this clock")
	saved, err := b.MarshalBinary()
	require.NoError(t, err)
	require.NoError(t, new(Blacklist).UnmarshalBinary(saved))
}
