package tracker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// oneWave runs 40 tasks on 50 slots. The host tells only starts and ends. Attempts take 15 to 25 s, evenly
// distributed; one attempt in twenty takes eight times as long.
func oneWave(t *testing.T, policy restart.Policy, seed uint64) (wall, used time.Duration) {
	s := newSim(t, tracker.Config{Tasks: 40, Slots: 50, Machines: 50, Interval: 2 * time.Second, Policy: policy},
		func(task, attempt, _ int) time.Duration {
			rng := rand.New(rand.NewPCG(seed, uint64(task)<<32|uint64(attempt)))
			takes := time.Duration((15 + 10*rng.Float64()) * float64(time.Second))
			if rng.Float64() < 0.05 {
				takes *= 8
			}
			return takes
		})
	s.done = func(int, float64) tracker.Report { return tracker.Report{} }
	s.watch = func(now time.Duration, a tracker.Answer) {
		if a.Action == restart.Copy {
			assert.Greater(t, now, 25*time.Second, "seed %d: the task is copied too early: %v", seed, a)
		}
	}
	wall = s.run(t)
	return wall, s.tracker.Ledger().Used
}

// Tasks take 15 to 25 s. A task that has run for some 38 s is a straggler; its copy takes 20 s, where the task alone
// would take 160 s. Over 20 seeds the phases take 36 % of the time, and 86 % of the slot time, that they take without
// a policy. No task is copied before it is older than the slowest attempt that has ended.
func TestStragglersOfOneSilentWaveGetCopies(t *testing.T) {
	var wall, used, plainWall, plainUsed time.Duration
	for seed := range uint64(20) {
		w, u := oneWave(t, restart.Never{}, seed)
		plainWall, plainUsed = plainWall+w, plainUsed+u
		w, u = oneWave(t, restart.Mantri{}, seed)
		wall, used = wall+w, used+u
		assert.Less(t, w, 100*time.Second, "seed %d", seed)
	}
	assert.Less(t, wall.Seconds(), 0.38*plainWall.Seconds())
	assert.Less(t, used.Seconds(), 0.88*plainUsed.Seconds())
}
