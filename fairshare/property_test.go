package fairshare

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/exact"
)

// checkShares compares shares with the oracle. It checks the bounds, the exact sums, and that rounding changes a
// share by less than one unit. At depth k a share must differ by less than k units from the share without rounding.
func checkShares(t *testing.T, pools []Pool, policy Policy, total int64, shares []Share) {
	t.Helper()
	o := newOracle(pools, policy)
	var visit func(parent int, d Discipline, total int64)
	visit = func(parent int, d Discipline, total int64) {
		siblings := o.children(parent)
		if len(siblings) == 0 {
			return
		}
		want, feasible := o.divide(siblings, d, whole(total))
		sum, most := new(big.Rat), new(big.Rat)
		for _, i := range siblings {
			s := shares[i]
			got := whole(s.Slots)
			require.LessOrEqual(t, got.Cmp(o.hi[i]), 0, "pool %d must stay within its upper bound: %v", i, s)
			require.Zero(t, whole(s.Min).Cmp(o.lo[i]), "pool %d: %v", i, s)
			require.Equal(t, o.needed(i), s.Needed, "pool %d: %v", i, s)
			gap := new(big.Rat).Sub(got, want[i])
			require.Negative(t, gap.Abs(gap).Cmp(whole(1)), "pool %d has %v, want within one unit of %v", i, s, want[i].FloatString(6))
			real, _ := want[i].Float64()
			require.InEpsilon(t, real+1, s.Real+1, 1e-15, "pool %d: %v", i, s)
			if feasible {
				weight := max(pools[i].weight(), 1)
				if d == FIFO {
					weight = 1
				}
				level := min(max(s.Level*float64(weight), float64(s.Min)), float64(s.Max))
				if policy.Surplus == AboveMinimum {
					level = min(float64(s.Min)+s.Level*float64(weight), float64(s.Max))
				}
				require.InEpsilon(t, level+1, s.Real+1, 1e-14, "pool %d: %v", i, s)
			}
			sum.Add(sum, got)
			most.Add(most, o.hi[i])
			visit(i, pools[i].Discipline, s.Slots)
		}
		require.Zero(t, sum.Cmp(ratMin(most, whole(total))), "the children of %d have %v of %d units, and want %v", parent, sum,
			total, most)
	}
	visit(-1, policy.Discipline, total)
	for i, real := range o.fluid(whole(total)) {
		gap := new(big.Rat).Sub(whole(shares[i].Slots), real)
		require.Negative(t, gap.Abs(gap).Cmp(whole(int64(o.depth(i)))), "pool %d has %v, and without rounding %v", i, shares[i],
			real.FloatString(6))
	}
}

func TestSharesAgreeWithRationalArithmetic(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	rounds := 1000 // or 3,000 with STRAGGLER_LIVES
	if os.Getenv("STRAGGLER_LIVES") != "" {
		rounds = 3000
	}
	for round := range rounds {
		pools := randomPools(rng, 1+rng.IntN(12), round%2 == 0)
		policy := randomPolicy(rng)
		total := randomTotal(rng, pools)
		tree, err := New(pools, policy)
		require.NoError(t, err, "%+v", pools)
		shares, err := tree.Shares(nil, nil, total)
		require.NoError(t, err)
		checkShares(t, pools, policy, total, shares)
	}
}

// Totals and amounts go up to 2^62, where floats and 64-bit products are not exact.
func TestSharesOfLargeTotalsAreExact(t *testing.T) {
	const total = int64(1) << 62
	shares, err := Shares([]Pool{{Demand: Unlimited}, {Demand: Unlimited}, {Demand: Unlimited}}, total)
	require.NoError(t, err)
	require.Equal(t, total/3+1, shares[0].Slots)
	require.Equal(t, total/3, shares[1].Slots)
	require.Equal(t, total/3, shares[2].Slots)

	rng := rand.New(rand.NewPCG(5, 3))
	for range 500 {
		pools := make([]Pool, 1+rng.IntN(9))
		for i := range pools {
			pools[i] = Pool{Weight: 1 + rng.Int64N(1<<59), Demand: rng.Int64N(total), Min: rng.Int64N(total / 16)}
		}
		tree, err := New(pools, Policy{OnInfeasible: Scale})
		require.NoError(t, err)
		total := total - rng.Int64N(1<<rng.IntN(62))
		shares, err := tree.Shares(nil, nil, total)
		require.NoError(t, err)
		checkShares(t, pools, Policy{OnInfeasible: Scale}, total, shares)
	}
}

