package survival_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate/survival"
)

// How probable is it that a slow task is an outlier? Half of the tasks take at most 100 s, and a quarter take at most 80 s.
func ExampleBody_Outlier() {
	body := survival.NewBody(80, 100)
	for _, seconds := range []float64{100, 150, 300} {
		fmt.Printf("%.0f s: %.2f\n", seconds, body.Outlier(seconds))
	}
	// Output:
	// 100 s: 0.10
	// 150 s: 0.24
	// 300 s: 0.52
}
