package fairshare

import (
	"cmp"
	"math/rand/v2"

	"github.com/straggler-go/straggler/internal/exact"
)

// randomPools returns random valid pools, as a tree if tree is true. The amounts are small, so that ties are
// frequent, or of all magnitudes.
func randomPools(rng *rand.Rand, n int, tree bool) []Pool {
	limit := int64(1) << (2 + rng.IntN(50))
	if rng.IntN(2) == 0 {
		limit = 12
	}
	amount := func() int64 { return rng.Int64N(limit) >> rng.IntN(4) }
	pools := make([]Pool, n)
	permutation := rng.Perm(n)
	for k, i := range permutation {
		p := &pools[i]
		if tree && k > 0 && rng.IntN(4) > 0 {
			p.Parent = Under(permutation[rng.IntN(k)])
		}
		p.Weight = []int64{0, Zero, 1, 2, 3, 1 + rng.Int64N(1000), 1 + rng.Int64N(1<<40)}[rng.IntN(7)]
		p.Discipline = Discipline(rng.IntN(3))
		p.Rank = rng.Int32N(3)
		if p.Demand = amount(); rng.IntN(8) == 0 {
			p.Demand = Unlimited
		}
		if p.Min = 0; rng.IntN(3) == 0 {
			p.Min = amount()
		}
	}
	finishPools(rng, pools, amount)
	return pools
}

// finishPools sets the demand of parents to 0 and draws maximums that are at least the guarantees.
func finishPools(rng *rand.Rand, pools []Pool, amount func() int64) {
	o := &oracle{pools: pools}
	for i := range pools {
		if len(o.children(i)) > 0 {
			pools[i].Demand = 0
		}
	}
	for i := range pools {
		if rng.IntN(3) == 0 {
			pools[i].Max = exact.Add(o.guarantee(i), amount())
			if pools[i].Max == 0 && rng.IntN(2) == 0 {
				pools[i].Max = Zero
			}
		}
	}
}

func randomPolicy(rng *rand.Rand) Policy {
	return Policy{
		OnInfeasible: []OnInfeasible{Scale, ByWeight}[rng.IntN(2)],
		Basis:        Basis(rng.IntN(3)),
		Discipline:   Discipline(rng.IntN(3)),
	}
}

func randomTotal(rng *rand.Rand, pools []Pool) int64 {
	var sum int64
	for _, p := range pools {
		if p.Demand != Unlimited {
			sum = exact.Add(sum, p.Demand)
		}
		sum = exact.Add(sum, p.Min)
	}
	return rng.Int64N(exact.Add(cmp.Or(sum, 1), 1))
}
