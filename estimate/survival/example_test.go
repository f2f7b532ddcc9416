package survival_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate/survival"
)

// Eight of ten tasks have ended. Two still run: one that has just begun, and one that has run for three times as long as the
// others took. Nothing but starts and ends is known.
func Example() {
	var curve survival.Curve
	for _, seconds := range []float64{48, 51, 55, 58, 60, 63, 66, 71} {
		curve.Observe(seconds, true)
	}
	curve.Observe(20, false)
	curve.Observe(180, false)
	curve.Fit()

	fresh := survival.Without{Curve: &curve, Age: 180}
	for _, age := range []float64{20, 180} {
		left := survival.Residual{Curve: &curve, Age: age}
		fmt.Printf("after %3.0f s: %3.0f s left, a new one takes %.0f s\n", age, left.Mean(), fresh.Mean())
	}
	// Output:
	// after  20 s:  72 s left, a new one takes 59 s
	// after 180 s: 180 s left, a new one takes 59 s
}
