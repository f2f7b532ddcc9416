package tracker_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Events with infinite and other extreme numbers, and the answers to them, read back from JSON unchanged.
func TestExtremeNumbersReadBackFromJSON(t *testing.T) {
	for _, x := range []float64{math.Inf(1), math.Inf(-1)} {
		event := tracker.Event{Kind: tracker.Reported, Time: at(1), Report: tracker.Report{Done: x, Score: x}}
		data, err := json.Marshal(event)
		require.NoError(t, err)
		var back tracker.Event
		require.NoError(t, json.Unmarshal(data, &back), "%s", data)
		assert.True(t, event.Time.Equal(back.Time))
		assert.Equal(t, event.Report, back.Report)
	}
	tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 1, Interval: time.Second})
	a := tr.Apply(tracker.Event{Kind: tracker.Finished, Time: at(1), Task: -2})
	data, err := json.Marshal(a)
	require.NoError(t, err)
	var back tracker.Answer
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, a, back)
}
