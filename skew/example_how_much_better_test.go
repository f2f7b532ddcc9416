package skew_test

import (
	"fmt"

	"github.com/straggler-go/straggler/skew"
)

// How much does the rule gain? Worker 1 takes four times as long for a unit of size. If all loads are equal, the
// phase ends much later than by the rule of DynamicShare.
func ExamplePolicy() {
	problem := skew.Problem{
		Sizes:    []int64{900, 100, 500, 300, 200, 400},
		Reducers: []skew.Reducer{{SecondsPerUnit: .001}, {SecondsPerUnit: .004}},
	}
	for _, rule := range []skew.Rule{skew.EarliestEnd, skew.LoadBalance, skew.ByHash} {
		plan, _ := skew.Policy{Rule: rule}.Assign(problem)
		fmt.Printf("%-12v ends after %v, balance %.2f\n", rule, plan.Duration(), plan.Balance())
	}
	// Output:
	// earliest-end ends after 2s, balance 0.60
	// load-balance ends after 4.8s, balance 1.00
	// by-hash      ends after 3.2s, balance 0.75
}
