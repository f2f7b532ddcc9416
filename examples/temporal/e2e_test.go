package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/kit"
)

// newSmallStage is a cluster of 4 hosts of 4 slots on which a scenario runs.
func newSmallStage(t *testing.T, name string) *stage {
	t.Helper()
	chosen, err := options{Choice: kit.Choice{Scenarios: name}, tasks: 16, machines: 4}.chosen()
	require.NoError(t, err)
	for i := range chosen[0].sizes {
		chosen[0].sizes[i] *= 2 // what happens happens in the midst of the maps, also where the machine is busy
	}
	st, err := newStage(t.TempDir(), chosen[0])
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, st.cluster.Close()) })
	return st
}

// complete fails the test if an answer is not right and whole.
func complete(t *testing.T, st *stage, o *outcome) {
	t.Helper()
	assert.Empty(t, o.Wrong)
	won := map[string]bool{}
	for _, attempt := range o.won {
		won[attempt] = true
	}
	assert.Len(t, won, st.tasks+st.reduces, "each task has one result that counts")
	for _, s := range o.status {
		assert.Zero(t, s.Ledger.Ignored, "the tracker made sense of all that it was told of %s", s.Name)
	}
}

func TestSlowHost(t *testing.T) {
	for _, name := range []string{kit.Slow, "silent"} {
		t.Run(name, func(t *testing.T) {
			st := newSmallStage(t, name)
			o, err := st.run(t.Context(), "mantri", 1) // it fails if the history does not replay
			require.NoError(t, err)
			complete(t, st, o)
			assert.Positive(t, o.Copies+o.Restarts)
			assert.Less(t, o.Seconds, 2.0*slowdown*chunkSize/rate, "sooner than the slow host could have done its maps")
			if name == "silent" {
				assert.Contains(t, reasons(o), " basis=age")
				assert.NotContains(t, reasons(o), " basis=progress", "there is none")
			}
		})
	}
}

// reasons is why the policy did what it did, in one text.
func reasons(o *outcome) string {
	var all strings.Builder
	for _, s := range o.status {
		for _, e := range s.Events {
			all.WriteString(e.Why + "\n")
		}
	}
	return all.String()
}

func TestLostHostsLoseNothing(t *testing.T) {
	for _, name := range []string{kit.Death, "pause", kit.Server} {
		t.Run(name, func(t *testing.T) {
			st := newSmallStage(t, name)
			o, err := st.run(t.Context(), "mantri", 1)
			require.NoError(t, err)
			complete(t, st, o)
			if name != kit.Server {
				assert.Positive(t, o.Lost+o.Copies+o.Restarts, "the victim's maps were run again elsewhere")
			}
			t.Logf("%.1f s, %d lost", o.Seconds, o.Lost)
		})
	}
}
