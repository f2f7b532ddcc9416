package restarttest_test

import (
	"testing"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/restarttest"
)

// patient is a policy of the host's own: Mantri, but it leaves a task alone for its first two report periods.
type patient struct{ restart.Mantri }

func (p patient) Decide(t restart.Task, phase restart.Phase) restart.Decision {
	if len(t.Copies) == 1 && t.Copies[0].Elapsed < 2*phase.Interval {
		return restart.Decision{Reason: restart.TooYoung}
	}
	return p.Mantri.Decide(t, phase)
}

// A host runs its own policy on the journals that it has recorded: the body of a test function.
func ExampleRunPolicy() {
	TestPatient := func(t *testing.T) {
		restarttest.RunPolicy(t, patient{restart.Mantri{MaxRestarts: 1}}, "testdata/*.txt")
	}
	_ = TestPatient
}
