package preempt

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

// A Preemptor that was restored from a snapshot gives the same plans as the original Preemptor.
func TestARestoredPreemptorAnswersAsBefore(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 33))
	planned := 0
	for range 300 {
		c := randomCluster(t, rng, 5)
		config := randomConfig(rng)
		config.Cooldown = time.Minute
		s, err := New(c.tree, config)
		require.NoError(t, err)
		now := time.Unix(rng.Int64N(1e9), 0)
		for range 12 {
			now = now.Add(time.Duration(rng.Int64N(int64(3*time.Minute))) - 20*time.Second)
			if leaf := rng.IntN(len(c.pools)); rng.IntN(3) == 0 {
				s.SetWaiting(leaf, Waiting{Units: rng.Int64N(4), OneMachine: rng.IntN(2) == 0})
			}
			usage := make([]int64, len(c.pools))
			for i := range usage {
				if usage[i] = c.usage[i]; rng.IntN(4) == 0 {
					usage[i] = rng.Int64N(10)
				}
			}
			data, err := s.MarshalBinary()
			require.NoError(t, err)
			restored, err := New(c.tree, config)
			require.NoError(t, err)
			require.NoError(t, restored.UnmarshalBinary(data))
			again, err := restored.MarshalBinary()
			require.NoError(t, err)
			require.Equal(t, data, again)

			require.NoError(t, s.Observe(now, c.shares, usage))
			require.NoError(t, restored.Observe(now, c.shares, usage))
			want := s.Plan(now, c.tasks, []int64{2})
			planned += len(want.Victims)
			got := restored.Plan(now, c.tasks, []int64{2})
			assert.ElementsMatch(t, want.Victims, got.Victims)
			want.Victims, got.Victims = nil, nil // an empty slice and nil are equal here
			require.Equal(t, want, got)
			s = restored
		}
	}
	require.Greater(t, planned, 100)
}

func TestSnapshotsOfOthersAreRefused(t *testing.T) {
	three, _ := watched(t, make([]fairshare.Pool, 3), 0, Config{})
	two, _ := watched(t, make([]fairshare.Pool, 2), 0, Config{})
	data, err := three.MarshalBinary()
	require.NoError(t, err)
	assert.EqualError(t, two.UnmarshalBinary(data), "fairshare/preempt: Preemptor: snapshot: field 1 (number of pools): has 3 pools, want 2")
	snapshottest.Flips(t, data, three.UnmarshalBinary)
	for _, bad := range [][]byte{nil, {0}, {2, 3}, data[:len(data)-1], append(data, 0)} {
		assert.ErrorContains(t, three.UnmarshalBinary(bad), "fairshare/preempt: ")
	}
}

// Every release reads the snapshots of the releases before it.
func TestCommittedSnapshotsAreRead(t *testing.T) {
	pools := []fairshare.Pool{{}, {Parent: fairshare.Under(0), Demand: 5}, {Demand: 5, Min: 2}}
	fresh := func() *Preemptor {
		tree, err := fairshare.New(pools, fairshare.Policy{})
		require.NoError(t, err)
		p, err := New(tree, Config{})
		require.NoError(t, err)
		return p
	}
	p := fresh()
	shares, err := fairshare.Shares(pools, 6)
	require.NoError(t, err)
	require.NoError(t, p.Observe(time.Unix(9, 5), shares, []int64{0, 5, 1}))
	p.SetWaiting(2, Waiting{Units: 2, OneMachine: true})
	data, err := p.MarshalBinary()
	require.NoError(t, err)
	snapshottest.KeptBy(t, "preemptor", data, func(data []byte) ([]byte, error) {
		restored := fresh()
		if err := restored.UnmarshalBinary(data); err != nil {
			return nil, err
		}
		return restored.MarshalBinary()
	})
}

// FuzzUnmarshal reads arbitrary bytes. The result must be an error that changes nothing, or a Preemptor that works.
func FuzzUnmarshal(f *testing.F) {
	pools := []fairshare.Pool{{}, {Parent: fairshare.Under(0), Demand: 5}, {Demand: 5, Min: 2}}
	fresh := func(t testing.TB) *Preemptor {
		tree, err := fairshare.New(pools, fairshare.Policy{})
		require.NoError(t, err)
		s, err := New(tree, Config{})
		require.NoError(t, err)
		return s
	}
	s := fresh(f)
	shares, err := fairshare.Shares(pools, 6)
	require.NoError(f, err)
	require.NoError(f, s.Observe(time.Unix(9, 5), shares, []int64{0, 5, 1}))
	s.SetWaiting(2, Waiting{Units: 2, OneMachine: true})
	data, err := s.MarshalBinary()
	require.NoError(f, err)
	f.Add(snapshottest.Body(data))
	f.Add([]byte{snapshot.Version, 2, 1, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := fresh(t)
		before, err := s.MarshalBinary()
		require.NoError(t, err)
		if err := s.UnmarshalBinary(snapshottest.Sealed(data)); err != nil {
			after, err := s.MarshalBinary()
			require.NoError(t, err)
			require.Equal(t, before, after, "an error must leave the Preemptor unchanged")
			return
		}
		require.NoError(t, s.Observe(time.Unix(100, 0), shares, []int64{0, 5, 1}))
		for _, claim := range s.Plan(time.Unix(1000, 0), tasksOf(1, 1, 1, 3), []int64{1}).Claims {
			require.Positive(t, claim.Deficit)
			require.GreaterOrEqual(t, claim.Waited, time.Duration(0))
		}
	})
}
