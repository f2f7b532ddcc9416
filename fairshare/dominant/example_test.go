package dominant_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/dominant"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// Nine processors and 18 GB: tasks of the first user need a processor and 4 GB, those of the second three processors
// and 1 GB.
func ExampleShares() {
	pools := []dominant.Pool{
		{Task: []int64{1, 4}, Demand: fairshare.Unlimited},
		{Task: []int64{3, 1}, Demand: fairshare.Unlimited},
	}
	shares, err := dominant.Shares(pools, []int64{9, 18})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range shares {
		fmt.Println(a)
	}
	// Output:
	// share tasks=3 resource=1 part=0.666667 blocked=0
	// share tasks=2 resource=0 part=0.666667 blocked=0
}

// The index says whose task is next as the same cluster fills up.
func ExampleIndex_Next() {
	tree, err := dominant.New([]dominant.Pool{
		{Task: []int64{1, 4}, Demand: 5},
		{Task: []int64{3, 1}, Demand: 5},
		{Task: []int64{1, 1}, Demand: 1, Min: []int64{1, 1}},
	}, []int64{9, 18}, dominant.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	index := tree.Index()
	for next := index.Next(); next.Pool >= 0; next = index.Next() {
		fmt.Println(next)
		if next.Fits() {
			index.Add(next.Pool, 1, nil)
		} else {
			index.Hold(next.Pool, true) // until something is free
		}
	}
	// Output:
	// serve below-minimum pool=2 resource=0 share=0
	// serve least-served pool=0 resource=0 share=0
	// serve least-served pool=1 resource=0 share=0
	// serve least-served pool=0 resource=1 share=0.222222
	// serve least-served pool=1 resource=0 share=0.333333
	// hold least-served pool=0 resource=1 share=0.444444 lacking=0
	// hold least-served pool=1 resource=0 share=0.666667 lacking=0
}

// A pool has had nothing for an hour: memory is what it lacks, so tasks that hold processors alone are left in peace.
func ExamplePreemptor_Plan() {
	tree, err := dominant.New([]dominant.Pool{
		{Task: []int64{1, 4}, Demand: 4},
		{Task: []int64{1, 0}, Demand: 4},
		{Task: []int64{1, 4}, Demand: 4},
	}, []int64{12, 16}, dominant.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	shares, err := tree.Shares(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	preemptor, err := dominant.NewPreemptor(tree, preempt.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	start := time.Unix(0, 0)
	index := tree.Index()
	var tasks []dominant.Task
	for i := range 8 { // four of each of the first two pools
		pool, need := i%2, []int64{1, 4 - 4*int64(i%2)}
		index.Add(pool, 1, need)
		tasks = append(tasks, dominant.Task{
			Task: preempt.Task{Pool: pool, Started: start.Add(time.Duration(i) * time.Second)}, Need: need,
		})
	}
	if err := preemptor.Observe(start, shares, index); err != nil {
		fmt.Println(err)
		return
	}
	plan := preemptor.Plan(start.Add(time.Hour), tasks, []int64{4, 0})
	fmt.Println(plan.Grants)
	for _, v := range plan.Victims {
		fmt.Println(v)
	}
	// Output:
	// [{2 2}]
	// kill above-share task=6 for=2
	// kill above-share task=4 for=2
}
