package recent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTimesForgetOldRunsAndMoreThan4096(t *testing.T) {
	times := Times{Keep: time.Minute}
	times.Observe(0, 10, true)
	times.Observe(time.Second, 20, false)
	is := func(now time.Duration, runs, ends int) {
		c := times.Curve(now)
		assert.Equal(t, []int{runs, ends}, []int{c.Len(), c.Ends()}, "at %v", now)
	}
	is(time.Minute, 2, 1)
	is(time.Minute+1, 1, 0)
	is(time.Hour, 0, 0)
	for range 5000 {
		times.Observe(time.Hour, 10, true)
	}
	is(time.Hour, 4096, 4096)
}
