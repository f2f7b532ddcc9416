package fairshare_test

import (
	"fmt"

	"github.com/straggler-go/straggler/fairshare"
)

// How many slots should each pool have? Four pools divide 100 slots, as in Figure 3 of the paper. Pool 0 wants
// less than its minimum of 50, so it gets its demand of 46. Pools 2 and 3 get their minimums. Pool 1 gets the
// other 14 slots.
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
