package preempt_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// What if a pool waits to run large tasks? Pool 1 waits to run a task that needs 4 units on one machine. The plan
// kills two tasks of 2 units on machine 1, although other tasks, on different machines, started later.
func ExamplePreemptor_SetWaiting() {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 8}, {Demand: 8}}, fairshare.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	preemptor, err := preempt.New(tree, preempt.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	shares, err := tree.Shares(nil, nil, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	start := time.Unix(0, 0)
	preemptor.SetWaiting(1, preempt.Waiting{Units: 4, OneMachine: true})
	if err := preemptor.Observe(start, shares, []int64{8, 0}); err != nil {
		fmt.Println(err)
		return
	}
	plan := preemptor.Plan(start.Add(5*time.Minute), []preempt.Task{
		{Machine: 1, Slots: 2, Started: start},
		{Machine: 1, Slots: 2, Started: start.Add(1 * time.Second)},
		{Machine: 2, Slots: 2, Started: start.Add(2 * time.Second)},
		{Machine: 3, Slots: 2, Started: start.Add(3 * time.Second)},
	}, nil)
	for _, v := range plan.Victims {
		fmt.Println(v)
	}
	// Output:
	// kill above-share task=1 for=1
	// kill above-share task=0 for=1
}
