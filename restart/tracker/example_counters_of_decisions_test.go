package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// A host exports a counter for each pair of an action and a reason.
func ExampleTracker_Decisions() {
	t, err := tracker.New(tracker.Config{Tasks: 3, Slots: 2, Interval: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	for range 2 {
		t.Start(now, t.Next(now, -1).Task, -1)
	}
	for range 3 {
		now = now.Add(10 * time.Second)
		t.Sweep(now, func(tracker.Answer) {})
	}
	for d, n := range t.Decisions() {
		fmt.Printf("decisions{action=%q, reason=%q} %d\n", d.Action, d.Reason, n)
	}
	// Output:
	// decisions{action="keep", reason="no-estimate"} 6
	// decisions{action="start", reason="next-waiting"} 2
}
