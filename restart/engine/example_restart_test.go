package engine_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// How does a scheduler go on after a crash? The scheduler saves the machines and the phase together, and restores the
// machines first.
func ExampleRestore() {
	machines := new(engine.Machines)
	phase, err := engine.New(engine.Config{Tasks: 2, Slots: 2, Interval: time.Second, Machines: machines})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	for _, a := range phase.Poll(now, nil).Actions {
		fmt.Println(a)
	}
	savedPhase, _ := phase.MarshalBinary() // it never fails
	savedMachines, _ := machines.MarshalBinary()

	// Another process starts with the two files.
	again := new(engine.Machines)
	if err := again.UnmarshalBinary(savedMachines); err != nil {
		fmt.Println(err)
		return
	}
	restored, err := engine.Restore(engine.Config{Machines: again}, engine.Saved{Snapshot: savedPhase})
	if err != nil {
		fmt.Println(err)
		return
	}
	now = now.Add(time.Second)
	for _, a := range restored.Poll(now, []engine.Attempt{{ID: "0.0", Task: 0, State: engine.Succeeded, Ended: now}}).Actions {
		fmt.Println(a)
	}
	// Output:
	// submit 0.0
	// submit 1.0
	// publish 0.0
}
