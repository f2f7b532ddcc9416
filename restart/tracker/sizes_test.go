package tracker_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Eight slots on four workers, one of them five times slow. 39 tasks take some 5 s, and one takes 50 s. The sizes are
// told exactly, and attempts report nothing. The time of a task is proportional to its size, so the fitted overhead is
// always 0, although small tasks on the slow worker are killed at the age of larger tasks. The phases end sooner than
// without sizes and mitigation, where tasks start in their order.
func TestToldSizesAndSilentAttempts(t *testing.T) {
	share := 0.0
	const seeds = 60
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 45))
		work := make([]float64, 40)
		for i := range work {
			work[i] = 5 * math.Exp(.25*rng.NormFloat64())
		}
		work[rng.IntN(len(work))] = 50
		var took [2]time.Duration
		for i, policy := range []restart.Policy{restart.Never{}, restart.LeastCost{}} {
			var s *sim
			told := work
			if i == 0 {
				told = nil
			}
			s = newSim(t, tracker.Config{
				Tasks: len(work), Work: told, Slots: 8, Machines: 4, Interval: time.Second, Policy: policy,
				OnEvent: func(tracker.Event, tracker.Answer) {
					if s != nil && s.tracker.UnitTimes().Overhead() != 0 {
						require.Zero(t, s.tracker.UnitTimes().Overhead(), "seed %d", seed)
					}
				},
			}, func(task, _, machine int) time.Duration {
				if machine == 3 {
					return seconds(5 * work[task])
				}
				return seconds(work[task])
			})
			s.done = func(int, float64) tracker.Report { return tracker.Report{} }
			took[i] = s.run(t)
		}
		share += took[1].Seconds() / took[0].Seconds() / seeds
	}
	t.Logf("%.3f of the time without mitigation", share)
	assert.Less(t, share, .92)
}
