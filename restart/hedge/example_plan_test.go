package hedge_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/hedge"
)

// After how long should a second request be sent, if all times are known?
func ExampleProblem_Best() {
	var times survival.Curve
	for i := range 100 { // 1 to 9 ms, and every tenth 100 ms
		ms := float64(i%10 + 1)
		if i%10 == 9 {
			ms = 100
		}
		times.Observe(ms, true)
	}
	times.Fit()
	plan, err := hedge.Problem{First: &times, Percentile: 0.98, Budget: 0.15}.Best()
	fmt.Println(plan, err)
	// Output:
	// send delay=9 probability=1 load=0.1 time=17 alone=100 <nil>
}
