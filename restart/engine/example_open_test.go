package engine_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// Which requests has the engine not carried out yet? Attempt 0.0 has won and is not yet published, and no list
// has shown attempt 1.0.
func ExamplePhase_Outstanding() {
	phase, err := engine.New(engine.Config{Tasks: 2, Slots: 2, Interval: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	phase.Poll(now, nil)
	phase.Poll(now.Add(time.Second), []engine.Attempt{{ID: "0.0", Task: 0, State: engine.Succeeded}})
	for _, a := range phase.Outstanding() {
		fmt.Println(a)
	}
	winner, _ := phase.Winner(0)
	fmt.Println("task 0 is won by", winner)

	phase.Published("0.0")
	fmt.Println(len(phase.Outstanding()), "request is open")
	// Output:
	// publish 0.0
	// submit 1.0
	// task 0 is won by 0.0
	// 1 request is open
}
