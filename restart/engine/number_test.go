package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Hosts last as long as a cluster: there are more phases than numbers for them.
func TestPhaseNumbersComeRound(t *testing.T) {
	hosts := &Hosts{phases: 1<<16 - 1}
	for _, want := range []uint64{1<<16 - 1, 0, 1} {
		p, err := New(Config{Tasks: 1, Slots: 1, Interval: time.Second, Hosts: hosts})
		require.NoError(t, err)
		assert.Equal(t, want, p.tracker.Config().Phase)
		data, err := p.MarshalBinary()
		require.NoError(t, err)
		_, err = Restore(Config{Hosts: hosts}, Saved{Snapshot: data})
		require.NoError(t, err)
	}
}
