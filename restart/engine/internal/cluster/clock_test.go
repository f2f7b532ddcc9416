package cluster

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A right clock is never corrected. A wrong clock is corrected to within the shortest delay that was seen. A
// clock that was set is measured anew.
func TestClockIsCorrectedOnlyIfItIsWrong(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 2000 {
		var c Clock
		assert.Zero(t, c.Offset())
		for range 2 { // before the second round the clock is set
			off := []time.Duration{0, 1, -1}[r.IntN(3)] * time.Duration(r.Int64N(int64(2*time.Minute)))
			early, late := time.Hour, time.Hour // the shortest delays: request to event, event to report
			for range 20 {
				at := epoch.Add(time.Duration(r.Int64N(int64(time.Hour))))
				e, l := time.Duration(r.Int64N(int64(10*time.Second))), time.Duration(r.Int64N(int64(10*time.Second)))
				asked := at.Add(-e)
				if r.IntN(3) == 0 {
					asked = time.Time{}
				} else {
					early = min(early, e)
				}
				late = min(late, l)
				c.Tell(at.Add(off), asked, at.Add(l))
			}
			switch got := c.Offset(); {
			case off == 0:
				assert.LessOrEqual(t, got.Abs(), 10*time.Second)
			case off > late+20*time.Second:
				assert.InDelta(t, off, got, float64(10*time.Second))
			case off < -early-20*time.Second:
				assert.InDelta(t, off, got, float64(10*time.Second))
			}
		}
	}
	var right Clock
	for range 1000 {
		at := epoch.Add(time.Duration(r.Int64N(int64(time.Hour))))
		right.Tell(at, at.Add(-time.Duration(r.IntN(5))), at.Add(time.Duration(r.IntN(5))))
		assert.Zero(t, right.Offset())
	}
	right.Tell(epoch, epoch.Add(time.Second), epoch.Add(-time.Second)) // contradicting bounds say nothing
	assert.Zero(t, right.Offset())
	var ahead Clock
	ahead.Tell(epoch.Add(time.Minute), epoch.Add(-time.Second), epoch.Add(2*time.Second))
	assert.Equal(t, 58*time.Second, ahead.Offset())
	ahead.Tell(epoch.Add(time.Minute), epoch, epoch.Add(time.Second))
	assert.Equal(t, 59*time.Second, ahead.Offset())
	var behind Clock
	behind.Tell(epoch.Add(-time.Minute), epoch.Add(-time.Second), epoch.Add(time.Second))
	assert.Equal(t, -59*time.Second, behind.Offset())
}

// If the caller's own clock was set, all offsets are forgotten.
func TestForgetClocksForgetsAllOffsets(t *testing.T) {
	s := New(time.Minute, 0)
	for _, i := range []int{s.Add(Machine{Name: "a"}), Nowhere} {
		s.Clock(i).Tell(time.Unix(100, 0), time.Time{}, time.Unix(50, 0))
		assert.Equal(t, 50*time.Second, s.Clock(i).Offset())
		s.ForgetClocks()
		assert.Zero(t, s.Clock(i).Offset())
	}
}

// Machines that are down get no new attempts. Machines that rest, are slow or leave get none as long as there
// are others.
func TestEligibleMachines(t *testing.T) {
	now := time.Unix(1000, 0)
	s := New(time.Minute, 0)
	for _, name := range []string{"a", "b", "c", "d"} {
		s.Add(Machine{Name: name, Slots: 2})
	}
	eligible := func() (names string) {
		for i := range s.Len() {
			if s.Eligible(i) {
				names += s.Name(i)
			}
		}
		return names
	}
	s.SetDown(0, true)
	s.Lose(1, now)
	s.Settle(now, []int{2, 17})
	assert.Equal(t, "d", eligible())
	assert.Equal(t, 2, s.Room())
	s.Load(3, 1)
	assert.Equal(t, 1, s.Room())
	s.SetLeaving(3, now)
	assert.Equal(t, "bcd", eligible(), "every machine gets attempts if none should")
	assert.Equal(t, 5, s.Room())
	s.Settle(now.Add(time.Minute), nil)
	assert.Equal(t, "bc", eligible())
	s.SetDown(0, false)
	assert.Equal(t, "abc", eligible())
	assert.Equal(t, 4, s.Losses, "two changes of machines that are down, one loss, one slow machine")
	assert.Equal(t, 1, s.Departures)
}
