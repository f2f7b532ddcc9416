package clone_test

import (
	"fmt"

	"github.com/straggler-go/straggler/clone"
)

// What would Admit decide about a job? Preview returns the same decision and charges no slots.
func ExampleBudget_Preview() {
	var budget clone.Budget
	cluster := clone.Cluster{Capacity: 1800, Busy: 900, Straggler: 0.1}
	fmt.Println(budget.Preview(clone.Job{Tasks: 10}, cluster))
	fmt.Println(budget.Spent(), "slots charged")
	// Output:
	// clone room-for-all clones=3 tasks=10 wanted=3 spent=30 budget=90 busy=930 ceiling=1440
	// 0 slots charged
}
