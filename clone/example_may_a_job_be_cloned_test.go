package clone_test

import (
	"fmt"

	"github.com/straggler-go/straggler/clone"
)

// May this job be cloned? The clones of a small job stay within the limits, and the clones of a large job do not.
func ExampleBudget() {
	budget, err := clone.NewBudget(clone.Config{}) // ε = β = 5 %, τ = 80 %
	if err != nil {
		panic(err)
	}
	cluster := clone.Cluster{Capacity: 1800, Busy: 900, Straggler: 0.1}

	small := budget.Admit(clone.Job{Tasks: 10}, cluster)
	fmt.Println(small)
	fmt.Println(budget.Admit(clone.Job{Tasks: 400}, cluster))
	fmt.Println(budget.Admit(clone.Job{Tasks: 5, NoCopy: true}, cluster))

	// The next phase reads the output of the small job, so it gets no more clones than the small job.
	fmt.Println(budget.Admit(clone.Job{Tasks: 10, Upstream: small.Clones}, cluster))

	// Four tasks have ended, and the host killed their other clones.
	budget.Release(small.Grant, 4)
	fmt.Println(budget.Spent(), "slots charged")
	// Output:
	// clone room-for-all clones=3 tasks=10 wanted=3 spent=30 budget=90 busy=930 ceiling=1440
	// single over-budget wanted=4 spent=1630 budget=90 busy=2500 ceiling=1440
	// single not-eligible
	// clone room-for-all clones=3 tasks=10 wanted=3 spent=60 budget=90 busy=930 ceiling=1440
	// 48 slots charged
}
