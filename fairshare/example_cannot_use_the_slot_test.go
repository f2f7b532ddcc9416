package fairshare_test

import (
	"fmt"

	"github.com/straggler-go/straggler/fairshare"
)

// What if the next pool cannot use the slot? Pool 0 waits for a slot on a machine with its data. Hold makes Next
// skip pool 0 for this slot. Pool 0 does not lose its place: it is first again when the next slot is offered.
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
