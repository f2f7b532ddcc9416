package skew_test

import (
	"fmt"

	"github.com/straggler-go/straggler/skew"
)

// Which worker should get which partition? The second worker is twice as fast. It gets two thirds of the data,
// including the largest partition.
func ExampleAssign() {
	plan, err := skew.Assign(skew.Problem{
		Sizes:    []int64{100, 400, 200, 200},
		Reducers: []skew.Reducer{{SecondsPerUnit: .002}, {SecondsPerUnit: .001}},
	})
	fmt.Println(plan.Reducer, plan.Load, plan.End, err)
	fmt.Printf("ends after %v, balance %.2f\n", plan.Duration(), plan.Balance())
	// Output:
	// [0 1 0 1] [300 600] [0.6 0.6] <nil>
	// ends after 600ms, balance 0.75
}
