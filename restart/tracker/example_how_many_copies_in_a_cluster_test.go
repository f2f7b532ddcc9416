package tracker_test

import (
	"fmt"

	"github.com/straggler-go/straggler/restart/tracker"
)

// A budget bounds the load of copies when everything slows down at once. All phases of a cluster share it.
func ExampleBudget() {
	budget, err := tracker.NewBudget(tracker.BudgetConfig{Slots: 40, Share: 0.1, Rate: 0.05, Floor: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	launched := 0
	for budget.Allows() { // trackers do this, if the budget stands in their Config
		budget.CopyLaunched()
		launched++
	}
	fmt.Println("before any task has started:", launched)
	for range 40 {
		budget.TaskStarted()
	}
	for budget.Allows() {
		budget.CopyLaunched()
		launched++
	}
	fmt.Println("after 40 tasks:", launched, "running:", budget.Running())
	// Output:
	// before any task has started: 2
	// after 40 tasks: 4 running: 4
}
