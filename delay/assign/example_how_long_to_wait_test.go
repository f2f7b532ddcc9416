package assign_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay/assign"
)

// How long should a clone wait for an output that no other clone reads? In this model two clones that read the
// same output have half the bandwidth each. The clone that reads the first output nearly always ends first. The
// other clone is needed only because one computation in four takes a minute. So it should not slow down the first
// read. The best window is 10 s, which is the time of a read.
func ExampleChooseWindow() {
	model := assign.Model{
		Lags:       []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, assign.Forever},
		Compute:    []time.Duration{10 * time.Second, 10 * time.Second, 11 * time.Second, 60 * time.Second},
		Size:       100e6, // bytes
		Bandwidth:  10e6,  // bytes per second
		Contention: 0.5,
	}
	best, err := assign.ChooseWindow(model)
	fmt.Println(best.Window, err)
	fmt.Println("task", best.TaskTime, "at once", best.AtOnce.TaskTime, "in turn", best.InTurn.TaskTime)

	at, _ := model.At(2 * time.Second)
	fmt.Println("at 2s: sharing", at.Sharing, "own", at.First.Own, at.Other.Own, "shared", at.First.Shared, at.Other.Shared)

	model.Bandwidth = -1
	_, err = assign.ChooseWindow(model)
	fmt.Println(err)
	// Output:
	// 10s <nil>
	// task 25.3125s at once 31.3125s in turn 25.3125s
	// at 2s: sharing 0.4 own 10s 12s shared 18s 20s
	// delay/assign: Model.Bandwidth is -1, want a finite rate above 0
}
