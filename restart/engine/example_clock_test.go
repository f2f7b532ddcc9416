package engine_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// How far is a machine's clock off? The attempt was submitted at 0 s and seen at 1 s, but its machine says that
// it began at 61 s. So the clock is at least 60 s ahead.
func ExampleMachines_ClockOffset() {
	machines := new(engine.Machines)
	phase, err := engine.New(engine.Config{Tasks: 1, Slots: 1, Interval: time.Second, Machines: machines})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	phase.Poll(now, nil)
	phase.Poll(now.Add(time.Second), []engine.Attempt{
		{ID: "0.0", State: engine.Running, Machine: "ann", Begun: now.Add(61 * time.Second)},
	})
	fmt.Println(machines.ClockOffset("ann"))
	// Output:
	// 1m0s
}
