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

// A round of all free slots in which nothing is declined starts the wait again even if it launches nothing (PR 28188):
// the usual round of a full cluster. Without that, the level would stay where it is for ever.
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
	assert.Equal(t, 1, level, "the wait starts again, the level is that of the next launch")
	assert.Equal(t, Launch, j.Offer(at(5), 0).Action)
	j.EndRound(at(5), false)
	level, rise := j.Allowed(at(5))
	assert.Equal(t, 0, level)
	assert.Equal(t, 3*time.Second, rise)
}

// Where others take each slot that the job declines, so that a round of all free slots finds none, the job still may
// launch anywhere after its wait. In Spark such a round starts the wait again, and the job waits for ever.
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
	assert.Equal(t, 2*time.Second, j.Offer(at(100), 1).Rise)
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

// Under the first rule only time from a rejection on is waited; under Spark's old rule time runs from the start, and
// from each launch.
func TestWhenTheClockRuns(t *testing.T) {
	paper, spark := started(t, Config{}), started(t, Config{Reset: ToLaunched})
	assert.Zero(t, paper.Offer(at(1), 0).Rise)
	assert.Equal(t, 15*time.Second, spark.Offer(at(1), 0).Rise)
	assert.Equal(t, Delayed, paper.Offer(at(20), 1).Reason)
	assert.Equal(t, LocalEnough, spark.Offer(at(20), 1).Reason)
	assert.Equal(t, LocalEnough, paper.Offer(at(35), 1).Reason)
	assert.Equal(t, Delayed, spark.Offer(at(34), 2).Reason, "a launch at level 1 stays there")
	assert.Equal(t, LocalEnough, spark.Offer(at(35), 2).Reason)
}

func TestWaitsCountedInOffers(t *testing.T) {
	j := started(t, Config{Misses: []int{2, 0, 1}})
	assert.Equal(t, "wait delayed level=3 allowed=0 misses=1", j.Offer(at(0), 3).String())
	assert.Equal(t, "wait delayed level=1 allowed=0", j.Offer(at(1e6), 1).String(), "time does not matter; the next offer will do")
	assert.Equal(t, Reason(NoTask), j.Offer(at(1e6), 4).Reason, "which is no rejection, but finds the level risen")
	assert.Equal(t, "wait delayed level=3 allowed=2", j.Offer(at(1e6), 3).String(), "two at level 0, none at level 1")
	assert.Equal(t, "launch local-enough level=3 allowed=3", j.Offer(at(1e6), 3).String())
	assert.Equal(t, "launch local-enough level=0 allowed=3 misses=2", j.Offer(at(1e6), 0).String())
}

// A level without candidates is skipped and not waited for (SPARK-4939).
func TestLevelsWithoutCandidates(t *testing.T) {
	j := started(t, Config{Reset: ToLaunched})
	j.SetCandidates(at(1), 0b101) // no rack
	assert.Equal(t, Delayed, j.Offer(at(14), 1).Reason)
	assert.Equal(t, LocalEnough, j.Offer(at(15), 2).Reason, "from level 0 right to level 2")

	j = started(t, Config{Reset: ToLaunched})
	j.SetCandidates(at(5), 0b110) // the last task with a preference for a node is launched
	level, rise := j.Allowed(at(5))
	assert.Equal(t, 1, level)
	assert.Equal(t, 15*time.Second, rise, "the wait at the next level is a whole one")
	j.SetCandidates(at(6), 0b100)
	level, rise = j.Allowed(at(6))
	assert.Equal(t, 2, level)
	assert.Zero(t, rise)

	j = started(t, Config{Reset: ToLaunched})
	j.SetCandidates(at(0), 0b001) // anywhere is always a level to rise to, whether the host says so or not
	level, rise = j.Allowed(at(0))
	assert.Equal(t, 0, level)
	assert.Equal(t, 15*time.Second, rise)
	assert.Equal(t, 2, j.Offer(at(15), 2).Allowed)
	j.SetCandidates(at(15), 0)
	level, rise = j.Allowed(at(1e6))
	assert.Equal(t, 2, level)
	assert.Zero(t, rise)
}

