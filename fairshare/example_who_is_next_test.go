package fairshare_test

import (
	"fmt"

	"github.com/straggler-go/straggler/fairshare"
)

// Which pool gets the next free slot? Pool 2 uses less than its minimum of 1, so it is first. Then each slot goes
// to the pool with the fewest slots per weight. Pool 0 has weight 3, so it gets three slots for each slot of pool
// 1.
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
