package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A file server is away for a while. Attempts that start in that time hang for ever and hold every slot, so that no
// copy can be made. Each hung attempt is restarted, although the hung attempts stretch E(t_new) as far as t_rem. 100
// tasks of a minute on 12 slots, which take nine minutes without the outage, take 26.
func TestHungAttemptsInAllSlotsAreRestarted(t *testing.T) {
	for _, before := range []int{24, 48, 84} {
		started := map[[2]int]int{}
		s := newSim(t, tracker.Config{Tasks: 100, Slots: 12, Machines: 12, Interval: 10 * time.Second, Policy: restart.Mantri{}},
			func(task, attempt, _ int) time.Duration {
				id := [2]int{task, attempt}
				if _, ok := started[id]; !ok {
					started[id] = len(started)
				}
				if n := started[id]; n >= before && n < before+12 {
					return 1000 * time.Hour
				}
				return time.Minute
			})
		s.done = func(int, float64) tracker.Report { return tracker.Report{} }
		assert.Less(t, s.run(t), 30*time.Minute, "after %d", before)
	}
}
