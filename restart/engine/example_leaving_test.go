package engine_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// How do attempts leave a machine that will be drained? Machine ann leaves in 29 s, and attempt 1.0 there still needs
// 89 s. So task 1 is copied to bob, and ann gets no new attempts.
func ExampleMachines_SetLeaving() {
	machines, err := engine.NewMachines(engine.MachinesConfig{
		Machines: []engine.Machine{{Name: "ann", Slots: 1}, {Name: "bob", Slots: 2}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	phase, err := engine.New(engine.Config{Tasks: 2, Interval: time.Second, Machines: machines})
	if err != nil {
		fmt.Println(err)
		return
	}
	start := time.Unix(0, 0)
	for _, a := range phase.Poll(start, nil).Actions {
		fmt.Println(a)
	}
	running := func(seconds float64) []engine.Attempt {
		progress := tracker.Report{Score: seconds / 100}
		return []engine.Attempt{
			{ID: "0.0", Task: 0, State: engine.Running, Machine: "bob", Begun: start, Progress: progress},
			{ID: "1.0", Task: 1, State: engine.Running, Machine: "ann", Begun: start, Progress: progress},
		}
	}
	phase.Poll(start.Add(10*time.Second), running(10))
	machines.SetLeaving("ann", start.Add(40*time.Second))
	for _, a := range phase.Poll(start.Add(11*time.Second), running(11)).Actions {
		fmt.Println(a)
	}
	// Output:
	// submit 0.0 on bob
	// submit 1.0 on ann
	// submit 1.1 on bob not on ann: copy leaving remaining=89s fresh=? bar=29s gain=inf avoid=0
}
