package machines

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestVerdictsReadBackFromJSON(t *testing.T) {
	wiretest.Through(t, Verdict{})
	wiretest.Through(t, Verdict{Standing: Slow, ClassFactor: 8.123456789, Threshold: 2, Attempts: 3, Failed: .25})
}

func TestConfigurationsReadBackFromJSON(t *testing.T) {
	wiretest.Settings(t, Config{HalfLife: time.Hour, MaxShare: .5}, `{"half-life":3600,"max-share":0.5}`)
}
