package dominant

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

// Raising leaves little to do singly, whatever the magnitudes: every round ends at least one pool.
func TestRoundsAreFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 43))
	for range 200 {
		capacity := []int64{1<<62 - rng.Int64N(1<<20), 1 << (20 + rng.IntN(42))}
		var pools []Pool
		for range 1 + rng.IntN(8) {
			pools = append(pools, Pool{
				Weight: 1 + rng.Int64N(1<<(1+rng.IntN(58))), Demand: rng.Int64N(1 << (1 + rng.IntN(62))),
				Task: []int64{1 + rng.Int64N(1<<rng.IntN(20)), rng.Int64N(1 << rng.IntN(20))},
			})
		}
		tree, err := New(pools, capacity, Policy{})
		require.NoError(t, err)
		wanted := make([]int64, len(pools))
		for i := range pools {
			wanted[tree.at[i]] = pools[i].Demand
		}
		d := newDRF(tree, wanted, make([]Share, len(pools)))
		for i := range pools {
			if x, ok := d.weighted(int32(i)); ok {
				x.at, x.pool = int32(i), tree.nodes[i].pool
				d.active = append(d.active, x)
			}
		}
		for len(d.active) > 0 {
			before := len(d.active)
			d.raise()
			d.hand()
			require.Less(t, len(d.active), before, "%+v", d)
		}
	}
}

func TestTasksBelow(t *testing.T) {
	x := claimant{need: 1, unitHi: 1}
	require.Equal(t, int64(fairshare.Unlimited), x.tasksBelow(math.MaxUint64, math.MaxUint64),
		"2^64 less a fraction, rounded up")
	rng := rand.New(rand.NewPCG(5, 44))
	for range 20_000 {
		word := func() uint64 { return rng.Uint64() >> rng.IntN(64) }
		hi, lo := word(), word()
		x := claimant{need: 1 + rng.Int64N(1<<(1+rng.IntN(62))), unitHi: word() >> 1, unitLo: word()}
		join := func(hi, lo uint64) *big.Int {
			n := new(big.Int).SetUint64(hi)
			return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(lo))
		}
		want := new(big.Int).Mul(join(hi, lo), join(x.unitHi, x.unitLo))
		divisor := new(big.Int).Lsh(big.NewInt(x.need), 128)
		if _, rest := want.DivMod(want, divisor, new(big.Int)); rest.Sign() > 0 {
			want.Add(want, big.NewInt(1))
		}
		if !want.IsInt64() {
			want.SetInt64(fairshare.Unlimited)
		}
		require.Equal(t, want.Int64(), x.tasksBelow(hi, lo), "%d %d %+v", hi, lo, x)
	}
}
