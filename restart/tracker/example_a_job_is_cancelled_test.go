package tracker_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Two jobs share a budget of a tenth of their slots. The first job is cancelled with a running copy. After its Close,
// the second job may have a copy.
func ExampleTracker_Close() {
	budget, err := tracker.NewBudget(tracker.BudgetConfig{Floor: 1, Rate: restart.Off})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	config := tracker.Config{Tasks: 5, Slots: 8, Interval: 10 * time.Second, Budget: budget}
	one, _ := tracker.New(config)
	two, _ := tracker.New(config)
	for _, t := range []*tracker.Tracker{one, two} {
		for task := range 5 {
			t.Start(now, task, task)
		}
		for task := range 4 {
			t.Finish(now.Add(20*time.Second), task, 0)
		}
	}
	one.Start(now.Add(30*time.Second), 4, 0) // a copy of its last task

	now = now.Add(time.Minute)
	fmt.Println(two.Report(now, 4, 0, tracker.Report{Done: 0.01}).Reason)
	one.Close(now)
	fmt.Println(two.Report(now, 4, 0, tracker.Report{Done: 0.01}).Reason)
	fmt.Println(one.Ledger())
	// Output:
	// budget-spent
	// idle-slot
	// started=6 finished=4 copies=1 pruned=2 used=170s wasted=90s
}
