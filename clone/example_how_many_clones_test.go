package clone_test

import (
	"fmt"

	"github.com/straggler-go/straggler/clone"
)

// How many clones does each task need? The job has ten tasks, a task straggles with probability 0.1, and the job
// may straggle with probability 0.05.
func ExampleCount() {
	c, err := clone.Count(10, 0.1, 0.05)
	fmt.Println(c, err)
	_, err = clone.Count(10, 1.5, 0.05)
	fmt.Println(err)
	// Output:
	// 3 <nil>
	// clone: p is 1.5, want a probability in [0, 1)
}
