package knn_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/knn"
)

// How does a new process learn from the runs of another? It sends its version, which says which runs it knows, and
// merges the answer.
func ExampleRegressor_Merge() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	experienced, err := knn.New(knn.Config{Dimensions: 1, Origin: "worker-a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 10 {
		megabytes := float64(100 + 10*i)
		if err := experienced.ObserveAt(now, []float64{megabytes}, megabytes/10); err != nil {
			fmt.Println(err)
		}
	}
	newcomer, err := knn.New(knn.Config{Dimensions: 1, Origin: "worker-b"})
	if err != nil {
		fmt.Println(err)
		return
	}
	delta, err := experienced.AppendDelta(nil, newcomer.AppendVersion(nil))
	if err != nil {
		fmt.Println(err)
	}
	if err := newcomer.Merge(now.Add(time.Second), delta); err != nil {
		fmt.Println(err)
	}
	var p knn.Prediction
	if err := newcomer.Predict(&p, []float64{150}); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%d runs, 150 MB take %.1f s\n", newcomer.Len(), p.Mean())
	// Output:
	// 10 runs, 150 MB take 15.0 s
}
