package preempt_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// How do I choose the tasks to kill myself? Claims returns the pools that have had too few units for too long.
// After the kills, call CoolDown: the pool then makes no claim for 15 s, in which the units become free.
func ExamplePreemptor_CoolDown() {
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
	if err := preemptor.Observe(start, shares, []int64{8, 0}); err != nil {
		fmt.Println(err)
		return
	}
	due := start.Add(5 * time.Minute)
	for _, claim := range preemptor.Claims(due) {
		fmt.Println(claim)
		preemptor.CoolDown(due, claim.Pool) // after the host's own kills
	}
	fmt.Println(len(preemptor.Claims(due.Add(14*time.Second))), "claims after 14 s")
	fmt.Println(len(preemptor.Claims(due.Add(15*time.Second))), "claim after 15 s")
	// Output:
	// claim below-share pool=1 deficit=4 waited=300s usage=0 due=4 granted=0
	// 0 claims after 14 s
	// 1 claim after 15 s
}
