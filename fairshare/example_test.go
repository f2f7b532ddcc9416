package fairshare_test

import (
	"fmt"

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
	// 0 share demand slots=46 min=46 max=46 level=14
	// 1 share level slots=14 min=10 max=18 level=14
	// 2 share minimum slots=25 min=25 max=28 level=14
	// 3 share minimum slots=15 min=15 max=16 level=14
}

// Two levels: users of a production pool, which has twice the weight of the research pool, and a job queue in the
// latter.
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
	// serve below-minimum pool=2 usage=0 per=1
	// serve least-served pool=0 usage=0 per=3
	// serve least-served pool=1 usage=0 per=1
	// serve least-served pool=0 usage=1 per=3
	// serve least-served pool=0 usage=2 per=3
	// serve least-served pool=0 usage=3 per=3
}
