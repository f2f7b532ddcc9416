package tracker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate/machines"
)

// The tracker's own record is told of as many running copies of a machine as it remembers: of so many at once, and of so
// many in each interval. A record of the host's own is told of all.
func TestTheOwnRecordIsToldOfWhatItRemembers(t *testing.T) {
	f := fleet{own: new(machines.Record), list: make([]machine, 2)}
	told := func(place int32, now time.Duration) (n int) {
		for range 20 {
			if f.admit(place, now, 16*time.Second) {
				n++
			}
		}
		return n
	}
	assert.Equal(t, machines.MostRunning, told(0, 5*time.Second))
	assert.Equal(t, 0, told(0, 6*time.Second))
	assert.Equal(t, 1, told(0, 7*time.Second))
	assert.Equal(t, machines.MostRunning, told(1, 7*time.Second), "another machine")
	assert.Equal(t, machines.MostRunning, told(0, 23*time.Second), "an interval later")
	spread := 0
	for s := range 160 { // at times that no report has in common with another
		spread += told(0, 40*time.Second+time.Duration(s)*time.Second)
	}
	assert.Equal(t, machines.MostRunning*160/16+machines.MostRunning-1, spread)
	f.own = nil
	assert.Equal(t, 20, told(0, 201*time.Second))
}
