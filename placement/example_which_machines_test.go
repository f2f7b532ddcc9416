package placement_test

import (
	"fmt"

	"github.com/straggler-go/straggler/placement"
)

// Which machines should each task prefer? A scheduler tries the machines of a list one after another. With the
// lists of Affinity the tasks are spread over the racks as planned.
func ExampleAffinity() {
	a := placement.Assignment{Rack: []int{0, 0, 1, 0}} // three of four tasks in rack 0
	machines := [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}    // rack 0, rack 1
	for task := range 2 {
		list, err := placement.Affinity(nil, a.Spread(2), machines, 4, task)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("task %d prefers %v\n", task, list)
	}
	// Output:
	// task 0 prefers [0 1 4 2]
	// task 1 prefers [1 2 5 3]
}
