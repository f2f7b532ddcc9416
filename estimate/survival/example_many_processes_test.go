package survival_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
)

// How do processes share the times of their jobs? The reader sends its version, and the writer answers with the runs
// that the reader lacks.
func ExampleWindow_Merge() {
	window := func(origin string) *survival.Window {
		w, err := survival.NewWindow(survival.WindowConfig{Keep: time.Hour, Origin: origin})
		if err != nil {
			fmt.Println(err)
		}
		return w
	}
	writer, reader := window("scheduler-1"), window("scheduler-2")
	now := time.Unix(1000, 0) // the time of the host's clock
	for _, seconds := range []float64{50, 60, 70} {
		writer.Observe(now, seconds, true)
	}

	version := reader.AppendVersion(nil)
	delta, err := writer.AppendDelta(nil, version)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := reader.Merge(now, delta); err != nil {
		fmt.Println(err)
		return
	}
	curve := reader.Curve(now)
	fmt.Println(curve.Len(), "runs, mean", curve.Mean(), "s")
	// Output:
	// 3 runs, mean 60 s
}
