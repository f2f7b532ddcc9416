package fairshare

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowDominant hands out one task at a time, comparing dominant shares as rational numbers.
func slowDominant(users []User, capacity []int64) (tasks []int64, blocked []int) {
	used := make([]int64, len(capacity))
	tasks, blocked = make([]int64, len(users)), make([]int, len(users))
	for i := range blocked {
		blocked[i] = -1
	}
	share := func(i int) *big.Rat {
		most := new(big.Rat)
		for r, need := range users[i].Task {
			if need > 0 && capacity[r] > 0 {
				most = ratMax(most, ratio(need*tasks[i], capacity[r]))
			}
		}
		return most.Quo(most, whole(max(users[i].Weight, 1)))
	}
	for {
		next := -1
		for i, u := range users {
			if tasks[i] < u.Demand && blocked[i] < 0 && (next < 0 || share(i).Cmp(share(next)) < 0) {
				next = i
			}
		}
		if next < 0 {
			return tasks, blocked
		}
		for r, need := range users[next].Task {
			if used[r]+need > capacity[r] && blocked[next] < 0 {
				blocked[next] = r
			}
		}
		if blocked[next] < 0 {
			tasks[next]++
			for r, need := range users[next].Task {
				used[r] += need
			}
		}
	}
}

func TestDominantAgreesWithOneTaskAtATime(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 40))
	for range 1500 {
		capacity := make([]int64, 1+rng.IntN(4))
		limit := int64(1) << (2 + rng.IntN(10))
		for r := range capacity {
			capacity[r] = rng.Int64N(limit)
		}
		users := make([]User, 1+rng.IntN(8))
		for i := range users {
			u := User{Weight: rng.Int64N(4), Demand: rng.Int64N(limit)}
			if rng.IntN(3) == 0 {
				u.Demand = Unlimited
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
			users[i] = u
		}
		tasks, blocked := slowDominant(users, capacity)
		got, err := Dominant(users, capacity)
		require.NoError(t, err)
		for i, a := range got {
			require.Equal(t, tasks[i], a.Tasks, "user %d of %+v with %v", i, users, capacity)
			if blocked[i] >= 0 && a.Tasks == 0 {
				require.GreaterOrEqual(t, a.Blocked, 0)
				continue // several resources may be too small for a single task
			}
			require.Equal(t, blocked[i], a.Blocked, "user %d of %+v with %v", i, users, capacity)
		}
	}
}

// One resource is the case that Shares answers, in units of one task.
func TestDominantOfOneResourceIsMaxMin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 41))
	for range 300 {
		users := make([]User, 1+rng.IntN(9))
		pools := make([]Pool, len(users))
		for i := range users {
			demand := rng.Int64N(1 << 40)
			users[i], pools[i] = User{Task: []int64{1}, Demand: demand}, Pool{Demand: demand}
		}
		total := rng.Int64N(1 << 42)
		got, err := Dominant(users, []int64{total})
		require.NoError(t, err)
		want, err := Shares(pools, total)
		require.NoError(t, err)
		for i := range users {
			require.Equal(t, want[i].Slots, got[i].Tasks)
		}
	}
}

// With weights it is what the index hands out.
func TestDominantOfOneResourceIsTheIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 45))
	for range 300 {
		users := make([]User, 1+rng.IntN(9))
		pools := make([]Pool, len(users))
		for i := range users {
			weight, demand := 1+rng.Int64N(9), rng.Int64N(40)
			users[i], pools[i] = User{Weight: weight, Task: []int64{1}, Demand: demand}, Pool{Weight: weight, Demand: demand}
		}
		total := rng.Int64N(200)
		got, err := Dominant(users, []int64{total})
		require.NoError(t, err)
		tree, err := New(pools, Policy{})
		require.NoError(t, err)
		index := tree.Index()
		for range total {
			index.Add(index.Next().Pool, 1)
		}
		for i := range users {
			require.Equal(t, index.Usage(i), got[i].Tasks)
		}
	}
}

// Totals near the end of int64: nothing is handed out twice, and what is left fits no one.
func TestDominantOfLargeTotals(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 42))
	for range 100 {
		capacity := []int64{1<<62 - rng.Int64N(1<<50), 1 + rng.Int64N(1<<62)}
		users := make([]User, 2+rng.IntN(6))
		for i := range users {
			users[i] = User{Weight: 1 + rng.Int64N(1<<30), Demand: Unlimited, Task: []int64{1 + rng.Int64N(1<<rng.IntN(40)), rng.Int64N(1 << rng.IntN(40))}}
		}
		got, err := Dominant(users, capacity)
		require.NoError(t, err)
		for r, c := range capacity {
			used := new(big.Int)
			for i, a := range got {
				used.Add(used, new(big.Int).Mul(big.NewInt(a.Tasks), big.NewInt(users[i].Task[r])))
			}
			require.LessOrEqual(t, used.Cmp(big.NewInt(c)), 0)
			free := new(big.Int).Sub(big.NewInt(c), used).Int64()
			for i, a := range got {
				if a.Blocked == r {
					require.Greater(t, users[i].Task[r], free, "user %d could have one more", i)
				}
			}
		}
	}
}

func TestDominantChecks(t *testing.T) {
	one := []User{{Task: []int64{1}}}
	for want, c := range map[string]struct {
		users    []User
		capacity []int64
	}{
		"capacity 0 is -1":             {one, []int64{-1}},
		"user 0: Weight is -1":         {[]User{{Weight: -1, Task: []int64{1}}}, []int64{1}},
		"user 0: Demand is -1":         {[]User{{Demand: -1, Task: []int64{1}}}, []int64{1}},
		"user 0: Task has 1 entries":   {one, []int64{1, 1}},
		"user 1: Task[0] is -3, want ": {append(one, User{Task: []int64{-3}}), []int64{1}},
	} {
		_, err := Dominant(c.users, c.capacity)
		assert.ErrorContains(t, err, "fairshare: "+want)
	}
	got, err := Dominant(nil, nil)
	require.NoError(t, err)
	assert.Empty(t, got)
}

func TestDominantCorners(t *testing.T) {
	got, err := Dominant([]User{
		{Task: []int64{0, 0}, Demand: 7},    // needs nothing
		{Task: []int64{0, 3}, Demand: 1},    // there is none of it
		{Task: []int64{11, 0}, Demand: 1},   // does not fit
		{Task: []int64{11, 0}},              // would not fit, and wants nothing
		{Task: []int64{4, 0}, Demand: 1},    // has all
		{Task: []int64{1, 0}, Demand: 1000}, // has the rest
	}, []int64{10, 0})
	require.NoError(t, err)
	assert.Equal(t, []Allocation{
		{Tasks: 7, Resource: -1, Blocked: -1},
		{Resource: 1, Blocked: 1},
		{Resource: 0, Blocked: 0},
		{Resource: 0, Blocked: -1},
		{Tasks: 1, Resource: 0, Share: 0.4, Blocked: -1},
		{Tasks: 6, Resource: 0, Share: 0.6, Blocked: 0},
	}, got)
}
