package preempt_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// Which tasks should I kill for a pool that has too few slots? Pool 0 uses all six slots. Pool 1 has a minimum of
// 2 and a share of 3. After one minute pool 1 claims its minimum, and after five minutes it claims its share. In
// this example the host does not kill the tasks of the plan, so the claims return.
func ExamplePreemptor_Plan() {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 8}, {Demand: 8, Min: 2}}, fairshare.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	preemptor, err := preempt.New(tree, preempt.Config{
		Timeouts: preempt.Timeouts{Min: time.Minute, Fair: 5 * time.Minute},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	shares, err := tree.Shares(nil, nil, 6)
	if err != nil {
		fmt.Println(err)
		return
	}
	start := time.Unix(0, 0)
	var tasks []preempt.Task // pool 0 uses all six slots
	for i := range 6 {
		tasks = append(tasks, preempt.Task{Pool: 0, Machine: i % 3, Started: start.Add(time.Duration(i) * time.Second)})
	}
	for _, minute := range []int{0, 1, 5} {
		now := start.Add(time.Duration(minute) * time.Minute)
		if err := preemptor.Observe(now, shares, []int64{6, 0}); err != nil {
			fmt.Println(err)
			return
		}
		plan := preemptor.Plan(now, tasks, nil)
		fmt.Println("minute", minute)
		for _, c := range plan.Claims {
			fmt.Println(" ", c)
		}
		for _, v := range plan.Victims {
			fmt.Println(" ", v)
		}
	}
	// Output:
	// minute 0
	// minute 1
	//   claim below-minimum pool=1 deficit=2 waited=60s usage=0 due=2 granted=2
	//   kill above-share task=5 for=1
	//   kill above-share task=4 for=1
	// minute 5
	//   claim below-share pool=1 deficit=3 waited=300s usage=0 due=3 granted=3
	//   kill above-share task=5 for=1
	//   kill above-share task=4 for=1
	//   kill above-share task=3 for=1
}
