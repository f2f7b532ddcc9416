package delay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// With OnLaunch the wait begins when the job declines an offer. With ToLaunched it begins with the start of the
// job and with each launch.
func TestTheRuleSaysWhenTheWaitBegins(t *testing.T) {
	paper, spark := started(t, Config{}), started(t, Config{Reset: ToLaunched})
	assert.Zero(t, paper.Offer(at(1), 0).NextLevelIn)
	assert.Equal(t, 15*time.Second, spark.Offer(at(1), 0).NextLevelIn)
	assert.Equal(t, Delayed, paper.Offer(at(20), 1).Reason)
	assert.Equal(t, LocalEnough, spark.Offer(at(20), 1).Reason)
	assert.Equal(t, LocalEnough, paper.Offer(at(35), 1).Reason)
	assert.Equal(t, Delayed, spark.Offer(at(34), 2).Reason, "after a launch at level 1 the level must be 1")
	assert.Equal(t, LocalEnough, spark.Offer(at(35), 2).Reason)
}

func TestWaitsCountedInOffers(t *testing.T) {
	j := started(t, Config{Misses: []int{2, 0, 1}})
	assert.Equal(t, "wait delayed level=3 allowed=0 misses=1", j.Offer(at(0), 3).String())
	assert.Equal(t, "wait delayed level=1 allowed=0", j.Offer(at(1e6), 1).String(), "time must not count; the level rises with the next offer")
	assert.Equal(t, Reason(NoTask), j.Offer(at(1e6), 4).Reason, "an offer without a task is not a rejection, but the level must have risen")
	assert.Equal(t, "wait delayed level=3 allowed=2", j.Offer(at(1e6), 3).String(), "the job must decline two offers at level 0 and none at level 1")
	assert.Equal(t, "launch local-enough level=3 allowed=3", j.Offer(at(1e6), 3).String())
	assert.Equal(t, "launch local-enough level=0 allowed=3 misses=2", j.Offer(at(1e6), 0).String())
}

// A clock that steps back makes the wait neither longer nor shorter.
func TestAClockThatStepsBackKeepsTheWait(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{10 * time.Second}})
	j.Offer(at(100), 1)
	assert.Equal(t, 4*time.Second, j.Offer(at(106), 1).NextLevelIn)
	assert.Equal(t, 4*time.Second, j.Offer(at(50), 1).NextLevelIn)
	assert.Equal(t, 1*time.Second, j.Offer(at(53), 1).NextLevelIn)
	assert.Equal(t, Launch, j.Offer(at(54), 1).Action)
}

func TestWaitsOfForeverAndZero(t *testing.T) {
	j := started(t, Config{Waits: []time.Duration{0, Forever}, Reset: ToLaunched})
	d := j.Offer(start.Add(Forever), 2)
	assert.Equal(t, Decision{Reason: Delayed, Level: 2, Allowed: 1}, d)
	j.Offer(start, 2)
	assert.Equal(t, Delayed, j.Offer(start.Add(Forever), 2).Reason, "an endless wait must not end after twice Forever")

	j = started(t, Config{Waits: []time.Duration{time.Second, Forever}, Reset: ToLaunched})
	level, rise := j.Allowed(at(1))
	assert.Equal(t, 1, level)
	assert.Zero(t, rise, "the level never rises, so the time must be 0")

	var zero Locality
	assert.Equal(t, Decision{Reason: NoTask, Level: 1}, zero.Offer(start, 1))
	zero.SetCandidates(start, 1)
	zero.EndRound(start, true)
	level, rise = zero.Allowed(start)
	assert.Zero(t, level)
	assert.Zero(t, rise)

	only := started(t, Config{Waits: []time.Duration{}})
	assert.Equal(t, Launch, only.Offer(start, 0).Action, "a policy with one level launches anywhere")
}
