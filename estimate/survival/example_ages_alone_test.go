package survival_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate/survival"
)

// Eight of ten tasks have ended. Two tasks still run: one has just begun, and the other has run for three times as
// long as the ended tasks took. The host knows only starts and ends.
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
		fmt.Printf("a task of age %3.0f s needs %3.0f s more, and a new attempt takes %.0f s\n", age, left.Mean(), fresh.Mean())
	}
	// Output:
	// a task of age  20 s needs  72 s more, and a new attempt takes 59 s
	// a task of age 180 s needs 180 s more, and a new attempt takes 59 s
}
