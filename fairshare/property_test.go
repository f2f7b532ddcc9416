package fairshare

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkShares holds shares against the oracle: bounds, exact sums, rounding within one, and how far rounding at every
// depth can take a pool from the fluid tree.
func checkShares(t *testing.T, pools []Pool, policy Policy, total int64, shares []Share) {
	t.Helper()
	o := newOracle(pools, policy)
	var visit func(parent int, d Discipline, total int64)
	visit = func(parent int, d Discipline, total int64) {
		siblings := o.children(parent)
		if len(siblings) == 0 {
			return
		}
		want, _ := o.divide(siblings, d, whole(total))
		sum, most := new(big.Rat), new(big.Rat)
		for _, i := range siblings {
			s := shares[i]
			got := whole(s.Slots)
			require.LessOrEqual(t, got.Cmp(o.hi[i]), 0, "pool %d above its bound: %v", i, s)
			gap := new(big.Rat).Sub(got, want[i])
			require.Negative(t, gap.Abs(gap).Cmp(whole(1)), "pool %d: %v, want about %v", i, s, want[i].FloatString(6))
			real, _ := want[i].Float64()
			require.InEpsilon(t, real+1, s.Real+1, 1e-15, "pool %d: %v", i, s)
			sum.Add(sum, got)
			most.Add(most, o.hi[i])
			visit(i, pools[i].Discipline, s.Slots)
		}
		require.Zero(t, sum.Cmp(ratMin(most, whole(total))), "children of %d have %v of %d, and want %v", parent, sum, total, most)
	}
	visit(-1, policy.Discipline, total)
	for i, real := range o.fluid(whole(total)) {
		gap := new(big.Rat).Sub(whole(shares[i].Slots), real)
		require.Negative(t, gap.Abs(gap).Cmp(whole(int64(o.depth(i)))), "pool %d: %v, in the fluid tree %v", i, shares[i], real.FloatString(6))
	}
}

func TestSharesAgreeWithRationalArithmetic(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for round := range 3000 {
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

// The two ways to find the level are held against each other where the oracle is too slow.
func TestSweepAgreesWithPasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for range 300 {
		n := 1 + rng.IntN(300)
		f := newFiller(n)
		var least, most int64
		for i := range n {
			f.weight[i] = 1 + rng.Int64N(1<<rng.IntN(40))
			f.lo[i] = rng.Int64N(1 << rng.IntN(40))
			f.hi[i] = f.lo[i] + rng.Int64N(1<<rng.IntN(40))
			least, most = least+f.lo[i], most+f.hi[i]
		}
		if least == most {
			continue
		}
		total := least + rng.Int64N(most-least)
		l := f.level(0, int32(n), total)
		f.round(l, 0, int32(n), total)
		want := append([]int64(nil), f.slots...)

		f.active = f.active[:0]
		all := level{units: total}
		for i := range n {
			f.active = append(f.active, int32(i))
			all.weight += f.weight[i]
		}
		f.round(f.sweep(all), 0, int32(n), total)
		require.Equal(t, want, f.slots)
	}
}

var _ = math.Inf