// With the largest total, sums of unlimited demands saturate. The shares must still add up to the total.
func TestSharesOfTheLargestTotalAreExact(t *testing.T) {
	const total = math.MaxInt64
	for _, pools := range [][]Pool{
		{{Demand: Unlimited}, {Demand: Unlimited}},
		{{}, {Parent: Under(0), Demand: Unlimited}, {Parent: Under(0), Demand: 5}},
		{{Demand: total - 1}, {Demand: 2}},
		{{Demand: total - 1}, {Demand: 1}},
		{{Weight: Zero, Demand: Unlimited}, {Weight: Zero, Min: 7, Demand: Unlimited}, {Demand: 3}},
		{{Min: total - 3, Demand: Unlimited}, {Weight: 1 << 62, Demand: Unlimited}, {Demand: 2}},
	} {
		for _, d := range []Discipline{Fair, FIFO, MultiLevel} {
			policy := Policy{Discipline: d}
			tree, err := New(pools, policy)
			require.NoError(t, err)
			shares, err := tree.Shares(nil, nil, total)
			require.NoError(t, err)
			checkShares(t, pools, policy, total, shares)
		}
	}
}

// The test checks the two conditions of weighted max-min fairness. No unit is left while a pool wants more. A pool
// that wants more has at least as many units per weight as each pool that is above its minimum. Rounding may change a
// share by one unit.
func TestSharesAreMaxMinFair(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	for range 2000 {
		pools := make([]Pool, 2+rng.IntN(20))
		var demand, least int64
		for i := range pools {
			pools[i] = Pool{Weight: 1 + rng.Int64N(9), Demand: rng.Int64N(100), Min: rng.Int64N(20)}
			demand += pools[i].Demand
			least += pools[i].Min
		}
		total := least + rng.Int64N(demand+1)
		shares, err := Shares(pools, total)
		require.NoError(t, err)
		var sum int64
		for i, a := range shares {
			sum += a.Slots
			for j, b := range shares {
				wants, gives := a.Real < float64(a.Max), b.Real > float64(b.Min)
				if wants && gives {
					require.GreaterOrEqual(t, a.Real/float64(pools[i].Weight), b.Real/float64(pools[j].Weight)-1e-9,
						"pool %d wants more, and has less per weight than pool %d, which is above its minimum: %v, %v", i, j, a, b)
					if pools[i].Weight == pools[j].Weight {
						require.GreaterOrEqual(t, a.Slots+1, b.Slots)
					}
				}
			}
		}
		require.Equal(t, min(total, demand), sum)
	}
}

// A larger total never lowers a real share.
func TestSharesAreMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 1000 {
		pools := randomPools(rng, 1+rng.IntN(10), false)
		tree, err := New(pools, Policy{OnInfeasible: Scale})
		require.NoError(t, err)
		total := randomTotal(rng, pools)
		less, err := tree.Shares(nil, nil, total)
		require.NoError(t, err)
		more, err := tree.Shares(nil, nil, exact.Add(total, 1+rng.Int64N(5)))
		require.NoError(t, err)
		for i := range pools {
			require.GreaterOrEqual(t, more[i].Real, less[i].Real*(1-1e-15))
		}
	}
}

// The shares do not depend on the order in which the pools are listed. Only ties in rounding go by the index.
func TestSharesDoNotDependOnOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		n := 1 + rng.IntN(12)
		pools := randomPools(rng, n, true)
		for i := range pools {
			pools[i].Discipline = Fair // FIFO depends on the index
		}
		to := rng.Perm(n)
		moved := make([]Pool, n)
		for i, p := range pools {
			if parent := p.Parent.Index(); parent >= 0 {
				p.Parent = Under(to[parent])
			}
			moved[to[i]] = p
		}
		total := randomTotal(rng, pools)
		a, errA := Shares(pools, total)
		b, errB := Shares(moved, total)
		require.Equal(t, errA == nil, errB == nil)
		for i := range a {
			if pools[i].Parent.Index() < 0 {
				require.Equal(t, a[i].Real, b[to[i]].Real)
				require.InDelta(t, a[i].Slots, b[to[i]].Slots, 1)
			}
		}
	}
}
