package placement

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAssignmentsReadBack(t *testing.T) {
	for _, a := range []Assignment{{}, {
		Rack: []int{1, 0, 7}, Bottleneck: Link{7, Down}, Seconds: 1.123456789, Bound: .1, Optimal: true,
	}} {
		data, err := json.Marshal(a)
		require.NoError(t, err)
		var back Assignment
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, a, back)
	}
	var l Link
	for _, text := range []string{"", "rack-3", "rack-3-left", "3-up", "rack--1-up", "rack-03-up", "rack-3-up "} {
		assert.Error(t, l.UnmarshalText([]byte(text)), text)
	}
	_, err := Link{1, 9}.MarshalText()
	assert.ErrorContains(t, err, "placement: Direction is 9")
}

func TestBandwidthConfigReadsBack(t *testing.T) {
	wiretest.Settings(t, BandwidthConfig{Rule: Equal, Short: time.Minute}, `{"rule":"equal","short":60}`)
}
