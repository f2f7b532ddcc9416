package outlier

import (
	"math"
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestVerdictsReadBack(t *testing.T) {
	wiretest.Through(t, Verdict{})
	wiretest.Through(t, Verdict{Reason: NoLaxity, Laxity: estimate.Unknown})
	wiretest.Through(t, Verdict{Overloaded: true, Reason: StandsApart, Laxity: -1, Bar: 2, LOF: math.Inf(1), Threshold: 1.5})
	wiretest.Through(t, Verdict{Reason: AmongPeers, Laxity: 7, LOF: 1.123456789, Threshold: 1.5})
}

func TestConfigsReadBack(t *testing.T) {
	wiretest.Settings(t, Config{Threshold: 3, Spread: Off, Resolution: time.Microsecond},
		`{"threshold":3,"spread":-1,"resolution":0.000001}`)
}
