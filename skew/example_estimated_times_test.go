package skew_test

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/estimate/knn"
	"github.com/straggler-go/straggler/skew"
)

// What if the time is not proportional to the size? Each worker needs 0.2 s to start a reduce task. The times are
// estimated from the most similar earlier runs of each worker.
func ExampleReducer_seconds() {
	problem := skew.Problem{Sizes: []int64{900, 100, 500, 300, 200, 400}}
	for _, secondsPerValue := range []float64{.001, .003} {
		runs, err := knn.New(knn.Config{Dimensions: 1, Neighbours: 3})
		if err != nil {
			fmt.Println(err)
			return
		}
		for size := 50.; size <= 1000; size += 50 { // earlier runs of the worker
			if err := runs.Observe([]float64{size}, .2+size*secondsPerValue); err != nil {
				fmt.Println(err)
			}
		}
		var p knn.Prediction
		problem.Reducers = append(problem.Reducers, skew.Reducer{
			Seconds: func(size int64) float64 {
				if runs.Predict(&p, []float64{float64(size)}) != nil {
					return math.NaN() // Assign returns an error
				}
				return p.Mean() // +Inf without earlier runs; Assign returns an error
			},
			KnownTo: 1000, // k-NN is constant beyond the largest run
		})
	}
	plan, err := skew.Assign(problem)
	fmt.Println(plan, err)
	fmt.Println(plan.Reducer, plan.Load)
	// Output:
	// partitions=6 reducers=2 ends=2.12143s balance=0.666667 unfit=0 <nil>
	// [0 0 0 0 1 1] [1800 600]
}
