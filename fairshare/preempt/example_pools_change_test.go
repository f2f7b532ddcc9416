package preempt_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// What if pools are added or removed? Resume copies how long each remaining pool has waited. Pool 1 of the old
// tree is pool 0 of the new tree. It has waited since the start, so it makes a claim after five minutes.
func ExamplePreemptor_Resume() {
	watch := func(pools []fairshare.Pool, total int64) (*preempt.Preemptor, []fairshare.Share, error) {
		tree, err := fairshare.New(pools, fairshare.Policy{})
		if err != nil {
			return nil, nil, err
		}
		shares, err := tree.Shares(nil, nil, total)
		if err != nil {
			return nil, nil, err
		}
		preemptor, err := preempt.New(tree, preempt.Config{})
		return preemptor, shares, err
	}
	start := time.Unix(0, 0)
	old, shares, err := watch([]fairshare.Pool{{Demand: 8}, {Demand: 8}}, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := old.Observe(start, shares, []int64{8, 0}); err != nil {
		fmt.Println(err)
		return
	}

	preemptor, shares, err := watch([]fairshare.Pool{{Demand: 8}, {Demand: 8}}, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := preemptor.Resume(old, []int{1, -1}); err != nil { // pool 1 is new
		fmt.Println(err)
		return
	}
	if err := preemptor.Observe(start.Add(time.Minute), shares, []int64{0, 8}); err != nil {
		fmt.Println(err)
		return
	}
	for _, claim := range preemptor.Claims(start.Add(5 * time.Minute)) {
		fmt.Println(claim)
	}
	// Output:
	// claim below-share pool=0 deficit=4 waited=300s usage=0 due=4 granted=0
}
