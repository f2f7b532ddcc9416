package estimate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// With a Window the rate follows a change of speed, whatever the intervals between the reports.
func ExampleLinear_window() {
	life, recent := estimate.Linear{}, estimate.Linear{Window: 20 * time.Second}
	var a, b estimate.Progress
	for _, r := range []struct{ second, done int }{{10, 100}, {20, 200}, {40, 220}, {60, 240}} { // 10/s, then 1/s
		life.Report(&a, time.Duration(r.second)*time.Second, float64(r.done))
		recent.Report(&b, time.Duration(r.second)*time.Second, float64(r.done))
	}
	fmt.Printf("whole life: %.1f/s\n", a.Rate())
	fmt.Printf("recently:   %.1f/s\n", b.Rate())
	// Output:
	// whole life: 4.0/s
	// recently:   2.0/s
}
