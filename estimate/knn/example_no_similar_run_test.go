package knn_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate/knn"
)

// Is any past run similar to the task? All runs read 100 MB to 190 MB. A task of 1000 MB has a prediction as well, but
// its radius, in standard deviations, shows that the nearest runs are far away.
func ExamplePrediction_Radius() {
	runs, err := knn.New(knn.Config{Dimensions: 1, Neighbours: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 10 {
		megabytes := float64(100 + 10*i)
		if err := runs.Observe([]float64{megabytes}, megabytes/10); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Printf("a standard deviation is %.1f MB\n", runs.Divisors(nil)[0])
	var p knn.Prediction
	for _, megabytes := range []float64{150, 1000} {
		if err := runs.Predict(&p, []float64{megabytes}); err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%4.0f MB: %.1f s, radius %.1f\n", megabytes, p.Mean(), p.Radius())
	}
	// Output:
	// a standard deviation is 28.7 MB
	//  150 MB: 15.0 s, radius 0.3
	// 1000 MB: 18.7 s, radius 28.9
}
