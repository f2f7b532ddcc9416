package tracker_test

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/tracker"
)

// cases returns the number of cases of a long test: few, or all of them if STRAGGLER_LIVES is set.
func cases(few, all uint64) uint64 {
	if os.Getenv("STRAGGLER_LIVES") != "" {
		return all
	}
	return few
}

// Phases of five sizes are restored at 4 random moments. If STRAGGLER_LIVES is set, phases of nine sizes are restored
// at 50 moments. The restored tracker writes the same snapshot, and gives the same answers, as the tracker that never
// stopped.
func TestAPhaseIsRestoredAtAnyMoment(t *testing.T) {
	t.Parallel()
	sizes, moments := []int{0, 1, 40, 400, 2000}, 4
	if os.Getenv("STRAGGLER_LIVES") != "" {
		sizes, moments = []int{0, 1, 3, 40, 399, 400, 1000, 5000, 20000}, 50
	}
	for _, tasks := range sizes {
		rng := rand.New(rand.NewPCG(uint64(tasks), 29))
		now := time.Unix(1e9, 0)
		work := make([]float64, tasks)
		for i := range work {
			work[i] = 1 + 3*rng.Float64() // above 0, so that unit times are learned
		}
		one := newTracker(t, tracker.Config{Work: work, Slots: 40, Interval: time.Second})
		order, running, ended := rng.Perm(tasks), []int(nil), 0
		for moment := range moments {
			for range rng.IntN(6*tasks/moments + 2) { // three events a task
				now = now.Add(time.Duration(rng.IntN(int(time.Second))))
				if len(running) < 40 && len(order) > 0 {
					one.Start(now, order[0], rng.IntN(10))
					running, order = append(running, order[0]), order[1:]
				} else if len(running) > 0 {
					i := rng.IntN(len(running))
					switch task := running[i]; rng.IntN(20) {
					default:
						one.Finish(now, task, 0)
						running[i] = running[len(running)-1]
						running = running[:len(running)-1]
						ended++
					case 0, 1, 2, 3, 4, 5, 6, 7, 8:
						one.Report(now, task, 0, tracker.Report{Done: work[task] * rng.Float64()})
					}
				}
			}
			text, err := one.MarshalBinary()
			require.NoError(t, err)
			two, err := tracker.Restore(tracker.Config{}, text)
			require.NoError(t, err, "%d tasks, moment %d: %d have ended", tasks, moment, ended)
			again, err := two.MarshalBinary()
			require.NoError(t, err)
			require.Equal(t, text, again, "%d tasks, moment %d", tasks, moment)
			require.Equal(t, one.Next(now, 3).String(), two.Next(now, 3).String(), "%d tasks, moment %d", tasks, moment)
			for _, task := range running { // these answers depend on all that was learned
				require.Equal(t, one.Decide(now, task).String(), two.Decide(now, task).String(), "task %d of %d, moment %d", task, tasks, moment)
			}
			require.Equal(t, one.Ledger(), two.Ledger(), "%d tasks, moment %d", tasks, moment)
		}
		if tasks >= 400 {
			require.Greater(t, ended, tasks/2, "too few of %d tasks have ended for the test", tasks)
		}
	}
}
