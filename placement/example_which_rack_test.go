package placement_test

import (
	"fmt"

	"github.com/straggler-go/straggler/placement"
)

// In which rack should each task run? In Figure 10 of the paper, three reduce tasks each read a part of every map
// output, in three racks. With the first free slots, two tasks would run in one rack. With one task in each rack,
// the longest transfer takes half the time.
func ExampleAssign() {
	const MB = 1e6
	shuffle := placement.Problem{
		Input: [][]float64{ // bytes of each task's input in each rack
			{100 * MB, 100 * MB, 100 * MB},
			{100 * MB, 100 * MB, 100 * MB},
			{100 * MB, 100 * MB, 100 * MB},
		},
		Up:   []float64{50 * MB, 50 * MB, 50 * MB}, // bytes per second
		Down: []float64{50 * MB, 50 * MB, 50 * MB},
	}
	a, err := placement.Assign(shuffle, placement.DefaultEffort)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Rack, a)
	// Output:
	// [0 1 2] tasks=3 seconds=4 bottleneck=rack-0-up bound=4 optimal=true
}
