package clone_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/clone"
)

// How likely is a task to straggle? In this phase one task in ten had less than half of the median progress rate.
func ExampleEstimator() {
	estimator, err := clone.NewEstimator(clone.EstimatorConfig{MinTasks: 10})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	fmt.Println(estimator.P(now))
	slow := estimator.Observe(now, []float64{11, 10, 9, 12, 10, 10, 11, 9, 10, 1.3})
	fmt.Println("below", slow, "MB/s a task straggles")
	fmt.Println(estimator.P(now))
	// Output:
	// NaN false
	// below 5 MB/s a task straggles
	// 0.1 true
}
