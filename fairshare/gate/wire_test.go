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

func TestChoicesReadBack(t *testing.T) {
	wiretest.Settings(t, Config{MaxCopying: Off, Reserved: 2, Memory: 1 << 40, MaxNetwork: .9},
		`{"max-copying":-1,"reserved":2,"memory":1099511627776,"max-network":0.9}`)
}
