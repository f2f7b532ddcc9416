package tracker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The curve of run times is fitted again if more than a sixteenth of the run times are new, or after an interval.
func TestTheCurveIsFittedAgainAfterASixteenthOfTheRunTimes(t *testing.T) {
	for _, c := range []struct {
		after    time.Duration
		newTimes int
		want     bool
	}{{9 * time.Second, 15, false}, {9 * time.Second, 16, true}, {10 * time.Second, 0, true}} {
		m := ages{runTimes: make([]runTime, 240), newRunTimes: c.newTimes}
		assert.Equal(t, c.want, m.stale(c.after, 10*time.Second, len(m.runTimes)), "%+v", c)
	}
}
