package clone_test

import (
	"fmt"

	"github.com/straggler-go/straggler/clone"
)

// How many clones does each task need? The job has ten tasks, one task in ten straggles, and one job in twenty may.
func ExampleCount() {
	c, err := clone.Count(10, 0.1, 0.05)
	fmt.Println(c, err)
	_, err = clone.Count(10, 1.5, 0.05)
	fmt.Println(err)
	// Output:
	// 3 <nil>
	// clone: p is 1.5, want a probability in [0, 1)
}
