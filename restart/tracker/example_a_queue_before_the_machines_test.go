package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// An engine queues attempts before it runs them. The host calls Submit when it hands an attempt to the engine, and
// Begin when the attempt runs. The time in the queue does not count as run time.
func ExampleTracker_Submit() {
	t, err := tracker.New(tracker.Config{Tasks: 2, Slots: 2, Interval: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	attempt := t.Submit(now, 0, -1) // for any machine
	fmt.Println("waiting tasks:", t.Phase().Waiting, "free slots:", t.Phase().FreeSlots)
	now = now.Add(time.Hour)
	fmt.Println(t.Decide(now, 0)) // in the queue, the attempt has no age
	t.Begin(now, 0, attempt, 4)
	now = now.Add(30 * time.Second)
	t.Finish(now, 0, attempt)
	fmt.Println(t.Ledger()) // the queue used no slot time
	// Output:
	// waiting tasks: 1 free slots: 1
	// task=0 keep not-running
	// started=1 finished=1 used=30s
}
