package replicate

import (
	"math"
	"testing"
	"time"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestDecisionsAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Decision{}, `leave no-reason`, `{"action":"leave","reason":"no-reason"}`)
	wiretest.Same(t, Decision{Action: Replicate, Reason: OverBudget, Saves: 1, Takes: 2, Tokens: math.MaxInt64},
		`replicate over-budget saves=1e-09s takes=2e-09s bytes=0 tokens=off`,
		`{"action":"replicate","reason":"over-budget","saves":0.000000001,"takes":0.000000002,"bytes":0,"tokens":null}`)
	wiretest.Same(t, Decision{Action: Recompute, Reason: OverBudget, Saves: time.Hour, Bytes: 7, Tokens: 3, Allowed: 5},
		`recompute over-budget saves=3600s takes=0s bytes=7 tokens=3 allowed=5e-09s`,
		`{"action":"recompute","reason":"over-budget","saves":3600,"takes":0,"bytes":7,"tokens":3,"allowed":0.000000005}`)
	wiretest.Same(t, Decision{Reason: OverBudget, Allowed: math.MaxInt64},
		`leave over-budget saves=0s takes=0s allowed=off`,
		`{"action":"leave","reason":"over-budget","saves":0,"takes":0,"allowed":null}`)
	wiretest.Same(t, Cost{Redo: 3, Stall: 2, Expected: 1, ClusterTime: math.MaxInt64},
		`redo=3e-09s stall=2e-09s expected=1e-09s cluster-time=inf`,
		`{"redo":0.000000003,"stall":0.000000002,"expected":0.000000001,"cluster-time":9223372036.854775807}`)
}

func TestChoicesReadBack(t *testing.T) {
	wiretest.Settings(t, LossesConfig{Window: time.Hour, Prior: .01}, `{"window":3600,"prior":0.01}`)
	wiretest.Settings(t, LossBurstsConfig{Losses: Off, Weight: 5}, `{"losses":-1,"weight":5}`)
}
