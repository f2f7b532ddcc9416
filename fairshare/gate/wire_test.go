package gate

import (
	"math"
	"testing"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestAnswersReadBack(t *testing.T) {
	wiretest.Through(t, Answer{})
	wiretest.Through(t, Answer{Action: Admit, Reason: BelowLimits, Have: 3, Limit: math.MaxInt64})
	wiretest.Through(t, Eviction{Job: -1, Leader: -1})
	wiretest.Through(t, Eviction{Job: -1, Leader: 0, Rule: LeastProgress})
	wiretest.Through(t, Eviction{Job: 2, Leader: 0, Bytes: 50})
}
