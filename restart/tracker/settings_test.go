package tracker_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// The configuration of a budget can be read back from its JSON.
func TestABudgetConfigReadsBackFromItsJSON(t *testing.T) {
	budget := tracker.BudgetConfig{Slots: 100, Share: 0.2, Rate: restart.Off}
	data, err := json.Marshal(budget)
	require.NoError(t, err)
	assert.Equal(t, `{"slots":100,"share":0.2,"rate":-1}`, string(data))
	var read tracker.BudgetConfig
	require.NoError(t, json.Unmarshal(data, &read))
	assert.Equal(t, budget, read)
}