// A node with the job's data that comes and goes takes the job back to its level each time, but not for ever: the job
// waits no longer in all than the sum of its waits. Without that bound, it would never get beyond the rack here.
func TestFlappingNodeDoesNotStarve(t *testing.T) {
	for _, reset := range []Reset{OnLaunch, ToLaunched, NoRejection} {
		j := started(t, Config{Reset: reset})
		for second := range 30 {
			j.SetCandidates(at(float64(second)), []uint64{0b111, 0b110}[second/10%2])
			assert.Equal(t, Delayed, j.Offer(at(float64(second)), 2).Reason, "%v at %d s", reset, second)
			_, rise := j.Allowed(at(float64(second)))
			assert.LessOrEqual(t, rise, time.Duration(30-second)*time.Second)
		}
		j.SetCandidates(at(30), 0b110)
		j.SetCandidates(at(30), 0b111)
		assert.Equal(t, Launch, j.Offer(at(30), 2).Action, reset)
	}
}

// What a launch starts is a whole wait, also for a job that has used up the sum of its waits.
func TestLaunchRestoresTheBound(t *testing.T) {
	j := started(t, Config{})
	j.Offer(at(0), 2)
	assert.Equal(t, Launch, j.Offer(at(30), 0).Action)
	j.Offer(at(40), 2)
	j.SetCandidates(at(45), 0b110)
	j.SetCandidates(at(46), 0b111)
	_, rise := j.Allowed(at(46))
	assert.Equal(t, 15*time.Second, rise)
	assert.Equal(t, Delayed, j.Offer(at(69.5), 2).Reason)
	assert.Equal(t, Launch, j.Offer(at(70), 2).Action)
}

// If nodes join that have the job's data, it goes back to their level and waits there again (SPARK-31837). Candidates
// that come back at the present level, or a less local one, change nothing.
func TestNewCandidatesBringTheLevelBack(t *testing.T) {
	j := started(t, Config{Reset: ToLaunched})
	j.SetCandidates(at(0), 0b100)
	level, _ := j.Allowed(at(0))
	assert.Equal(t, 2, level)
	j.SetCandidates(at(7), 0b110)
	level, rise := j.Allowed(at(7))
	assert.Equal(t, 1, level)
	assert.Equal(t, 15*time.Second, rise)
	j.SetCandidates(at(8), 0b110)
	level, rise = j.Allowed(at(8))
	assert.Equal(t, 1, level)
	assert.Equal(t, 14*time.Second, rise, "nothing new")
	j.SetCandidates(at(10), 0b010)
	j.SetCandidates(at(11), 0b110)
	level, rise = j.Allowed(at(11))
	assert.Equal(t, 1, level)
	assert.Equal(t, 11*time.Second, rise)

	j = started(t, Config{Reset: ToLaunched})
	j.SetCandidates(at(20), 0b111)
	level, _ = j.Allowed(at(20))
	assert.Equal(t, 1, level, "the more local candidates are no news: they were waited for")
}

// A clock that steps back adds nothing to the wait and takes nothing off.
func TestClockThatStepsBack(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{10 * time.Second}})
	j.Offer(at(100), 1)
	assert.Equal(t, 4*time.Second, j.Offer(at(106), 1).Rise)
	assert.Equal(t, 4*time.Second, j.Offer(at(50), 1).Rise)
	assert.Equal(t, 1*time.Second, j.Offer(at(53), 1).Rise)
	assert.Equal(t, Launch, j.Offer(at(54), 1).Action)
}

func TestForeverAndNothing(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{0, Forever}, Reset: ToLaunched})
	d := j.Offer(start.Add(Forever), 2)
	assert.Equal(t, Decision{Reason: Delayed, Level: 2, Allowed: 1}, d)
	j.Offer(start, 2)
	assert.Equal(t, Delayed, j.Offer(start.Add(Forever), 2).Reason, "not even after twice that long")

	var zero Locality
	assert.Equal(t, Decision{Reason: NoTask, Level: 1}, zero.Offer(start, 1))
	zero.SetCandidates(start, 1)
	zero.EndRound(start, true)
	level, rise := zero.Allowed(start)
	assert.Zero(t, level)
	assert.Zero(t, rise)

	only := started(t, Config{Waits: []time.Duration{}})
	assert.Equal(t, Launch, only.Offer(start, 0).Action, "one level: anywhere")
}
