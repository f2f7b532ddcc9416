package fanout

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Histories of earlier versions are replayed, so the names in JSON stay.
func TestHistoriesKeepTheirNames(t *testing.T) {
	for text, v := range map[string]any{
		`{"ID":"a","Host":"w","Begun":"0001-01-01T00:00:00Z","AsOf":"0001-01-01T00:00:00Z","Done":0.5}`: Seen{
			ID: "a", Machine: "w", Done: .5,
		},
		`{"Submit":true,"Task":17,"ID":"17.2","Host":"w","Why":"slow"}`: action{
			Submit: true, Task: 17, ID: "17.2", Machine: "w", Why: "slow",
		},
	} {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, text, string(data))
	}
}
