package estimate_test

import (
	"fmt"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
)

// Before enough tasks have run, the host's own expectation of the phase replaces the samples.
func ExampleUnitTimes_prior() {
	times, err := estimate.NewUnitTimes(estimate.UnitTimesConfig{Prior: distuv.Uniform{Min: 1, Max: 3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(times.Samples(), "samples:", times.Mean())
	for range 3 {
		times.Finish(estimate.NoSample, estimate.Run{Age: 40 * time.Second, Work: 10})
	}
	fmt.Println(times.Samples(), "samples:", times.Mean())
	// Output:
	// 0 samples: 2
	// 3 samples: 4
}
