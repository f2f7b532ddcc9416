package estimate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// How long will this attempt still run? The attempt has 1000 MB to read and reports how much it has read.
func ExampleLinear() {
	var wrapUp estimate.WrapUp
	wrapUp.Observe(95*time.Second, 100*time.Second) // a finished task wrote its output for 5 s

	model := estimate.Linear{Grace: 10 * time.Second, WrapUp: wrapUp.Mean()}
	var attempt estimate.Progress
	model.Report(&attempt, 10*time.Second, 100)
	model.Report(&attempt, 25*time.Second, 250)

	fmt.Println("at its report: ", model.Remaining(&attempt, 25*time.Second, 1000))
	fmt.Println("5 s later:     ", model.Remaining(&attempt, 30*time.Second, 1000))
	fmt.Println("25 s of silence:", model.Remaining(&attempt, 50*time.Second, 1000))
	// Output:
	// at its report:  1m20s
	// 5 s later:      1m15s
	// 25 s of silence: 2m35s
}
