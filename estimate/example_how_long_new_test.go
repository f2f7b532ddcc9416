package estimate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// How long would a new attempt take? The phase's own tasks give the answer.
func ExampleUnitTimes() {
	perMegabyte, err := estimate.NewUnitTimes(estimate.UnitTimesConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	perMegabyte.Finish(estimate.NoSample, estimate.Run{Age: 10 * time.Second, Work: 100}) // 100 MB in 10 s
	perMegabyte.Finish(estimate.NoSample, estimate.Run{Age: 30 * time.Second, Work: 150})
	perMegabyte.Running(estimate.NoSample, estimate.Run{Age: 15 * time.Second, Work: 100, Done: 50})

	fresh := estimate.Fresh{UnitTime: perMegabyte, Work: 200, Lag: 2 * time.Second}
	fmt.Println("expected:      ", fresh.Expected())
	fmt.Printf("in under 60 s:  %.2f\n", fresh.Below(60))
	fmt.Printf("95 %% take up to %.0f s\n", fresh.Quantile(.95))
	// Output:
	// expected:       42s
	// in under 60 s:  0.67
	// 95 % take up to 62 s
}
