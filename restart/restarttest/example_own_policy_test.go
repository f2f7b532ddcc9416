package restarttest_test

import (
	"slices"
	"testing"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/restarttest"
	"github.com/straggler-go/straggler/restart/rules"
)

// patient is a custom policy: Mantri, but it does nothing in the first two report periods of a task.
type patient struct{ restart.Mantri }

func (p patient) Decide(t restart.Task, phase restart.Phase) restart.Decision {
	if len(t.Attempts) == 1 && t.Attempts[0].Elapsed < 2*phase.Interval {
		return restart.Decision{Reason: restart.TooYoung}
	}
	return p.Mantri.Decide(t, phase)
}

// Does my own policy still answer as recorded? The example is the body of a test function.
func ExamplePolicy() {
	TestPatient := func(t *testing.T) {
		restarttest.Run(t, "testdata/*.txt", restarttest.Policy(patient{restart.Mantri{MaxRestarts: 1}}))
	}
	_ = TestPatient
}

// Which tasks would another policy touch? The journal was recorded under restart.Never, and tasks 3 and 7 are
// known to be slow. Each policy must find these two and touch no other task.
func ExampleTouched() {
	TestStragglersAreFound := func(t *testing.T) {
		for _, policy := range []restart.Policy{restart.Mantri{}, rules.Spark{Quantile: 0.75}} {
			var tasks []int
			for _, at := range restarttest.Touched(t, journal.Options{Policy: policy}, "testdata/never.txt") {
				tasks = append(tasks, at.Task)
			}
			slices.Sort(tasks)
			if !slices.Equal(tasks, []int{3, 7}) {
				t.Errorf("%T touches %v, want 3 and 7", policy, tasks)
			}
		}
	}
	_ = TestStragglersAreFound
}
