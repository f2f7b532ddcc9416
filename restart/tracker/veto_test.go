package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// nearby is a policy that copies each task, unless the copy would be far from the data of the task.
type nearby struct{}

func (nearby) Decide(t restart.Task, p restart.Phase) (d restart.Decision) {
	if d.Reason = restart.NotSlow; t.Fresh.Location < 2 {
		d.Action, d.Reason, d.Gain = restart.Copy, restart.IdleSlot, t.Attempts[0].Elapsed
	}
	return d
}

// A machine that suits no task takes no copy away from the machines that ask after it, in whatever order they ask.
func TestABadMachineVetoesNoCopyElsewhere(t *testing.T) {
	orders := [][]int{{2, 3, 0}, {0, 2, 3}, {2, 0, 3}, {0, 0, 0, 3, 2}, {3, 0, 2}}
	for _, order := range orders {
		for _, tasks := range []int{1, 2} {
			tr := newTracker(t, tracker.Config{
				Tasks: tasks, Slots: 5, Interval: 10 * time.Second, Policy: nearby{},
				Path: func(_, machine int) float64 {
					if machine == 0 {
						return 5
					}
					return 1
				},
			})
			for task := range tasks {
				tr.Start(at(float64(task)), task, 1)
			}
			for task := range tasks {
				require.Equal(t, restart.Copy, tr.Report(at(100), task, 0, tracker.Report{Done: .1}).Action)
			}
			copies := 0
			for _, machine := range order {
				if a := tr.Next(at(100), machine); a.Action == restart.Copy {
					require.NotZero(t, machine, "a copy far from the data")
					require.Equal(t, copies, a.Task, "the task that gains most is first")
					tr.Start(at(100), a.Task, machine)
					copies++
				}
			}
			require.Equal(t, tasks, copies, "order %v", order)
		}
	}
}

// Each of twelve tasks may have its copy on one machine only. The machines ask in
// several orders, and each task gets its copy.
func TestEachTaskGetsItsCopyOnItsMachine(t *testing.T) {
	for _, order := range [][]int{
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, {7, 2, 11, 0, 1, 5, 3, 4, 10, 6, 9, 8},
	} {
		tr := newTracker(t, tracker.Config{
			Tasks: 12, Slots: 24, Interval: 10 * time.Second, Policy: nearby{},
			Path: func(task, machine int) float64 {
				if machine >= 0 && machine != task {
					return 5
				}
				return 1
			},
		})
		for task := range 12 {
			tr.Start(at(0), task, 12)
			tr.Report(at(100), task, 0, tracker.Report{Done: .1})
		}
		for _, machine := range order {
			a := tr.Next(at(100), machine)
			require.Equal(t, restart.Copy, a.Action, "order %v, machine %d: %v", order, machine, a)
			require.Equal(t, machine, a.Task)
			tr.Start(at(100), a.Task, machine)
		}
	}
}
