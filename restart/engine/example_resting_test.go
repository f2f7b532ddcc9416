package engine_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// Which machines get no attempts now? A machine that lost an attempt rests for a minute, unless the engine
// reports that the machine went down and is up again.
func ExampleMachines_Resting() {
	machines := new(engine.Machines)
	phase, err := engine.New(engine.Config{Tasks: 1, Slots: 1, Interval: time.Second, Machines: machines})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	phase.Poll(now, nil)
	for _, a := range phase.Poll(now.Add(time.Second), []engine.Attempt{{ID: "0.0", State: engine.Lost, Machine: "ann"}}).Actions {
		fmt.Println(a)
	}
	fmt.Println(machines.Resting(now.Add(time.Second)))

	machines.SetDown("ann", true)
	machines.SetDown("ann", false)
	phase.Poll(now.Add(2*time.Second), nil)
	fmt.Println(machines.Resting(now.Add(2 * time.Second)))
	// Output:
	// submit 0.1
	// [ann]
	// []
}
