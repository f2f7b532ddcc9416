package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// A status page of a scheduler lists what runs and what waits. It needs no book of its own.
func Example_whatWaitsAndRuns() {
	phase, err := tracker.New(tracker.Config{Work: []float64{10, 40, 20}, Slots: 2, Interval: time.Second})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	phase.Start(now, 1, 7)
	phase.Start(now.Add(time.Second), 1, 8)
	phase.SetEligible(0, false, true)
	now = now.Add(3 * time.Second)
	phase.Decide(now, 1)

	for a := range phase.Attempts(1) {
		fmt.Printf("task %d, attempt %d: on machine %d, for %v\n", a.Task, a.Attempt, a.Machine, a.Age)
	}
	for task := range phase.Waiting() {
		fmt.Printf("task %d waits; may be copied: %t\n", task, !phase.Task(task).NoCopy)
	}
	fmt.Println(phase.Running(), "attempts run")
	// Output:
	// task 1, attempt 1: on machine 8, for 2s
	// task 1, attempt 0: on machine 7, for 3s
	// task 2 waits; may be copied: true
	// task 0 waits; may be copied: false
	// 2 attempts run
}
