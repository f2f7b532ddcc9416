package fairshare_test

import (
	"fmt"

	"github.com/straggler-go/straggler/fairshare"
)

// What happens if the minimums add up to more than the total? The zero Policy returns an error. Scale gives each
// pool the same part of its minimum. ByWeight gives a pool with a small minimum its whole minimum.
func ExamplePolicy() {
	pools := []fairshare.Pool{{Min: 30, Demand: 40}, {Min: 4, Demand: 40}}
	for _, choice := range []fairshare.OnInfeasible{fairshare.Refuse, fairshare.Scale, fairshare.ByWeight} {
		tree, err := fairshare.New(pools, fairshare.Policy{OnInfeasible: choice})
		if err != nil {
			fmt.Println(err)
			return
		}
		shares, err := tree.Shares(nil, nil, 20)
		if err != nil {
			fmt.Println(choice, "-", err)
			continue
		}
		fmt.Println(choice, "-", shares[0].Slots, shares[1].Slots)
	}
	// Output:
	// refuse - fairshare: the minimums add up to 34, above the total of 20
	// scale - 18 2
	// by-weight - 16 4
}
