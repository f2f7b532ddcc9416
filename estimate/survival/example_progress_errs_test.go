package survival_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
)

// How long does an attempt still need if progress is not linear? Each task of this kind does the first half of its work in
// 20 s, and the second half in 80 s. An attempt has done half of its work after 20 s. By linear progress it would need 20 s
// more.
func ExampleShape_Outlook() {
	var shape survival.Shape
	var curve survival.Curve
	model := estimate.Linear{}
	for range 50 {
		var trail survival.Trail
		for at := 2; at < 100; at += 2 {
			done := float64(at) / 40
			if at > 20 {
				done = 0.5 + float64(at-20)/160
			}
			trail.Report(time.Duration(at)*time.Second, done)
		}
		shape.Finish(&trail, 100*time.Second, model)
		curve.Observe(100, true)
	}
	curve.Fit()

	var trail survival.Trail
	trail.Report(20*time.Second, 0.5)
	fmt.Printf("linear progress: %.0f s more\n", trail.Total()-20)

	total := 20 / shape.Time(trail.Done()) // by the share of the time that has passed
	prediction := survival.Prediction{Age: 20, Total: total, Stage: trail.Passed()}
	var left survival.Outlook
	if shape.Outlook(&left, prediction, &curve) {
		fmt.Printf("the shape of progress: %.0f s more, and with probability 0.9 at most %.0f s\n", left.Mean(), left.Quantile(0.9))
	}
	// Output:
	// linear progress: 20 s more
	// the shape of progress: 81 s more, and with probability 0.9 at most 81 s
}
