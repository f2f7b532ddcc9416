package tracker_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A configuration reads back from its JSON, except for the parts without data.
func TestAConfigReadsBackFromItsJSON(t *testing.T) {
	c := tracker.Config{
		Tasks: 3, Work: []float64{1, 2.5, 0}, Slots: 4, Machines: 5, Clones: 2, Interval: 1500 * time.Millisecond, Lag: 1,
		Policy: rules.Spark{Quantile: 0.5, MinRuntime: restart.Off}, Model: estimate.Linear{Window: 2, Grace: 3, WrapUp: 4},
		UnitTimes: estimate.UnitTimesConfig{MinSamples: 7, Floor: 0.5, FixedOverhead: true, KeepFirstWave: true},
	}
	data, err := json.Marshal(c)
	require.NoError(t, err)
	assert.Equal(t, `{"tasks":3,"work":[1,2.5,0],"slots":4,"machines":5,"clones":2,"interval":1.5,"lag":0.000000001,`+
		`"policy":"spark,quantile=0.5,min-runtime=off","window":0.000000002,"grace":0.000000003,"wrap-up":0.000000004,`+
		`"min-samples":7,"floor":0.5,"fixed-overhead":true,"keep-first-wave":true}`, string(data))
	var back tracker.Config
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, c, back)
	data, err = json.Marshal(tracker.Config{Tasks: 1})
	require.NoError(t, err)
	assert.Equal(t, `{"tasks":1}`, string(data))
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"policy":"sparc"}`), &back), `policy is "sparc", want one of mantri`)
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"Tasks":1}`), &back), `Tasks is "1"`)
	assert.Equal(t, c, back)

	budget := tracker.BudgetConfig{Slots: 100, Share: 0.2, Rate: restart.Off}
	data, err = json.Marshal(budget)
	require.NoError(t, err)
	assert.Equal(t, `{"slots":100,"share":0.2,"rate":-1}`, string(data))
	var read tracker.BudgetConfig
	require.NoError(t, json.Unmarshal(data, &read))
	assert.Equal(t, budget, read)
}
