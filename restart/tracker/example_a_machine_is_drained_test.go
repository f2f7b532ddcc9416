package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Tasks take 100 s, and a machine will leave in 40 s. A task that would not end there in time is worth a copy
// elsewhere. After the machine has left, the host takes its slot off.
func ExampleTracker_Leave() {
	t, err := tracker.New(tracker.Config{Tasks: 6, Slots: 6, Machines: 6, Interval: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	for task := range 5 {
		t.Start(now, task, task)
	}
	now = now.Add(100 * time.Second)
	for task := range 5 {
		t.Finish(now, task, 0)
	}
	t.Start(now, 5, 0)
	now = now.Add(20 * time.Second)
	t.Leave(now, 0, now.Add(40*time.Second))
	fmt.Println(t.Decide(now, 5)) // the attempt needs 80 s, but the machine stays for 40 s (bar)
	t.Start(now, 5, 1)

	now = now.Add(40 * time.Second)
	fmt.Println("waiting:", t.LoseMachine(now, 0)) // no task waits, because the copy runs on
	t.SetSlots(5)
	// Output:
	// task=5 copy leaving remaining=80s fresh=100s bar=40s gain=inf avoid=0
	// waiting: []
}
