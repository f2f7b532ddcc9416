package machines

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestVerdictsAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Verdict{}, `unknown`, `{"standing":"unknown"}`)
	wiretest.Same(t, Verdict{Standing: Slow, ClassFactor: 8.123456789, Threshold: 2, Attempts: 3, Failed: .25},
		`slow class-factor=8.12346 threshold=2 attempts=3 failed=0.25`,
		`{"standing":"slow","class-factor":8.123456789,"threshold":2,"attempts":3,"failed":0.25}`)
}

func TestConfigurationsReadBackFromJSON(t *testing.T) {
	wiretest.Settings(t, Config{HalfLife: time.Hour, MaxShare: .5}, `{"half-life":3600,"max-share":0.5}`)
}
