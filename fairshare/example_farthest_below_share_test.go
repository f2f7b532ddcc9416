package fairshare_test

import (
	"fmt"

	"github.com/straggler-go/straggler/fairshare"
)

// How do I serve the pool that is farthest below its share? Choose an order by share, and tell the index the shares.
// The pools use 10 of 14 and 40 of 86 slots. Pool 1 is farther below its share, and the paper serves it.
func ExampleIndex_SetShares() {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 14}, {Demand: 100}}, fairshare.Policy{
		Order: fairshare.LargestDeficit,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	shares, err := tree.Shares(nil, nil, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	index := tree.Index()
	if err := index.SetShares(shares); err != nil {
		fmt.Println(err)
		return
	}
	index.Add(0, 10)
	index.Add(1, 40)
	fmt.Println(index.Next())
	// Output:
	// serve below-share pool=1 usage=40 per=86
}
