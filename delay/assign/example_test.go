package assign_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay/assign"
)

// How long should a clone wait for an upstream output of its own? Here sharing halves the bandwidth, and the clone with
// the first copy is nearly always the one that ends first: the other is a reserve for the one computation in four that
// takes a minute, and does best to keep out of the way until the first has read.
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

// The window of jobs of each size, learned from what their clones saw.
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
	windows.Refresh() // every hour, say
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

// What should this clone read now? It has two inputs left, each with two copies.
func ExampleDecide() {
	const window = 3 * time.Second
	taken, free := assign.Copy{State: assign.Finished, Readers: 1}, assign.Copy{State: assign.Finished}
	first := assign.Input{Waited: time.Second, Copies: []assign.Copy{taken, {}}}
	second := assign.Input{Copies: []assign.Copy{{}, {}}}
	fmt.Println(assign.Decide([]assign.Input{first, second}, window))

	second.Copies[1] = free
	fmt.Println(assign.Decide([]assign.Input{first, second}, window))

	first.Waited = window
	fmt.Println(assign.Decide([]assign.Input{first}, window))

	// One clone of a lower number has not read the second input yet, and gets the copy.
	second.Ahead = 1
	fmt.Println(assign.Decide([]assign.Input{second}, window))
	// Output:
	// wait window-open wait=2s
	// read own-copy input=1 copy=1
	// share window-over input=0 copy=0 kill-rest=true
	// wait window-open wait=3s
}

// Which of ten upstream tasks does the second of four downstream tasks read?
func ExamplePattern() {
	for p := assign.AllToAll; p <= assign.OneToOne; p++ {
		first, end, err := p.Inputs(1, 10, 4)
		fmt.Println(p, first, end, err)
	}
	// Output:
	// all-to-all 0 10 <nil>
	// many-to-one 3 6 <nil>
	// one-to-one 0 0 delay/assign: upstream is 10, want as many tasks as downstream, which is 4
}
