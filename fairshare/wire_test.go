package fairshare

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnswersReadBack(t *testing.T) {
	wiretest.Through(t, Pick{Pool: -1})
	wiretest.Through(t, Pick{Reason: BelowMinimum, Usage: math.MaxInt64})
	wiretest.Through(t, Pick{Pool: 3, Reason: InTurn, Usage: 7, Per: 1})
}

// The JSON of a share has all fields. Its line leaves out Real, Demand and Needed.
func TestSharesReadBack(t *testing.T) {
	for _, s := range []Share{
		{Slots: 14, Real: 14.25, Min: 10, Max: Unlimited, Demand: 40, Needed: 9, Level: 1.123456789, Bound: AtLevel},
		{Max: 3, Demand: Unlimited, Level: math.Inf(1)},
	} {
		data, err := json.Marshal(s)
		require.NoError(t, err)
		var back, read Share
		require.NoError(t, json.Unmarshal(data, &back), "%s", data)
		assert.Equal(t, s, back)
		require.NoError(t, read.UnmarshalText([]byte(s.String())))
		assert.Equal(t, s.String(), read.String())
	}
}

func TestChoicesReadBack(t *testing.T) {
	wiretest.Settings(t, Policy{}, `{}`)
	wiretest.Settings(t, Policy{OnInfeasible: Scale, Basis: Steady, Discipline: FIFO, Surplus: AboveMinimum, Order: SmallestPart},
		`{"on-infeasible":"scale","basis":"steady","discipline":"fifo","surplus":"above-minimum","order":"smallest-part"}`)
}
