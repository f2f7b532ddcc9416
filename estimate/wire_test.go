package estimate

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestConfigurationsReadBackFromJSON(t *testing.T) {
	wiretest.Settings(t, Linear{Window: time.Minute, Grace: 1500 * time.Millisecond}, `{"window":60,"grace":1.5}`)
	wiretest.Settings(t, UnitTimesConfig{MinSamples: 5, Floor: .25, FixedOverhead: true},
		`{"min-samples":5,"floor":0.25,"fixed-overhead":true}`)
}
