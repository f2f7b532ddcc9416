package fairshare_test

import (
	"fmt"

	"github.com/straggler-go/straggler/fairshare"
)

// How do I serve the pool that is farthest below its share? Use the order LargestDeficit, and call SetShares. Pool
// 0 uses 10 of its share of 14 slots, and pool 1 uses 40 of 86. Pool 1 is farther below its share, so it is
// served.
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
