package assign_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay/assign"
)

// What should this clone read now? It must still read two inputs. Each input is an upstream task with two clones.
func ExampleDecide() {
	const window = 3 * time.Second
	taken, free := assign.Clone{State: assign.Finished, Readers: 1}, assign.Clone{State: assign.Finished}
	first := assign.Input{Waited: time.Second, Clones: []assign.Clone{taken, {}}}
	second := assign.Input{Clones: []assign.Clone{{}, {}}}
	fmt.Println(assign.Decide([]assign.Input{first, second}, window))

	second.Clones[1] = free
	fmt.Println(assign.Decide([]assign.Input{first, second}, window))

	first.Waited = window
	fmt.Println(assign.Decide([]assign.Input{first}, window))

	// A clone with a lower number has not read the second input yet. Decide leaves the free output to that clone.
	second.Ahead = 1
	fmt.Println(assign.Decide([]assign.Input{second}, window))
	// Output:
	// wait window-open wait=2s
	// read own-output input=1 clone=1
	// share window-over input=0 clone=0 kill-rest=true
	// wait window-open wait=3s
}
