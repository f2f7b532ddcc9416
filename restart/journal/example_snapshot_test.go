package journal_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// How does a tracker go on from a snapshot and the journal since then? Restore reads the snapshot, and Resume applies
// the events after the snapshot.
func ExampleResume() {
	config := tracker.Config{Tasks: 3, Slots: 3, Interval: time.Second, Policy: rules.Spark{Quantile: 0.6}}
	record := journal.NewRecorder(config)
	config.OnEvent = record.OnEvent
	t, err := tracker.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	start := time.Unix(0, 0)
	for task := range 3 {
		t.Start(start, task, -1)
	}
	snapshot, _ := t.MarshalBinary() // it never fails
	record.Reset()
	t.Finish(start.Add(10*time.Second), 0, 0)
	t.Finish(start.Add(10*time.Second), 1, 0)
	fmt.Printf("%s", record.Bytes())

	again, err := tracker.Restore(tracker.Config{}, snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(journal.Resume(again, record.Bytes()))
	fmt.Println(again.Decide(start.Add(31*time.Second), 2))
	// Output:
	// since 1970-01-01T00:00:00Z
	// 10s finish task=0 attempt=0
	// 10s finish task=1 attempt=0
	// <nil>
	// task=2 copy beyond-peers run-seconds=31 threshold=30 gain=1s
}
