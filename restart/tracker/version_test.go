package tracker_test

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/tracker"
)

// saved is the phase of the snapshot in testdata/snapshot.hex.
func saved(t *testing.T) *tracker.Tracker {
	tr := newTracker(t, tracker.Config{Tasks: 4, Slots: 6, Machines: 3, Interval: time.Second, Clones: 2})
	for task := range 4 {
		tr.Start(at(0), task, task%3)
		tr.Report(at(2), task, 0, tracker.Report{Done: 0.1})
	}
	tr.Finish(at(10), 0, 0)
	tr.Fail(at(11), 1, 0)
	tr.Leave(at(12), 2, at(60))
	tr.Sweep(at(13), func(tracker.Answer) {})
	return tr
}

// The committed snapshot can be restored, and answers like its phase; or Restore rejects it by its version. If the
// form changes, raise the version, and commit a snapshot of the new one.
func TestTheSnapshotOfThisVersionIsRestored(t *testing.T) {
	text, err := os.ReadFile("testdata/snapshot.hex")
	require.NoError(t, err)
	data, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	require.NoError(t, err)
	now, err := saved(t).MarshalBinary()
	require.NoError(t, err)
	if data[0] != now[0] {
		_, err = tracker.Restore(tracker.Config{}, data)
		assert.ErrorContains(t, err, "version is")
		return
	}
	assert.Equal(t, hex.EncodeToString(data), hex.EncodeToString(now), "a changed form needs a new version")
	restored, err := tracker.Restore(tracker.Config{}, data)
	require.NoError(t, err)
	assert.Equal(t, saved(t).Next(at(13), 1), restored.Next(at(13), 1))
}
