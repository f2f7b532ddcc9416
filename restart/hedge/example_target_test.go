package hedge_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/hedge"
)

// How few second requests reach a target? A quarter of the answers take 100 ms, and 90 % must come within 30 ms.
func ExampleProblem_Least() {
	var times survival.Curve
	for i := range 100 {
		ms := float64(i%75 + 1)
		if i >= 75 {
			ms = 100
		} else {
			ms = 10 + ms/10
		}
		times.Observe(ms, true)
	}
	times.Fit()
	plan, err := hedge.Problem{First: &times, Percentile: 0.9, Budget: 1}.Least(30)
	fmt.Println(plan, err)
	// Output:
	// send delay=12.5 probability=0.8 load=0.6 time=30 alone=100 <nil>
}
