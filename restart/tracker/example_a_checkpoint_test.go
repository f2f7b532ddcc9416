package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A report says how much of a task's work is stored in a checkpoint. So a copy has to do only the rest of the work.
func ExampleReport() {
	t, err := tracker.New(tracker.Config{
		Tasks: 4, Slots: 4, Interval: 5 * time.Second, Policy: restart.Mantri{}, Limits: restart.Limits{LossShare: restart.Off},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	for task := range 4 {
		t.Start(now, task, task)
	}
	now = now.Add(100 * time.Second)
	for task := range 3 {
		t.Finish(now, task, 0)
	}
	fmt.Println(t.Report(now, 3, 0, tracker.Report{Done: 0.6}))
	fmt.Println(t.Report(now, 3, 0, tracker.Report{Done: 0.6, Saved: 0.6}))
	// Output:
	// task=3 keep not-slow basis=progress remaining=40.0191s fresh=100s bar=115s probability=0 threshold=0.25
	// task=3 keep not-slow basis=progress remaining=40.0191s fresh=40.0009s bar=55.0009s probability=0.227401 threshold=0.25
}
