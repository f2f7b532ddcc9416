package laxity_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/laxity"
)

// Which tasks should move from an overloaded worker? If task 2 moves, all other tasks end in time.
func ExampleOffload() {
	tasks := []laxity.Pending{
		{Started: true, Remaining: 200 * ms, UntilDeadline: 1000 * ms, EndElsewhere: estimate.Unknown},
		{Remaining: 300 * ms, UntilDeadline: 1000 * ms, EndElsewhere: 700 * ms},
		{Remaining: 600 * ms, UntilDeadline: 1000 * ms, EndElsewhere: 900 * ms},
		{Remaining: 300 * ms, UntilDeadline: 1200 * ms, EndElsewhere: 700 * ms},
	}
	for i, t := range laxity.Offload(nil, tasks) {
		fmt.Println("task", i, t)
	}
	// Output:
	// task 0 stay started
	// task 1 stay ends-in-time laxity=0.5s
	// task 2 move makes-room laxity=0.1s
	// task 3 stay ends-in-time laxity=0.4s
}
