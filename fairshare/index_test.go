package fairshare

import (
	"cmp"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/exact"
)

// slowIndex finds the next pool by a search of the whole tree in rational arithmetic.
type slowIndex struct {
	*oracle
	usage, demand, share []int64
	held                 []bool
}

func (x *slowIndex) used(i int) (sum int64) {
	for _, c := range x.children(i) {
		sum += x.used(c)
	}
	return sum + x.usage[i]
}

func (x *slowIndex) most(i int) int64 {
	sum := x.demand[i]
	for _, c := range x.children(i) {
		sum = exact.Add(sum, max(x.most(c), x.used(c)))
	}
	return min(sum, x.pools[i].limit())
}

// least returns the minimum of a pool, up to the demand of the pool and of each pool below it.
func (x *slowIndex) least(i int) (least int64) {
	for _, c := range x.children(i) {
		least += x.least(c)
	}
	return min(max(least, x.pools[i].Min), x.most(i))
}

func (x *slowIndex) wants(i int) bool {
	if x.held[i] || x.used(i) >= x.most(i) {
		return false
	}
	children := x.children(i)
	for _, c := range children {
		if x.wants(c) {
			return true
		}
	}
	return len(children) == 0
}

// before reports whether pool a is served before its sibling b, by the rules in the comments of Order and Discipline.
func (x *slowIndex) before(a, b int, d Discipline) bool {
	leastA, leastB := x.least(a), x.least(b)
	usedA, usedB := x.used(a), x.used(b)
	needyA, needyB := usedA < leastA, usedB < leastB
	pa, pb := &x.pools[a], &x.pools[b]
	byShare := x.policy.Order != LeastUsage
	switch {
	case byShare && d == Fair:
		return x.fartherBelow(a, b)
	case needyA != needyB:
		return needyA
	case needyA:
		if c := ratio(usedA, leastA).Cmp(ratio(usedB, leastB)); c != 0 {
			return c < 0
		}
		return a < b
	case d != Fair && pa.Rank != pb.Rank:
		return pa.Rank < pb.Rank
	case d == FIFO:
		return a < b
	case byShare:
		return x.fartherBelow(a, b)
	case (pa.Weight == Zero) != (pb.Weight == Zero):
		return pb.Weight == Zero
	}
	if x.policy.Surplus == AboveMinimum {
		usedA, usedB = usedA-leastA, usedB-leastB
	}
	wa, wb := max(pa.weight(), 1), max(pb.weight(), 1)
	if c := ratio(usedA, wa).Cmp(ratio(usedB, wb)); c != 0 {
		return c < 0
	}
	return a < b
}

// fartherBelow reports whether pool a is farther below its share than pool b: in units or in proportion, by the
// order.
func (x *slowIndex) fartherBelow(a, b int) bool {
	usedA, usedB := x.used(a), x.used(b)
	if x.policy.Order == LargestDeficit {
		return cmp.Or(cmp.Compare(usedA-x.share[a], usedB-x.share[b]), cmp.Compare(a, b)) < 0
	}
	zeroA, zeroB := x.share[a] == 0, x.share[b] == 0
	switch {
	case zeroA != zeroB:
		return zeroB
	case zeroA:
		return cmp.Or(cmp.Compare(usedA, usedB), cmp.Compare(a, b)) < 0
	}
	return cmp.Or(ratio(usedA, x.share[a]).Cmp(ratio(usedB, x.share[b])), cmp.Compare(a, b)) < 0
}

func (x *slowIndex) next(parent int, d Discipline) int {
	best := -1
	for _, i := range x.children(parent) {
		if x.wants(i) && (best < 0 || x.before(i, best, d)) {
			best = i
		}
	}
	if best < 0 || len(x.children(best)) == 0 {
		return best
	}
	return x.next(best, x.pools[best].Discipline)
}

func TestIndexAgreesWithFullSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 20))
	for round := range 300 {
		n := 1 + rng.IntN(12)
		pools := randomPools(rng, n, round%2 == 0)
		policy := Policy{Discipline: Discipline(rng.IntN(3)), Order: Order(rng.IntN(3)), Surplus: Surplus(rng.IntN(2))}
		tree, err := New(pools, policy)
		require.NoError(t, err)
		index := tree.Index()
		slow := &slowIndex{
			oracle: newOracle(pools, policy),
			usage:  make([]int64, n), demand: make([]int64, n), share: make([]int64, n), held: make([]bool, n),
		}
		shares := make([]Share, n)
		for i := range pools {
			slow.demand[i] = pools[i].Demand
		}
		for range 60 {
			want := slow.next(-1, policy.Discipline)
			require.Equal(t, want, index.Next().Pool, "%+v\n%+v", pools, slow)
			i := rng.IntN(n)
			leaf := len(slow.children(i)) == 0
			switch op := rng.IntN(6); {
			case op == 0:
				held := rng.IntN(2) == 0
				slow.held[i] = held
				require.True(t, index.Hold(i, held))
			case op == 1:
				demand := rng.Int64N(20)
				require.Equal(t, leaf, index.SetDemand(i, demand))
				if leaf {
					slow.demand[i] = demand
				}
			case op == 2 && rng.IntN(2) == 0:
				for i := range shares {
					slow.share[i] = rng.Int64N(8)
					shares[i].Slots = slow.share[i]
				}
				require.NoError(t, index.SetShares(shares))
			case op == 2:
				require.Equal(t, leaf, index.Add(i, -1))
				if leaf {
					slow.usage[i] = max(0, slow.usage[i]-1)
				}
			case want >= 0:
				require.True(t, index.Add(want, 1))
				slow.usage[want]++
			}
			require.Equal(t, slow.used(i), index.Usage(i))
		}
	}
}

// Next returns no pool only if every pool has its demand, or is excluded by Hold, or is below a pool that has its
// maximum or is excluded by Hold.
func TestIndexLeavesNothingIdle(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 22))
	idle := 0
	for range 1000 {
		n := 1 + rng.IntN(12)
		pools := randomPools(rng, n, true)
		tree, err := New(pools, Policy{Discipline: Discipline(rng.IntN(3))})
		require.NoError(t, err)
		x := tree.Index()
		held := make([]bool, n)
		for i := range pools {
			x.Add(i, rng.Int64N(10)) // usage may exceed the demand and the maximum
			held[i] = rng.IntN(8) == 0
			x.Hold(i, held[i])
			x.SetDemand(i, rng.Int64N(10))
		}
		if x.Next().Pool >= 0 {
			continue
		}
		idle++
		for i := range pools {
			leaf, ok := x.leaf(i)
			if !ok || x.Usage(i) >= x.entries[leaf].demand {
				continue
			}
			stopped := false
			for k := i; k >= 0; k = pools[k].Parent.Index() {
				stopped = stopped || held[k] || x.Usage(k) >= pools[k].limit()
			}
			require.True(t, stopped, "pool %d of %+v wants more, so Next must name a pool", i, pools)
		}
	}
	require.Greater(t, idle, 50)
}

// If all weights are equal, handing out one unit at a time leads exactly to the shares.
func TestNextLeadsToShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 21))
	for range 500 {
		pools := make([]Pool, 1+rng.IntN(10))
		for i := range pools {
			pools[i] = Pool{Demand: rng.Int64N(30), Min: rng.Int64N(5)}
		}
		total := int64(4*len(pools)) + rng.Int64N(100)
		tree, err := New(pools, Policy{})
		require.NoError(t, err)
		shares, err := tree.Shares(nil, nil, total)
		require.NoError(t, err)
		index := tree.Index()
		for range total {
			if next := index.Next(); next.Pool >= 0 {
				require.True(t, index.Add(next.Pool, 1))
			}
		}
		for i, s := range shares {
			require.Equal(t, s.Slots, index.Usage(i), "usage of pool %d of %+v", i, pools)
		}
	}
}

