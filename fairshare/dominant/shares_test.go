package dominant

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

// slowAllocate hands out one task at a time, comparing dominant shares as rational numbers.
func slowShares(pools []Pool, capacity []int64) (tasks []int64, blocked []int) {
	used := make([]int64, len(capacity))
	tasks, blocked = make([]int64, len(pools)), make([]int, len(pools))
	for i := range blocked {
		blocked[i] = -1
	}
	share := func(i int) *big.Rat {
		most := new(big.Rat)
		for r, need := range pools[i].Task {
			if need > 0 && capacity[r] > 0 {
				most = maxRat(most, big.NewRat(need*tasks[i], capacity[r]))
			}
		}
		return most.Quo(most, big.NewRat(max(pools[i].Weight, 1), 1))
	}
	for {
		next := -1
		for i, u := range pools {
			if tasks[i] < u.Demand && blocked[i] < 0 && (next < 0 || share(i).Cmp(share(next)) < 0) {
				next = i
			}
		}
		if next < 0 {
			return tasks, blocked
		}
		for r, need := range pools[next].Task {
			if used[r]+need > capacity[r] && blocked[next] < 0 {
				blocked[next] = r
			}
		}
		if blocked[next] < 0 {
			tasks[next]++
			for r, need := range pools[next].Task {
				used[r] += need
			}
		}
	}
}

func maxRat(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

func TestSharesAgreeWithOneTaskAtATime(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 40))
	for range 1500 {
		capacity := make([]int64, 1+rng.IntN(4))
		limit := int64(1) << (2 + rng.IntN(10))
		for r := range capacity {
			capacity[r] = rng.Int64N(limit)
		}
		pools := make([]Pool, 1+rng.IntN(8))
		for i := range pools {
			u := Pool{Weight: rng.Int64N(4), Demand: rng.Int64N(limit)}
			if rng.IntN(3) == 0 {
				u.Demand = fairshare.Unlimited
			}
			something := false
			for range capacity {
				need := max(0, rng.Int64N(12)-3)
				something = something || need > 0
				u.Task = append(u.Task, need)
			}
			if !something {
				u.Demand = rng.Int64N(5)
			}
			pools[i] = u
		}
		tasks, blocked := slowShares(pools, capacity)
		got, err := Shares(pools, capacity)
		require.NoError(t, err)
		for i, a := range got {
			require.Equal(t, tasks[i], a.Tasks, "pool %d of %+v with %v", i, pools, capacity)
			if blocked[i] >= 0 && a.Tasks == 0 {
				require.GreaterOrEqual(t, a.Blocked, 0)
				continue // several resources may be too small for a single task
			}
			require.Equal(t, blocked[i], a.Blocked, "pool %d of %+v with %v", i, pools, capacity)
		}
	}
}

// One resource is the case that Shares answers, in units of one task.
func TestSharesOfOneResourceIsMaxMin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 41))
	for range 300 {
		pools := make([]Pool, 1+rng.IntN(9))
		plain := make([]fairshare.Pool, len(pools))
		for i := range pools {
			demand := rng.Int64N(1 << 40)
			pools[i], plain[i] = Pool{Task: []int64{1}, Demand: demand}, fairshare.Pool{Demand: demand}
		}
		total := rng.Int64N(1 << 42)
		got, err := Shares(pools, []int64{total})
		require.NoError(t, err)
		want, err := fairshare.Shares(plain, total)
		require.NoError(t, err)
		for i := range pools {
			require.Equal(t, want[i].Slots, got[i].Tasks)
		}
	}
}

// With weights it is what the index hands out.
func TestSharesOfOneResourceIsTheIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 45))
	for range 300 {
		pools := make([]Pool, 1+rng.IntN(9))
		plain := make([]fairshare.Pool, len(pools))
		for i := range pools {
			weight, demand := 1+rng.Int64N(9), rng.Int64N(40)
			pools[i], plain[i] = Pool{Weight: weight, Task: []int64{1}, Demand: demand}, fairshare.Pool{Weight: weight,
				Demand: demand}
		}
		total := rng.Int64N(200)
		got, err := Shares(pools, []int64{total})
		require.NoError(t, err)
		tree, err := fairshare.New(plain, fairshare.Policy{})
		require.NoError(t, err)
		index := tree.Index()
		for range total {
			index.Add(index.Next().Pool, 1)
		}
		for i := range pools {
			require.Equal(t, index.Usage(i), got[i].Tasks)
		}
	}
}

// Totals near the end of int64: nothing is handed out twice, and what is left fits no one.
func TestSharesOfLargeTotals(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 42))
	for range 100 {
		capacity := []int64{1<<62 - rng.Int64N(1<<50), 1 + rng.Int64N(1<<62)}
		pools := make([]Pool, 2+rng.IntN(6))
		for i := range pools {
			pools[i] = Pool{Weight: 1 + rng.Int64N(1<<30), Demand: fairshare.Unlimited,
				Task: []int64{1 + rng.Int64N(1<<rng.IntN(40)), rng.Int64N(1 << rng.IntN(40))}}
		}
		got, err := Shares(pools, capacity)
		require.NoError(t, err)
		for r, c := range capacity {
			used := new(big.Int)
			for i, a := range got {
				used.Add(used, new(big.Int).Mul(big.NewInt(a.Tasks), big.NewInt(pools[i].Task[r])))
			}
			require.LessOrEqual(t, used.Cmp(big.NewInt(c)), 0)
			free := new(big.Int).Sub(big.NewInt(c), used).Int64()
			for i, a := range got {
				if a.Blocked == r {
					require.Greater(t, pools[i].Task[r], free, "pool %d could have one more", i)
				}
			}
		}
	}
}

func TestSharesCheck(t *testing.T) {
	one := []Pool{{Task: []int64{1}}}
	for want, c := range map[string]struct {
		pools    []Pool
		capacity []int64
	}{
		"capacity[0] is -1":             {one, []int64{-1}},
		"pools[0].Weight is -2":         {[]Pool{{Weight: -2, Task: []int64{1}}}, []int64{1}},
		"pools[0].Demand is -1":         {[]Pool{{Demand: -1, Task: []int64{1}}}, []int64{1}},
		"len(pools[0].Task) is 1":       {one, []int64{1, 1}},
		"pools[1].Task[0] is -3, want ": {append(one, Pool{Task: []int64{-3}}), []int64{1}},
	} {
		_, err := Shares(c.pools, c.capacity)
		assert.ErrorContains(t, err, "fairshare/dominant: "+want)
	}
	got, err := Shares(nil, nil)
	require.NoError(t, err)
	assert.Empty(t, got)
}

func TestSharesCorners(t *testing.T) {
	got, err := Shares([]Pool{
		{Task: []int64{0, 0}, Demand: 7},    // needs nothing
		{Task: []int64{0, 3}, Demand: 1},    // there is none of it
		{Task: []int64{11, 0}, Demand: 1},   // does not fit
		{Task: []int64{11, 0}},              // would not fit, and wants nothing
		{Task: []int64{4, 0}, Demand: 1},    // has all
		{Task: []int64{1, 0}, Demand: 1000}, // has the rest
	}, []int64{10, 0})
	require.NoError(t, err)
	assert.Equal(t, []Share{
		{Tasks: 7, Resource: -1, Blocked: -1},
		{Resource: -1, Blocked: 1},
		{Resource: -1, Blocked: 0},
		{Resource: -1, Blocked: -1},
		{Tasks: 1, Resource: 0, Part: 0.4, Blocked: -1},
		{Tasks: 6, Resource: 0, Part: 0.6, Blocked: 0},
	}, got)
}
