package clone_test

import (
	"fmt"

	"github.com/straggler-go/straggler/clone"
)

// Which large job should give up its clones, so that a small job can be cloned?
func ExampleBudget_Victims() {
	budget, err := clone.NewBudget(clone.Config{})
	if err != nil {
		panic(err)
	}
	cluster := clone.Cluster{Capacity: 1800, Busy: 900, Straggler: 0.1}
	large := budget.Admit(clone.Job{Tasks: 25}, cluster)
	cluster.Busy += 25 * large.Clones

	small := clone.Job{Tasks: 10}
	fmt.Println(budget.Admit(small, cluster))
	for _, victim := range budget.Victims(nil, small, cluster) {
		// Here the host kills, for each task of the victim, every clone except the best clone.
		cluster.Busy -= 25 * (large.Clones - 1)
		fmt.Println(budget.Cancel(victim), "slots given back")
	}
	fmt.Println(budget.Admit(small, cluster))
	// Output:
	// single over-budget wanted=3 spent=105 budget=90 busy=1005 ceiling=1440
	// 75 slots given back
	// clone room-for-all clones=3 tasks=10 wanted=3 spent=30 budget=90 busy=955 ceiling=1440
}
