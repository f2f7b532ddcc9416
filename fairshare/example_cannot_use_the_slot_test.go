package fairshare_test

import (
	"fmt"

	"github.com/straggler-go/straggler/fairshare"
)

// What if the next pool cannot use the slot? Pool 0 waits for a machine with its data. Hold makes the index skip pool
// 0 for this slot, and pool 0 keeps its place: it is next again for the slot after.
func ExampleIndex_Hold() {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 5}, {Demand: 5}}, fairshare.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	index := tree.Index()
	fmt.Println(index.Next())
	index.Hold(0, true)
	next := index.Next()
	fmt.Println(next)
	index.Add(next.Pool, 1)
	index.Hold(0, false)
	fmt.Println(index.Next())
	// Output:
	// serve least-served pool=0 usage=0 per=1
	// serve least-served pool=1 usage=0 per=1
	// serve least-served pool=0 usage=0 per=1
}
