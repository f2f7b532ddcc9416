package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A scheduler crashes and starts again. It restores the tracker from a snapshot, and supplies the parts that a
// snapshot cannot contain.
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

	// Parts that a snapshot cannot contain, such as OnEvent, Budget or Knowledge, would stand in the Config.
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
	// task=2 start next-waiting
	// started=2 finished=1 used=60s
}
