package hedge_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/hedge"
)

// How long should a query wait for its last answer? It has taken 10 ms, and the last answer comes 1 to 3 ms after the
// one before, but 80 ms after it in one of fifty queries.
func ExampleNewGrace() {
	var gaps survival.Curve
	for i := range 500 {
		ms := 1 + float64(i%100)/50
		if i%50 == 0 {
			ms = 80
		}
		gaps.Observe(ms, true)
	}
	gaps.Fit()
	grace, err := hedge.NewGrace(&gaps, 10)
	fmt.Printf("wait %.3g ms; the answer comes with probability %.2f, after %.3g ms on average %v\n",
		grace.Wait, grace.Comes, grace.Costs, err)
	// Output:
	// wait 2.98 ms; the answer comes with probability 0.98, after 2.02 ms on average <nil>
}
