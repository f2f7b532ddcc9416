package delay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// slotsUsed simulates the case of SPARK-18886 and SPARK-27214. The cluster has ten slots, and one slot is on the
// machine with the job's data. Tasks take a second. This slot is offered when it becomes free, and every second
// all free slots are offered. The result is the largest number of slots that the job used at the same time within
// two minutes.
func slotsUsed(t *testing.T, reset Reset) int {
	j := started(t, Config{Waits: []time.Duration{3 * time.Second}, Reset: reset})
	most := 0
	for second := range 120 {
		used := 0
		if j.Offer(at(float64(second)), 0).Action == Launch { // a round with one slot
			used++
		}
		j.EndRound(at(float64(second)), false)
		for range 9 { // a round of all free slots, in which no slot is local
			if j.Offer(at(float64(second)+.5), 1).Action == Launch {
				used++
			}
		}
		j.EndRound(at(float64(second)+.5), true)
		most = max(most, used)
	}
	return most
}

func TestOnlyTheOldRulesStarveTheJob(t *testing.T) {
	assert.Equal(t, 1, slotsUsed(t, OnLaunch), "every local launch starts the wait again")
	assert.Equal(t, 1, slotsUsed(t, ToLaunched), "every local launch starts the wait again")
	assert.Equal(t, 10, slotsUsed(t, NoRejection))
}

// A round of all free slots in which the job declines no offer starts the wait again, even if the job launches
// nothing. In a full cluster there are such rounds (PR 28188). Otherwise the level would never become more local.
func TestResetNeedsNoLaunch(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{3 * time.Second}, Reset: NoRejection})
	j.Offer(at(0), 1)
	j.EndRound(at(0), true) // a round with a rejection
	level, _ := j.Allowed(at(3))
	assert.Equal(t, 1, level)
	assert.Equal(t, Launch, j.Offer(at(3), 0).Action)
	j.EndRound(at(3), false)
	level, _ = j.Allowed(at(3))
	assert.Equal(t, 1, level, "a partial round must not start the wait, because of the rejection at 0 s")
	j.EndRound(at(4), true) // no slot was free
	level, _ = j.Allowed(at(4))
	assert.Equal(t, 1, level, "the level must change only with the next launch")
	assert.Equal(t, Launch, j.Offer(at(5), 0).Action)
	j.EndRound(at(5), false)
	level, rise := j.Allowed(at(5))
	assert.Equal(t, 0, level)
	assert.Equal(t, 3*time.Second, rise)
}

// Other jobs take each slot that the job declines, so a round of all free slots finds no slot. The job must still be
// able to launch anywhere after its wait. If such a round started the wait again, the job would wait for ever, as the
// review of PR 27207 found.
func TestTheWaitEndsIfOthersTakeTheDeclinedSlots(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{3 * time.Second}, Reset: NoRejection})
	for second := range 3 {
		assert.Equal(t, Delayed, j.Offer(at(float64(second)), 1).Reason)
		j.EndRound(at(float64(second)), false)
		j.EndRound(at(float64(second)+.5), true) // no slot is free any more
		j.EndRound(at(float64(second)+.6), false)
	}
	assert.Equal(t, Launch, j.Offer(at(3), 1).Action)
}

// Rounds without an offer do not count as a wait, while the job has declined no offer.
func TestRoundsBeforeTheFirstRejectionAreNotAWait(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{3 * time.Second}, Reset: NoRejection})
	for second := range 100 {
		j.EndRound(at(float64(second)), second%5 == 0)
	}
	assert.Equal(t, 2*time.Second, j.Offer(at(100), 1).NextLevelIn)
}

// A round of some free slots starts the wait again only under a condition: in the last round of all free slots,
// and in all rounds since then, no offer was declined.
func TestAPartialRoundNeedsRoundsWithoutRejection(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{10 * time.Second}, Reset: NoRejection})
	rise := func(s float64) time.Duration {
		_, rise := j.Allowed(at(s))
		return rise
	}
	j.Offer(at(1), 0)
	j.EndRound(at(1), false)
	assert.Equal(t, 10*time.Second, rise(1), "a round without any rejection must start the wait again")
	j.Offer(at(2), 1)
	j.Offer(at(2), 0)
	j.EndRound(at(2), false)
	assert.Equal(t, 9*time.Second, rise(2), "a round with a rejection must not start the wait again, although it has a launch")
	j.Offer(at(3), 0)
	j.EndRound(at(3), false)
	assert.Equal(t, 8*time.Second, rise(3), "a rejection since the last full round must prevent a new wait")
	j.Offer(at(4), 0)
	j.EndRound(at(4), true)
	assert.Equal(t, 10*time.Second, rise(4), "a full round without a rejection must start the wait again")
	j.Offer(at(5), 0)
	j.EndRound(at(5), false)
	assert.Equal(t, 10*time.Second, rise(5), "a partial round after such a full round must start the wait again")
}

// After a round, the level of the job is the most local level at which it launched a task in the round.
func TestRoundTakesTheMostLocalLaunch(t *testing.T) {
	j := started(t, Config{Reset: NoRejection})
	for _, level := range []int{2, 1, 2} {
		assert.Equal(t, Launch, j.Offer(at(30), level).Action)
	}
	j.EndRound(at(30), true)
	level, _ := j.Allowed(at(30))
	assert.Equal(t, 1, level)
}
