package skew_test

import (
	"fmt"

	"github.com/straggler-go/straggler/skew"
)

// How far is a plan from the best plan? The greedy plan ends after 7 s, and the bound is 6 s. With Refine the plan
// reaches the bound.
func ExampleBound() {
	problem := skew.Problem{
		Sizes:    []int64{3, 3, 2, 2, 2},
		Reducers: []skew.Reducer{{SecondsPerUnit: 1}, {SecondsPerUnit: 1}},
	}
	bound, _, err := skew.Bound(problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, refine := range []bool{false, true} {
		plan, err := skew.Policy{Refine: refine}.Assign(problem)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("refine=%v ends after %v s, and no plan ends before %.0f s\n", refine, plan.Seconds, bound)
	}
	// Output:
	// refine=false ends after 7 s, and no plan ends before 6 s
	// refine=true ends after 6 s, and no plan ends before 6 s
}
