package fairshare_test

import (
	"fmt"

	"github.com/straggler-go/straggler/fairshare"
)

// How do pools with children divide? The production pool has twice the weight of the research pool. Two users
// divide the 67 slots of production. Two jobs of research are served one after another: the first job gets all 25
// slots that it wants, and the second job gets the other 8 of the 33 slots.
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
