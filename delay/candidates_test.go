package delay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A job skips a level at which it has no tasks, and does not wait there (SPARK-4939).
func TestLevelsWithoutCandidatesAreSkipped(t *testing.T) {
	j := started(t, Config{Reset: ToLaunched})
	j.SetCandidates(at(1), 0b101) // no candidates in the rack
	assert.Equal(t, Delayed, j.Offer(at(14), 1).Reason)
	assert.Equal(t, LocalEnough, j.Offer(at(15), 2).Reason, "the job must go from level 0 to level 2")

	j = started(t, Config{Reset: ToLaunched})
	j.SetCandidates(at(5), 0b110) // the last task that prefers a machine was launched
	level, rise := j.Allowed(at(5))
	assert.Equal(t, 1, level)
	assert.Equal(t, 15*time.Second, rise, "the next level must begin with a full wait")
	j.SetCandidates(at(6), 0b100)
	level, rise = j.Allowed(at(6))
	assert.Equal(t, 2, level)
	assert.Zero(t, rise)

	j = started(t, Config{Reset: ToLaunched})
	j.SetCandidates(at(0), 0b001) // the last level always has candidates, even if the host does not say so
	level, rise = j.Allowed(at(0))
	assert.Equal(t, 0, level)
	assert.Equal(t, 15*time.Second, rise)
	assert.Equal(t, 2, j.Offer(at(15), 2).Allowed)
	j.SetCandidates(at(15), 0)
	level, rise = j.Allowed(at(1e6))
	assert.Equal(t, 2, level)
	assert.Zero(t, rise)
}

// A machine with the job's data joins and leaves again and again, and each time the job returns to level 0. All
// waits together take at most the sum of the policy's waits. Without this bound the job would never pass the level
// of the rack.
func TestAFlappingMachineDoesNotStarveTheJob(t *testing.T) {
	for _, reset := range []Reset{OnLaunch, ToLaunched, NoRejection} {
		j := started(t, Config{Reset: reset})
		for second := range 30 {
			j.SetCandidates(at(float64(second)), []uint64{0b111, 0b110}[second/10%2])
			assert.Equal(t, Delayed, j.Offer(at(float64(second)), 2).Reason, "under %v the job must wait at %d s", reset, second)
			_, rise := j.Allowed(at(float64(second)))
			assert.LessOrEqual(t, rise, time.Duration(30-second)*time.Second)
		}
		j.SetCandidates(at(30), 0b110)
		j.SetCandidates(at(30), 0b111)
		assert.Equal(t, Launch, j.Offer(at(30), 2).Action, reset)
	}
}

// After a launch the job may wait again for the sum of its waits, even if it has used up this sum before.
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

// If machines with the job's data join, the job returns to their level and waits there again (SPARK-31837).
// Machines at the present level, or at a less local level, do not change the level.
func TestNewCandidatesMakeTheLevelMoreLocal(t *testing.T) {
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
	assert.Equal(t, 14*time.Second, rise, "candidates of the current level must change nothing")
	j.SetCandidates(at(10), 0b010)
	j.SetCandidates(at(11), 0b110)
	level, rise = j.Allowed(at(11))
	assert.Equal(t, 1, level)
	assert.Equal(t, 11*time.Second, rise)

	j = started(t, Config{Reset: ToLaunched})
	j.SetCandidates(at(20), 0b111)
	level, _ = j.Allowed(at(20))
	assert.Equal(t, 1, level, "candidates for which the job has waited already must change nothing")
}
