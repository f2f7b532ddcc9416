package clone_test

import (
	"fmt"

	"github.com/straggler-go/straggler/clone"
)

// What happens if there are too few slots for all clones? With FewerClones, all tasks get the same smaller number
// of clones.
func ExampleConfig() {
	budget, err := clone.NewBudget(clone.Config{Shortage: clone.FewerClones})
	if err != nil {
		panic(err)
	}
	fmt.Println(budget.Admit(clone.Job{Tasks: 30}, clone.Cluster{Capacity: 1600, Straggler: 0.1}))
	_, err = clone.NewBudget(clone.Config{Ceiling: 80})
	fmt.Println(err)
	// Output:
	// clone room-for-fewer clones=2 tasks=30 wanted=3 spent=60 budget=80 busy=60 ceiling=1280
	// clone: Config.Ceiling is 80, want a share in (0, 1], 0 for the default, or Off
}
