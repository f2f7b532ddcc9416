package knn_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate/knn"
)

// Which resources does a task need?
func ExampleHistogram() {
	cpu, err := knn.NewHistogram(knn.HistogramConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cpu.Estimate())
	for _, percent := range []float64{41, 43, 42, 90, 12} {
		cpu.Observe(percent)
	}
	fmt.Println(cpu.Estimate())
	// Output:
	// 0 false
	// 42 true
}
