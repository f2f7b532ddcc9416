package delay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

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
