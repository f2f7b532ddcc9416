package engine_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/journal"
)

// FuzzObserve tells a phase anything at all, in any order and at any time: it must neither panic nor overbook, act on
// each attempt at most once, and leave a journal that replays.
func FuzzObserve(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	f.Add([]byte("a cluster of two hosts that never says the same twice, and says it late"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			t.Skip("long inputs find nothing that short ones do not")
		}
		hosts, err := engine.NewHosts(engine.HostsConfig{Hosts: []engine.Host{{Name: "h0", Slots: 2}, {Name: "h1", Slots: 1}}})
		require.NoError(t, err)
		p, err := engine.New(engine.Config{
			Config: restart.Config{Work: []float64{1, 5, 2, 1}, Interval: time.Second}, Hosts: hosts, Clones: []int{0, 1, len(data) % 2, -1}, Journal: true,
		})
		require.NoError(t, err)
		held, acted := map[string]string{}, map[string]bool{}
		for now := epoch; len(data) >= 8; data = data[8:] {
			now = now.Add(time.Duration(int8(data[0])) * 100 * time.Millisecond)
			seen := observed(now, data)
			if host := held[seen.ID]; host != "" {
				seen.Host = host
			}
			if seen.State >= engine.Succeeded && acceptable(seen) {
				delete(held, seen.ID)
			}
			for _, a := range p.Observe(now, []engine.Attempt{seen}) {
				key := fmt.Sprint(a.Op, a.ID)
				assert.False(t, acted[key], "%s twice", key)
				acted[key] = true
				if a.Op == engine.Submit {
					held[a.ID] = a.Host
				}
			}
			count := map[string]int{}
			for _, host := range held {
				count[host]++
			}
			require.LessOrEqual(t, count["h0"], 2)
			require.LessOrEqual(t, count["h1"], 1)
		}
		replayed, err := journal.Replay(p.Journal(), journal.Options{})
		require.NoError(t, err)
		assert.Equal(t, string(p.Journal()), string(replayed))
	})
}

// acceptable repeats which observations Observe does not pass over.
func acceptable(a engine.Attempt) bool {
	var task int
	_, err := fmt.Sscanf(a.ID, "%d.", &task)
	return err == nil && task == a.Task && a.State <= engine.Cancelled
}

func observed(now time.Time, b []byte) engine.Attempt {
	n := binary.LittleEndian.Uint16(b[2:])
	a := engine.Attempt{
		ID: fmt.Sprintf("%d.%d", b[1]%5, b[1]/5%4), Task: int(b[1] % 5), State: engine.State(b[4] % 7),
		Progress: restart.Progress{Done: float64(int8(b[5])) / 8, Score: float64(b[6]%8) / 4},
	}
	if b[7]&1 != 0 {
		a.Begun = now.Add(-time.Duration(n) * time.Millisecond)
	}
	if b[7]&2 != 0 {
		a.AsOf = now.Add(time.Duration(int16(n)) * time.Millisecond)
	}
	if b[7]&4 != 0 {
		a.Ended = now.Add(-time.Duration(n) * time.Microsecond)
	}
	if b[7]&8 != 0 {
		a.Task--
	}
	return a
}
