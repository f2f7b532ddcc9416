package knn_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/knn"
)

// Past map tasks on one worker: size in megabytes, CPU and memory in percent.
func ExampleRegressor() {
	runs, err := knn.New(knn.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var p knn.Prediction
	if err := runs.Predict(&p, []float64{64, 50, 20}); err != nil {
		fmt.Println(err)
	}
	fmt.Println("known:", p.Known(), "mean:", p.Mean())

	for i := range 20 {
		size := float64(16 + 8*i)
		if err := runs.Observe([]float64{size, 50, 20}, 2+size/10); err != nil {
			fmt.Println(err)
		}
	}
	if err := runs.Predict(&p, []float64{64, 50, 20}); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("known: %v mean: %.1f s, %d runs, 80%% within %.1f s\n", p.Known(), p.Mean(), p.Len(), p.Quantile(.8))

	// A restart policy can use the prediction as t_new, the time of a new attempt.
	fresh := estimate.Fresh{UnitTime: &p, Work: 1}
	fmt.Println(fresh.Expected())
	fmt.Println(runs.Predict(&p, []float64{64}))
	// Output:
	// known: false mean: +Inf
	// known: true mean: 8.4 s, 9 runs, 80% within 10.0 s
	// 8.4s
	// estimate/knn: len(x) is 1, want 3
}
