package clock

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTimeContinuesFromAStepBack(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	var c Clock
	for _, step := range []struct {
		at   time.Duration // the host's clock, as the time since the start
		want time.Duration
	}{
		{0, 0},
		{5 * time.Second, 5 * time.Second},
		{5 * time.Second, 5 * time.Second},
		{-time.Hour, 5 * time.Second},               // the clock was set back: no time has passed
		{-time.Hour + time.Second, 6 * time.Second}, // time continues from the earlier instant
		{-2 * time.Hour, 6 * time.Second},           // the clock was set back again
		{-2*time.Hour + time.Minute, 66 * time.Second},
		{0, 66*time.Second + 2*time.Hour - time.Minute}, // the clock was set forward: the difference is treated as time that has passed
	} {
		assert.Equal(t, step.want, c.At(start.Add(step.at)))
	}
	assert.Equal(t, 2, c.Steps)
}

// The zero instant changes nothing, whether it comes first or between other instants.
func TestTheZeroInstantChangesNothing(t *testing.T) {
	var c Clock
	assert.Zero(t, c.At(time.Time{}))
	assert.Zero(t, c.At(time.Unix(1e9, 0)))
	assert.Equal(t, 5*time.Second, c.At(time.Unix(1e9+5, 0)))
	assert.Equal(t, 5*time.Second, c.At(time.Time{}))
	assert.Equal(t, 7*time.Second, c.At(time.Unix(1e9+7, 0)), "the time is measured from the last instant that was not zero")
	assert.Equal(t, 2, c.Steps)
}

func TestClockSaturates(t *testing.T) {
	var c Clock
	c.At(time.Unix(-1<<50, 0))
	assert.Equal(t, time.Duration(math.MaxInt64), c.At(time.Unix(1<<50, 0)))
	assert.Equal(t, time.Duration(math.MaxInt64), c.At(time.Unix(1<<50, 1)))
}

func TestClockDoesNotAllocate(t *testing.T) {
	var c Clock
	now := time.Unix(0, 0)
	assert.Zero(t, testing.AllocsPerRun(100, func() { now = now.Add(1); c.At(now) }))
}
