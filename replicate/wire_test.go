package replicate

import (
	"math"
	"testing"
	"time"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestDecisionsReadBack(t *testing.T) {
	wiretest.Through(t, Decision{})
	wiretest.Through(t, Decision{Action: Replicate, Reason: OverBudget, Saves: 1, Takes: 2, Tokens: math.MaxInt64})
	wiretest.Through(t, Decision{Action: Recompute, Reason: OverBudget, Saves: time.Hour, Bytes: 7, Tokens: 3, Allowed: 5})
	wiretest.Through(t, Decision{Reason: OverBudget, Allowed: math.MaxInt64})
	wiretest.Through(t, Cost{Redo: 3, Stall: 2, Expected: 1, ClusterTime: math.MaxInt64})
}

func TestChoicesReadBack(t *testing.T) {
	wiretest.Settings(t, LossesConfig{Window: time.Hour, Prior: .01}, `{"window":3600,"prior":0.01}`)
	wiretest.Settings(t, LossBurstsConfig{Losses: Off, Weight: 5}, `{"losses":-1,"weight":5}`)
}
