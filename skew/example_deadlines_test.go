package skew_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/skew"
)

// What if a worker must be free at a certain time? The fast worker must be free for a task of another job after 0.5
// s. So no worker can take partition 3 within its deadline. With PlaceAll it is assigned to the reduce task that
// ends first.
func ExampleAssign_deadline() {
	problem := skew.Problem{
		Sizes: []int64{100, 400, 200, 200},
		Reducers: []skew.Reducer{
			{SecondsPerUnit: .002, Deadline: 600 * time.Millisecond},
			{SecondsPerUnit: .001, Deadline: 500 * time.Millisecond},
		},
	}
	plan, _ := skew.Assign(problem)
	fmt.Println(plan.Reducer, "left out:", plan.Unfit)
	plan, _ = skew.Policy{PlaceAll: true}.Assign(problem)
	fmt.Printf("%v beyond a deadline: %v %.1f\n", plan.Reducer, plan.Unfit, plan.End)
	// Output:
	// [1 1 0 -1] left out: [3]
	// [1 1 0 1] beyond a deadline: [3] [0.4 0.7]
}
