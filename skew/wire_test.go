package skew

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPlansReadBack(t *testing.T) {
	for _, plan := range []Plan{{}, {
		Reducer: []int{1, 0, -1}, Load: []int64{3, math.MaxInt64}, End: []float64{.1, 1e300}, Unfit: []int{2}, Seconds: 1e300,
	}} {
		data, err := json.Marshal(plan)
		require.NoError(t, err)
		var back Plan
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, plan, back)
	}
}

func TestChoicesReadBack(t *testing.T) {
	wiretest.Settings(t, Policy{Rule: ByHash, PlaceAll: true}, `{"rule":"by-hash","place-all":true}`)
}
