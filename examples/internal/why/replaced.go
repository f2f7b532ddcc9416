package why

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Replaced returns the time that phases save in all, in seconds, if no task on the slow machines takes longer than the
// median of the tasks of its phase on other machines. It is the saving if equally many slots of other machines replace
// the slow ones. A phase without tasks on other machines saves nothing.
func Replaced(phases []*sim.Phase, slow func(machine string) bool) (seconds float64, err error) {
	for _, p := range phases {
		own := func(t sim.Task) bool { return slow(t.Host) }
		if !slices.ContainsFunc(p.Tasks, own) {
			continue
		}
		others := sim.Phase{Tasks: slices.DeleteFunc(slices.Clone(p.Tasks), own)}
		most := time.Duration(medianOf(&others) * float64(time.Second))
		if len(others.Tasks) == 0 || most <= 0 {
			continue
		}
		replaced := *p
		replaced.Tasks = slices.Clone(p.Tasks)
		for i := range replaced.Tasks {
			if t := &replaced.Tasks[i]; own(*t) {
				t.Attempts = slices.Clone(t.Attempts)
				t.Attempts[len(t.Attempts)-1].Duration = min(compare.Last(p, i), most)
			}
		}
		before, err := sim.Run(p, sim.Options{Policy: restart.Never{}})
		if err != nil {
			return 0, err
		}
		after, err := sim.Run(&replaced, sim.Options{Policy: restart.Never{}})
		if err != nil {
			return 0, err
		}
		seconds += (before.Time - after.Time).Seconds()
	}
	return seconds, nil
}
