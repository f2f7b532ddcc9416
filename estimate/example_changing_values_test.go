package estimate_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate"
)

// The exact distribution of a changing set of values.
func ExampleEmpirical() {
	var e estimate.Empirical
	for _, seconds := range []float64{9, 11, 10, 10, 60} {
		e.Insert(seconds)
	}
	fmt.Println("mean", e.Mean(), "median", e.Quantile(.5), "p80", e.Quantile(.8))
	fmt.Println("P(X < 10) =", e.Below(10), " P(X <= 10) =", e.CDF(10))

	e.Delete(60)
	fmt.Println("mean", e.Mean(), "of", e.Len())
	// Output:
	// mean 20 median 10 p80 11
	// P(X < 10) = 0.2  P(X <= 10) = 0.6
	// mean 10 of 4
}
