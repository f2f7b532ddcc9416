package estimate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// Was the killed attempt slow, or is its task long? The attempt was killed at a quarter of its work after 20 s, so
// its progress implied a whole time of 80 s. A second attempt of the task takes 70 s. So the task is long, and only
// one of the two attempts stays a sample.
func ExampleUnitTimes_Repeat() {
	times, err := estimate.NewUnitTimes(estimate.UnitTimesConfig{FixedOverhead: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		times.Finish(estimate.NoSample, estimate.Run{Age: 10 * time.Second, Work: 1})
	}
	killed := times.Kill(estimate.NoSample, estimate.Run{Age: 20 * time.Second, Work: 1, Done: .25})
	fmt.Println(times.Samples(), "samples, mean", times.Mean(), "s")

	second := estimate.Run{Age: 70 * time.Second, Work: 1}
	times.Finish(estimate.NoSample, second)
	fmt.Println("the task is long:", times.Repeat(killed, second))
	fmt.Println(times.Samples(), "samples, mean", times.Mean(), "s")
	// Output:
	// 4 samples, mean 27.5 s
	// the task is long: true
	// 4 samples, mean 25 s
}
