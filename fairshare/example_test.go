package fairshare_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/fairshare"
)

// Figure 3 of the paper: four pools and 100 slots.
func ExampleShares() {
	shares, err := fairshare.Shares([]fairshare.Pool{
		{Min: 50, Demand: 46},
		{Min: 10, Demand: 18},
		{Min: 25, Demand: 28},
		{Min: 15, Demand: 16},
	}, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, s := range shares {
		fmt.Println(i, s)
	}
	// Output:
	// 0 46 slots by demand (min 46, max 46, level 14)
	// 1 14 slots by level (min 10, max 18, level 14)
	// 2 25 slots by minimum (min 25, max 28, level 14)
	// 3 15 slots by minimum (min 15, max 16, level 14)
}

// Two levels: users of a production pool, which has twice the weight of the research pool, and a job queue in the latter.
func ExampleTree_Shares() {
	const production, research = 0, 1
	tree, err := fairshare.New([]fairshare.Pool{
		production: {Weight: 2},
		research:   {Discipline: fairshare.FIFO},
		2:          {Parent: fairshare.Under(production), Min: 30, Demand: 100},
		3:          {Parent: fairshare.Under(production), Demand: 100},
		4:          {Parent: fairshare.Under(research), Demand: 25},
		5:          {Parent: fairshare.Under(research), Demand: 25},
	}, fairshare.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	shares, err := tree.Shares(nil, nil, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, s := range shares {
		fmt.Println(i, s.Slots, s.Bound)
	}
	// Output:
	// 0 67 level
	// 1 33 level
	// 2 34 level
	// 3 33 level
	// 4 25 demand
	// 5 8 rank
}

// The index says who gets each slot as it becomes free.
func ExampleIndex_Next() {
	tree, err := fairshare.New([]fairshare.Pool{
		{Weight: 3, Demand: 10},
		{Weight: 1, Demand: 10},
		{Weight: 1, Min: 1, Demand: 1},
	}, fairshare.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	index := tree.Index()
	for range 6 {
		next := index.Next()
		fmt.Println(next)
		index.Add(next.Pool, 1)
	}
	// Output:
	// pool 2: below minimum, 0/1
	// pool 0: least served, 0/3
	// pool 1: least served, 0/1
	// pool 0: least served, 1/3
	// pool 0: least served, 2/3
	// pool 0: least served, 3/3
}

// A pool that starves, and whom to take slots from.
func ExampleStarvation_Plan() {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 8}, {Demand: 8, Min: 2}}, fairshare.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	starvation, err := fairshare.NewStarvation(tree, fairshare.Preemption{
		Patience: fairshare.Patience{Min: time.Minute, Fair: 5 * time.Minute},
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
	var tasks []fairshare.Task // pool 0 has taken all six slots
	for i := range 6 {
		tasks = append(tasks, fairshare.Task{Pool: 0, Machine: i % 3, Started: start.Add(time.Duration(i) * time.Second)})
	}
	for _, minute := range []int{0, 1, 5} {
		now := start.Add(time.Duration(minute) * time.Minute)
		if err := starvation.Observe(now, shares, []int64{6, 0}); err != nil {
			fmt.Println(err)
			return
		}
		plan := starvation.Plan(now, tasks, 0)
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
	//   pool 1 claims 2: below minimum for 1m0s, has 0 of 2, granted 2
	//   kill task 5 for pool 1
	//   kill task 4 for pool 1
	// minute 5
	//   pool 1 claims 3: below fair share for 5m0s, has 0 of 3, granted 3
	//   kill task 5 for pool 1
	//   kill task 4 for pool 1
	//   kill task 3 for pool 1
}

// The dual-core machine of section 5.2: six reducers at most, two of them computing, two of a job copying.
func ExampleGate() {
	gate, err := fairshare.NewGate(fairshare.GateConfig{MaxComputing: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	node := fairshare.NodeLoad{Reducers: 2}
	fmt.Println("third reducer of a job that copies:", gate.Launch(node, 2))
	fmt.Println("first reducer of another job:", gate.Launch(node, 0))
	node = fairshare.NodeLoad{Reducers: 3, Computing: 2}
	fmt.Println("once the first job computes:", gate.Launch(node, 0))
	fmt.Println("a third to compute:", gate.Compute(node))
	// Output:
	// third reducer of a job that copies: job copying: 2 of 2
	// first reducer of another job: admitted: 2 of 6
	// once the first job computes: admitted: 3 of 6
	// a third to compute: node computing: 2 of 2
}

// Disks are full: which job's intermediate results should go?
func ExampleEvictRule_Evict() {
	start := time.Unix(0, 0)
	jobs := []fairshare.Job{
		{Submitted: start, Done: 10, Tasks: 100, Bytes: 900},
		{Submitted: start.Add(time.Hour), Done: 90, Tasks: 100, Bytes: 100},
		{Submitted: start.Add(2 * time.Hour), Done: 20, Tasks: 100, Bytes: 50},
	}
	fmt.Println(fairshare.LatestSubmitted.Evict(jobs))
	fmt.Println(fairshare.LeastProgress.Evict(jobs))
	// Output:
	// evict job 2 for 50 bytes, job 0 leads
	// evict job 0 for 900 bytes, job 1 leads
}

// Nine processors and 18 GB: tasks of the first user need a processor and 4 GB, those of the second three processors
// and 1 GB.
func ExampleDominant() {
	users := []fairshare.User{
		{Task: []int64{1, 4}, Demand: fairshare.Unlimited},
		{Task: []int64{3, 1}, Demand: fairshare.Unlimited},
	}
	allocations, err := fairshare.Dominant(users, []int64{9, 18})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range allocations {
		fmt.Println(a)
	}
	// Output:
	// 3 tasks, 66.67% of resource 1, blocked by resource 0
	// 2 tasks, 66.67% of resource 0, blocked by resource 0
}
