package clone_test

import (
	"fmt"

	"github.com/straggler-go/straggler/clone"
)

// What does a host do after a restart, while clones still run? It charges the slots of these clones to a new
// budget.
func ExampleBudget_Readmit() {
	var budget clone.Budget
	grant := budget.Readmit(10, 6, 3) // a job of ten tasks; six tasks still run, with three clones each
	fmt.Println(budget.Spent(), "slots charged")
	cluster := clone.Cluster{Capacity: 400, Busy: 200, Straggler: 0.1}
	fmt.Println(budget.Admit(clone.Job{Tasks: 5}, cluster))
	budget.Release(grant, 5)
	fmt.Println(budget.Admit(clone.Job{Tasks: 5}, cluster))
	// Output:
	// 18 slots charged
	// single over-budget wanted=2 spent=28 budget=20 busy=210 ceiling=320
	// clone room-for-all clones=2 tasks=5 wanted=2 spent=13 budget=20 busy=210 ceiling=320
}
