package assign_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay/assign"
)

// How does a host learn how long clones should wait? A WindowTable computes it from the lags and reads of earlier
// jobs.
func ExampleWindowTable() {
	windows, err := assign.NewWindowTable(assign.WindowTableConfig{MinSamples: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, lag := range []time.Duration{time.Second, 2 * time.Second, time.Minute} {
		windows.ObserveLag(8, lag)
		windows.ObserveCompute(8, 12*time.Second)
		windows.ObserveRead(8, 100e6, 10*time.Second, false)
		windows.ObserveRead(8, 100e6, 25*time.Second, true)
	}
	windows.Refresh() // for example every hour
	first, end, _ := assign.AllToAll.Inputs(0, 8, 8)
	best, known := windows.For(assign.Job{Tasks: 8, Clones: 3, Inputs: end - first})
	fmt.Println(best.Window, known)
	_, known = windows.For(assign.Job{Tasks: 11})
	fmt.Println(known)

	saved, _ := windows.MarshalBinary() // before the scheduler stops
	var restored assign.WindowTable
	fmt.Println(restored.UnmarshalBinary(saved))
	// Output:
	// 2s true
	// false
	// <nil>
}
