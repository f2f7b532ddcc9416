package risk_test

import (
	"fmt"

	"github.com/straggler-go/straggler/clone/risk"
)

// How likely is a job to straggle with each way of cloning? The job has ten tasks, or two phases of ten tasks.
// Each task has three clones, and a clone straggles with probability 0.1.
func ExampleOf() {
	for s := risk.TaskLevel; s <= risk.RandomAvoidance; s++ {
		p, _ := risk.Of(s, 10, 3, 0.1)
		fmt.Printf("%-16v %.3f\n", s, p)
	}
	// Output:
	// task-level       0.010
	// job-level        0.276
	// contention       0.020
	// avoidance        0.233
	// random-avoidance 0.588
}
