package replicate

import (
	"cmp"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// choose is the greedy algorithm for the knapsack problem: it selects items with a large total gain whose total
// price is at most budget. It takes items in the order of gain/price, the largest first, and skips each item that
// no longer fits into the budget. If a single item has a larger gain than all these items together, choose takes
// only this item. So the total gain is at least half of the largest possible total gain. For an item that must not
// be selected, item returns ok = false. The price of each other item must be at most budget.
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
