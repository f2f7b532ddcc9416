package engine_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// How does a queue without lists report its attempts? The adapter pushes each event as it happens, and an empty
// slice once an interval.
func ExamplePhase_Push() {
	phase, err := engine.New(engine.Config{Tasks: 2, Slots: 1, Interval: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	start := time.Unix(0, 0)
	push := func(seconds int, events ...engine.Attempt) {
		for _, a := range phase.Push(start.Add(time.Duration(seconds)*time.Second), events).Actions {
			fmt.Printf("%d s: %v\n", seconds, a)
			if a.Op == engine.Publish {
				phase.Published(a.ID)
			}
		}
	}
	push(0)
	push(1, engine.Attempt{ID: "0.0", Task: 0, State: engine.Running, Begun: start.Add(time.Second)})
	push(2) // nothing has happened
	push(3, engine.Attempt{ID: "0.0", Task: 0, State: engine.Succeeded, Ended: start.Add(3 * time.Second)})
	// Output:
	// 0 s: submit 0.0
	// 3 s: publish 0.0
	// 3 s: submit 1.0
}
