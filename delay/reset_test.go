package delay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// starve is the case of SPARK-18886 and SPARK-27214: ten slots, one of them on the only node that has the job's data.
// Tasks take a second. The local slot is offered as it becomes free, and every second all free slots are offered. It
// returns how many slots the job used at most within two minutes.
func starve(t *testing.T, reset Reset) int {
	j := started(t, Config{Waits: []time.Duration{3 * time.Second}, Reset: reset})
	most := 0
	for second := range 120 {
		used := 0
		if j.Offer(at(float64(second)), 0).Action == Launch { // a round of one slot
			used++
		}
		j.EndRound(at(float64(second)), false)
		for range 9 { // a round of all free slots, none of them local
			if j.Offer(at(float64(second)+.5), 1).Action == Launch {
				used++
			}
		}
		j.EndRound(at(float64(second)+.5), true)
		most = max(most, used)
	}
	return most
}

func TestStarvationUnderTheOldRulesOnly(t *testing.T) {
	assert.Equal(t, 1, starve(t, OnLaunch), "every local launch starts the wait again")
	assert.Equal(t, 1, starve(t, ToLaunched), "every local launch starts the wait again")
	assert.Equal(t, 10, starve(t, NoRejection))
}

// A round of all free slots in which nothing is declined makes up for what was declined before, even if it launches
// nothing: the usual round of a full cluster (PR 28188). Without that, the level would stay where it is for ever.
func TestResetNeedsNoLaunch(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{3 * time.Second}, Reset: NoRejection})
	j.Offer(at(0), 1)
	j.EndRound(at(0), true) // declined
	level, _ := j.Allowed(at(3))
	assert.Equal(t, 1, level)
	assert.Equal(t, Launch, j.Offer(at(3), 0).Action)
	j.EndRound(at(3), false)
	level, _ = j.Allowed(at(3))
	assert.Equal(t, 1, level, "a partial round does not do, since something was declined at 0 s")
	j.EndRound(at(4), true) // nothing was free
	level, _ = j.Allowed(at(4))
	assert.Equal(t, 1, level, "the level is that of the next launch")
	assert.Equal(t, Launch, j.Offer(at(5), 0).Action)
	j.EndRound(at(5), false)
	level, rise := j.Allowed(at(5))
	assert.Equal(t, 0, level)
	assert.Equal(t, 3*time.Second, rise)
}

// Where others take each slot that the job declines, so that a round of all free slots finds none, the job still may
// launch anywhere after its wait. If such a round started the wait again, the job would wait for ever, as the review of
// PR 27207 found.
func TestOthersTakeWhatIsDeclined(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{3 * time.Second}, Reset: NoRejection})
	for second := range 3 {
		assert.Equal(t, Delayed, j.Offer(at(float64(second)), 1).Reason)
		j.EndRound(at(float64(second)), false)
		j.EndRound(at(float64(second)+.5), true) // nothing is free any more
		j.EndRound(at(float64(second)+.6), false)
	}
	assert.Equal(t, Launch, j.Offer(at(3), 1).Action)
}

// Rounds that offer a job nothing are no wait, as long as it has declined nothing.
func TestRoundsBeforeTheFirstRejection(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{3 * time.Second}, Reset: NoRejection})
	for second := range 100 {
		j.EndRound(at(float64(second)), second%5 == 0)
	}
	assert.Equal(t, 2*time.Second, j.Offer(at(100), 1).NextLevelIn)
}

// A partial round starts the wait again only if the last full round and all rounds since were without rejection.
func TestPartialRounds(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{10 * time.Second}, Reset: NoRejection})
	rise := func(s float64) time.Duration {
		_, rise := j.Allowed(at(s))
		return rise
	}
	j.Offer(at(1), 0)
	j.EndRound(at(1), false)
	assert.Equal(t, 10*time.Second, rise(1), "nothing was ever declined")
	j.Offer(at(2), 1)
	j.Offer(at(2), 0)
	j.EndRound(at(2), false)
	assert.Equal(t, 9*time.Second, rise(2), "declined in this round, although it launched, too")
	j.Offer(at(3), 0)
	j.EndRound(at(3), false)
	assert.Equal(t, 8*time.Second, rise(3), "declined since the last full round")
	j.Offer(at(4), 0)
	j.EndRound(at(4), true)
	assert.Equal(t, 10*time.Second, rise(4), "a full round without rejection")
	j.Offer(at(5), 0)
	j.EndRound(at(5), false)
	assert.Equal(t, 10*time.Second, rise(5), "and a partial one after it")
}

// The level after a round is that of its most local launch.
func TestRoundTakesTheMostLocalLaunch(t *testing.T) {
	j := started(t, Config{Reset: NoRejection})
	for _, level := range []int{2, 1, 2} {
		assert.Equal(t, Launch, j.Offer(at(30), level).Action)
	}
	j.EndRound(at(30), true)
	level, _ := j.Allowed(at(30))
	assert.Equal(t, 1, level)
}
