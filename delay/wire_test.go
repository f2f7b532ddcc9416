package delay

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
	"github.com/stretchr/testify/assert"
)

func TestDecisionsAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Decision{},
		`wait no-reason level=0 allowed=0`, `{"action":"wait","reason":"no-reason","level":0,"allowed":0}`)
	wiretest.Same(t, Decision{Action: Launch, Reason: Reason(2), Level: 1, Allowed: 2, NextLevelIn: 65834927134, Misses: 3},
		`launch delayed level=1 allowed=2 next-level-in=65.8349s misses=3`,
		`{"action":"launch","reason":"delayed","level":1,"allowed":2,"next-level-in":65.834927134,"misses":3}`)
	assert.Equal(t, "launch delayed level=1 allowed=0 next-level-in=65.8349s",
		Decision{Action: Launch, Reason: Delayed, Level: 1, NextLevelIn: 65834927134}.String())
}

func TestConfigsReadBack(t *testing.T) {
	wiretest.Settings(t, Config{}, `{}`)
	wiretest.Settings(t, Config{Waits: []time.Duration{time.Second, Forever}, Reset: NoRejection},
		`{"waits":[1,9223372036.854775807],"reset":"no-rejection"}`)
	wiretest.Settings(t, Config{Misses: []int{}}, `{"misses":[]}`)
}
