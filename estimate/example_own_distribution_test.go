package estimate_test

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
)

// Any distribution of gonum can describe the time of a unit of work. Here the median time is 60 s, and the machine
// is twice as slow as the average.
func ExampleFresh() {
	fresh := estimate.Fresh{
		UnitTime: distuv.LogNormal{Mu: math.Log(60), Sigma: 1},
		Work:     1,
		Location: 2,
	}
	fmt.Println("expected:", fresh.Expected().Round(time.Second))
	fmt.Printf("median:   %.0f s\n", fresh.Quantile(.5))
	fmt.Printf("in under a minute: %.2f\n", fresh.Below(60))
	// Output:
	// expected: 3m18s
	// median:   120 s
	// in under a minute: 0.24
}
