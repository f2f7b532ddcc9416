package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A scheduler restarts. It restores the tracker from a snapshot, and gives the parts that a snapshot cannot hold.
func ExampleRestore() {
	config := tracker.Config{Tasks: 3, Slots: 2, Interval: 10 * time.Second, Policy: rules.LATE{SpeculativeCap: 0.2}}
	before, err := tracker.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	before.Start(now, 0, 7)
	before.Start(now, 1, 8)
	snapshot, err := before.MarshalBinary() // to a file, now and then
	if err != nil {
		fmt.Println(err)
		return
	}

	// The Config would hold the parts that a snapshot cannot hold, such as OnEvent, Budget and Record.
	after, err := tracker.Restore(tracker.Config{}, snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	now = now.Add(time.Minute)
	after.Finish(now, 0, 0)
	fmt.Println(after.Next(now, 7))
	fmt.Println(after.Ledger())
	// Output:
	// task=2 start largest-work
	// started=2 finished=1 used=60s
}
