package outlier

import (
	"math"
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestVerdictsAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Verdict{}, `fine no-reason laxity=0s`, `{"overloaded":false,"reason":"no-reason","laxity":0}`)
	wiretest.Same(t, Verdict{Reason: NoLaxity, Laxity: estimate.Unknown},
		`fine no-laxity laxity=?`, `{"overloaded":false,"reason":"no-laxity","laxity":null}`)
	wiretest.Same(t, Verdict{Overloaded: true, Reason: StandsApart, Laxity: -1, Bar: 2, LOF: math.Inf(1), Threshold: 1.5},
		`overloaded stands-apart laxity=-1e-09s bar=2e-09s lof=off threshold=1.5`,
		`{"overloaded":true,"reason":"stands-apart","laxity":-0.000000001,"bar":0.000000002,"lof":null,"threshold":1.5}`)
	wiretest.Same(t, Verdict{Reason: AmongPeers, Laxity: 7, LOF: 1.123456789, Threshold: 1.5},
		`fine among-peers laxity=7e-09s bar=0s lof=1.12346 threshold=1.5`,
		`{"overloaded":false,"reason":"among-peers","laxity":0.000000007,"bar":0,"lof":1.123456789,"threshold":1.5}`)
}

func TestConfigsReadBack(t *testing.T) {
	wiretest.Settings(t, Config{Threshold: 3, Spread: Off, Resolution: time.Microsecond},
		`{"threshold":3,"spread":-1,"resolution":0.000001}`)
}
