package tracker_test

import (
	"fmt"

	"github.com/straggler-go/straggler/restart/tracker"
)

// If everything slows down at the same time, all phases of a cluster want copies. A budget that they share bounds the
// load of these copies.
func ExampleBudget() {
	budget, err := tracker.NewBudget(tracker.BudgetConfig{Slots: 40, Share: 0.1, Rate: 0.05, Floor: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	launched := 0
	for budget.Allows() { // a tracker calls this method itself, if Config.Budget is the budget
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
