package fairshare

import (
	"math"
	"testing"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestAnswersAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Pick{Pool: -1}, `wait nobody-wants`, `{"reason":"nobody-wants"}`)
	wiretest.Same(t, Pick{Reason: BelowMinimum, Usage: math.MaxInt64},
		`serve below-minimum pool=0 usage=9223372036854775807 per=0`,
		`{"reason":"below-minimum","pool":0,"usage":9223372036854775807,"per":0}`)
	wiretest.Same(t, Pick{Pool: 3, Reason: InTurn, Usage: 7, Per: 1},
		`serve in-turn pool=3 usage=7 per=1`, `{"reason":"in-turn","pool":3,"usage":7,"per":1}`)
}

// The JSON of a share has all fields. Its line leaves out Real, Demand and Needed.
func TestSharesAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Share{Slots: 14, Real: 14.25, Min: 10, Max: Unlimited, Demand: 40, Needed: 9, Level: 1.123456789, Bound: AtLevel},
		`share level slots=14 min=10 max=off level=1.12346`,
		`{"bound":"level","slots":14,"real":14.25,"demand":40,"needed":9,"min":10,"max":null,"level":1.123456789}`)
	wiretest.Same(t, Share{Max: 3, Demand: Unlimited, Level: math.Inf(1)},
		`share demand slots=0 min=0 max=3 level=off`,
		`{"bound":"demand","slots":0,"real":0,"demand":null,"needed":0,"min":0,"max":3,"level":null}`)
}

func TestChoicesReadBack(t *testing.T) {
	wiretest.Settings(t, Policy{}, `{}`)
	wiretest.Settings(t, Policy{OnInfeasible: Scale, Basis: Steady, Discipline: FIFO, Surplus: AboveMinimum, Order: SmallestPart},
		`{"on-infeasible":"scale","basis":"steady","discipline":"fifo","surplus":"above-minimum","order":"smallest-part"}`)
}
