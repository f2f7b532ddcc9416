package replicate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/replicate"
)

// What does a loss cost in a chain of tasks? Each task takes 20 s and reads the output before. A later output costs
// more, because its inputs may be lost, too.
func ExampleGraph_chain() {
	var job replicate.Graph
	for k, inputs := range [][]int{nil, {0}, {1}} {
		if _, err := job.Add(replicate.Output{Run: 20 * time.Second, Loss: 0.1, Inputs: inputs}); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(job.Cost(k))
	}
	// Output:
	// redo=20s stall=0s expected=2s cluster-time=20s
	// redo=22s stall=2s expected=2.2s cluster-time=22s
	// redo=22.2s stall=2.2s expected=2.22s cluster-time=22.2s
}
