package replicate

import (
	"cmp"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// choose is the greedy algorithm for the knapsack problem. It takes items by gain/price, the largest first, and skips
// items that no longer fit. If a single item has a larger gain than all these items together, choose takes this item
// alone. So the gain is at least half of the largest possible gain. Each item with ok must fit into the budget alone.
func choose(dst []int, n int, budget int64, item func(int) (gain, price int64, ok bool)) []int {
	base, single, most := len(dst), -1, int64(0)
	for i := range n {
		if gain, _, ok := item(i); ok {
			dst = append(dst, i)
			if gain > most {
				single, most = i, gain
			}
		}
	}
	sorted := dst[base:]
	slices.SortFunc(sorted, func(a, b int) int {
		gainA, priceA, _ := item(a)
		gainB, priceB, _ := item(b)
		return cmp.Or(exact.CompareProducts(gainB, priceA, gainA, priceB), cmp.Compare(gainB, gainA), cmp.Compare(a, b))
	})
	total, chosen := int64(0), 0
	for _, i := range sorted {
		if gain, price, _ := item(i); price <= budget {
			budget -= price
			total = exact.Add(total, gain)
			sorted[chosen] = i
			chosen++
		}
	}
	if most > total {
		sorted[0], chosen = single, 1
	}
	return dst[:base+chosen]
}