// With unequal weights no pool gets a whole unit beyond its real share. A large pool may lack many units, as in the
// example of the package comment.
func TestNextGivesLessThanOneUnitBeyondTheRealShare(t *testing.T) {
	serve := func(pools []Pool, total int64) ([]Share, *Index) {
		tree, err := New(pools, Policy{})
		require.NoError(t, err)
		shares, err := tree.Shares(nil, nil, total)
		require.NoError(t, err)
		index := tree.Index()
		for range total {
			index.Add(index.Next().Pool, 1)
		}
		return shares, index
	}
	rng := rand.New(rand.NewPCG(5, 23))
	for range 500 {
		pools := make([]Pool, 1+rng.IntN(10))
		for i := range pools {
			pools[i] = Pool{Weight: 1 + rng.Int64N(20), Demand: rng.Int64N(30), Min: rng.Int64N(5)}
		}
		shares, index := serve(pools, int64(4*len(pools))+rng.Int64N(100))
		for i, s := range shares {
			require.Less(t, float64(index.Usage(i)), s.Real+1, "usage of pool %d of %+v", i, pools)
		}
	}
	pools := make([]Pool, 101)
	for i := range pools {
		pools[i] = Pool{Weight: 1, Demand: Unlimited}
	}
	pools[100].Weight = 100
	shares, index := serve(pools, 150)
	require.Equal(t, int64(75), shares[100].Slots)
	require.Equal(t, int64(50), index.Usage(100))
}

// LargestDeficit and SmallestPart lead exactly to the shares for all weights.
func TestOrdersByShareLeadToShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 24))
	for round := range 500 {
		pools := make([]Pool, 1+rng.IntN(10))
		for i := range pools {
			pools[i] = Pool{Weight: 1 + rng.Int64N(20), Demand: rng.Int64N(30), Min: rng.Int64N(5)}
		}
		total := int64(4*len(pools)) + rng.Int64N(100)
		tree, err := New(pools, Policy{Order: []Order{LargestDeficit, SmallestPart}[round%2], Surplus: Surplus(rng.IntN(2))})
		require.NoError(t, err)
		shares, err := tree.Shares(nil, nil, total)
		require.NoError(t, err)
		index := tree.Index()
		require.NoError(t, index.SetShares(shares))
		for range total {
			index.Add(index.Next().Pool, 1)
		}
		for i, s := range shares {
			require.Equal(t, s.Slots, index.Usage(i), "usage of pool %d of %+v", i, pools)
		}
	}
}

func TestIndexWithoutPoolsNamesNoPool(t *testing.T) {
	tree, err := New(nil, Policy{})
	require.NoError(t, err)
	x := tree.Index()
	assert.Equal(t, Pick{Pool: -1}, x.Next())
	assert.Equal(t, "wait nobody-wants", x.Next().String())
	assert.False(t, x.Add(0, 1))
	assert.False(t, x.Hold(-1, true))
	assert.Zero(t, x.Usage(3))
}

func TestNextGivesItsReason(t *testing.T) {
	tree, err := New([]Pool{{Weight: Zero, Demand: 2}, {Weight: 5, Demand: 1}, {Min: 3, Demand: 3}}, Policy{})
	require.NoError(t, err)
	x := tree.Index()
	for _, want := range []Pick{
		{2, BelowMinimum, 0, 3}, {2, BelowMinimum, 1, 3}, {2, BelowMinimum, 2, 3}, {1, LeastServed, 0, 5}, {0, Leftover, 0,
			1}, {0, Leftover, 1, 1}, {Pool: -1},
	} {
		require.Equal(t, want, x.Next())
		x.Add(want.Pool, 1)
	}
	tree, err = New([]Pool{{Demand: 1}}, Policy{Discipline: FIFO})
	require.NoError(t, err)
	assert.Equal(t, Pick{0, InTurn, 0, 1}, tree.Index().Next())
}
