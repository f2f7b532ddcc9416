package dominant

import (
	"cmp"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

// slowIndex answers by walking the whole tree with rational numbers.
type slowIndex struct {
	pools           []Pool
	capacity        []int64
	policy          Policy
	usage, need     [][]int64 // of pools without children
	running, demand []int64
	held            []bool
}

func newSlowIndex(pools []Pool, capacity []int64, policy Policy) *slowIndex {
	n := len(pools)
	x := &slowIndex{
		pools: pools, capacity: capacity, policy: policy, usage: make([][]int64, n), need: make([][]int64, n),
		running: make([]int64, n), demand: make([]int64, n), held: make([]bool, n),
	}
	for i, p := range pools {
		x.usage[i], x.need[i], x.demand[i] = make([]int64, len(capacity)), p.Task, p.Demand
	}
	return x
}

func (x *slowIndex) children(parent int) (list []int) {
	for i, p := range x.pools {
		if p.Parent.Index() == parent {
			list = append(list, i)
		}
	}
	return list
}

// sum adds up an amount over the pools without children under a pool.
func (x *slowIndex) used(i, r int) int64 {
	sum := x.usage[i][r]
	for _, c := range x.children(i) {
		sum += x.used(c, r)
	}
	return sum
}

func (x *slowIndex) most(i, r int) int64 {
	switch p := x.pools[i]; {
	case p.Max == nil || p.Max[r] == 0:
		return fairshare.Unlimited
	default:
		return max(0, p.Max[r])
	}
}

func (x *slowIndex) wanted(i, r int) (sum int64) {
	children := x.children(i)
	for _, c := range children {
		sum += x.wanted(c, r)
	}
	if len(children) == 0 {
		sum = x.usage[i][r] + max(0, x.demand[i]-x.running[i])*x.need[i][r]
	}
	return min(sum, max(x.used(i, r), x.most(i, r)))
}

func (x *slowIndex) least(i, r int) (sum int64) {
	for _, c := range x.children(i) {
		sum += x.least(c, r)
	}
	if x.pools[i].Min != nil {
		sum = max(sum, x.pools[i].Min[r])
	}
	return min(sum, x.wanted(i, r))
}

func (x *slowIndex) wants(i int) bool {
	if x.held[i] {
		return false
	}
	children := x.children(i)
	for _, c := range children {
		if x.wants(c) {
			return true
		}
	}
	if len(children) > 0 || x.running[i] >= x.demand[i] {
		return false
	}
	for r, need := range x.need[i] {
		if need > x.capacity[r] || need > 0 && x.usage[i][r]+need > x.most(i, r) {
			return false
		}
	}
	return true
}

// key is what a pool is compared by: 0 for below its minimum, 1, or 2 for weight zero; and the largest part.
func (x *slowIndex) key(i int) (int, *big.Rat) {
	part, guaranteed := new(big.Rat), false
	for r := range x.capacity {
		if least := x.least(i, r); least > 0 {
			guaranteed = true
			part = maxRat(part, big.NewRat(x.used(i, r), least))
		}
	}
	if guaranteed && part.Cmp(big.NewRat(1, 1)) < 0 {
		return 0, part
	}
	part = new(big.Rat)
	for r, c := range x.capacity {
		used := x.used(i, r)
		if x.policy.Surplus == fairshare.AboveMinimum {
			used = max(0, used-x.least(i, r))
		}
		if c > 0 {
			part = maxRat(part, big.NewRat(used, c))
		}
	}
	if w := x.pools[i].Weight; w == fairshare.Zero {
		return 2, part
	} else {
		return 1, part.Quo(part, big.NewRat(max(1, w), 1))
	}
}

func (x *slowIndex) before(a, b int, d fairshare.Discipline) bool {
	turnA, partA := x.key(a)
	turnB, partB := x.key(b)
	if d != fairshare.Fair && turnA > 0 && turnB > 0 {
		if x.pools[a].Rank != x.pools[b].Rank {
			return x.pools[a].Rank < x.pools[b].Rank
		}
		if d == fairshare.FIFO {
			return a < b
		}
	}
	return cmp.Or(cmp.Compare(turnA, turnB), partA.Cmp(partB), cmp.Compare(a, b)) < 0
}

func (x *slowIndex) next(parent int, d fairshare.Discipline) int {
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

// fits reports whether the pool's task fits in the cluster and in the maximums above it.
func (x *slowIndex) fits(i int) bool {
	for r, need := range x.need[i] {
		var all int64
		for k := range x.pools {
			all += x.usage[k][r]
		}
		if need > 0 && all+need > x.capacity[r] {
			return false
		}
		for p := x.pools[i].Parent.Index(); p >= 0; p = x.pools[p].Parent.Index() {
			if need > 0 && x.used(p, r)+need > x.most(p, r) {
				return false
			}
		}
	}
	return true
}

func randomNeed(rng *rand.Rand, m int) (need []int64) {
	for range m {
		need = append(need, max(0, rng.Int64N(6)-1))
	}
	return need
}

// randomPools draws a valid tree of small numbers, so that ties are frequent.
func randomPools(rng *rand.Rand, n, m int, tree bool) []Pool {
	pools := make([]Pool, n)
	for i := range pools {
		p := &pools[i]
		p.Weight = []int64{0, 1, 2, 3, fairshare.Zero}[rng.IntN(5)]
		p.Discipline, p.Rank, p.Demand = fairshare.Discipline(rng.IntN(3)), rng.Int32N(3), rng.Int64N(12)
		p.Task = randomNeed(rng, m)
		if rng.IntN(2) == 0 {
			p.Min = make([]int64, m)
			for r := range p.Min {
				p.Min[r] = max(0, rng.Int64N(20)-8)
			}
		}
		if rng.IntN(3) == 0 {
			p.Max = make([]int64, m)
			for r := range p.Max {
				if p.Max[r] = max(0, rng.Int64N(30)-10); p.Max[r] > 0 && p.Min != nil {
					p.Max[r] += p.Min[r]
				}
			}
		}
	}
	if tree {
		for i := 1; i < n; i++ {
			if rng.IntN(3) > 0 {
				pools[i].Parent = fairshare.Under(rng.IntN(i))
				pools[pools[i].Parent.Index()].Demand = 0
			}
		}
	}
	return pools
}

func TestIndexAgreesWithFullSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 50))
	picks := map[fairshare.Reason]int{}
	for round := range 400 {
		m := 1 + rng.IntN(3)
		pools := randomPools(rng, 1+rng.IntN(10), m, round%2 == 0)
		capacity := make([]int64, m)
		for r := range capacity {
			capacity[r] = rng.Int64N(60)
		}
		policy := Policy{Discipline: fairshare.Discipline(rng.IntN(3)), Surplus: fairshare.Surplus(rng.IntN(2))}
		tree, err := New(pools, capacity, policy)
		require.NoError(t, err)
		index, slow := tree.Index(), newSlowIndex(pools, capacity, policy)
		for range 60 {
			next, want := index.Next(), slow.next(-1, policy.Discipline)
			require.Equal(t, want, next.Pool, "%+v\n%+v", pools, slow)
			if want >= 0 {
				require.Equal(t, slow.fits(want), next.Fits(), "%v", next)
			}
			picks[next.Reason]++
			i := rng.IntN(len(pools))
			leaf := len(slow.children(i)) == 0
			switch op := rng.IntN(8); {
			case op == 0:
				slow.held[i] = rng.IntN(2) == 0
				require.True(t, index.Hold(i, slow.held[i]))
			case op == 1:
				demand := rng.Int64N(20)
				if require.Equal(t, leaf, index.SetDemand(i, demand)); leaf {
					slow.demand[i] = demand
				}
			case op == 2:
				need := randomNeed(rng, m)
				if require.Equal(t, leaf, index.SetTask(i, need)); leaf {
					slow.need[i] = need
				}
			case op == 3:
				need := randomNeed(rng, m)
				if require.Equal(t, leaf, index.Add(i, -2, need)); leaf {
					slow.running[i] = max(0, slow.running[i]-2)
					for r := range need {
						slow.usage[i][r] = max(0, slow.usage[i][r]-2*need[r])
					}
				}
			case want >= 0:
				require.True(t, index.Add(want, 1, nil))
				slow.running[want]++
				for r, need := range slow.need[want] {
					slow.usage[want] = append([]int64(nil), slow.usage[want]...)
					slow.usage[want][r] += need
				}
			}
			for r := range capacity {
				require.Equal(t, slow.used(i, r), index.Usage(i, r))
			}
			require.Equal(t, slow.running[i], index.Running(i))
		}
	}
	for _, reason := range []fairshare.Reason{fairshare.NobodyWants, fairshare.BelowMinimum, fairshare.LeastServed,
		fairshare.Leftover, fairshare.InTurn} {
		assert.Greater(t, picks[reason], 100, "%v", reason)
	}
}

// handOut hands out one task at a time the slow way; a pool whose task does not fit gets no more.
func (x *slowIndex) handOut() []int64 {
	for i := x.next(-1, x.policy.Discipline); i >= 0; i = x.next(-1, x.policy.Discipline) {
		if !x.fits(i) {
			x.held[i] = true
			continue
		}
		x.running[i]++
		for r, need := range x.need[i] {
			x.usage[i][r] += need
		}
	}
	return x.running
}

// Shares are what is handed out one task at a time, compared as rational numbers: with minimums, maximums and weights,
// in the fast way for pools without parents and in the slow one for trees.
func TestSharesAgreeWithHandingOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 51))
	var guaranteed int
	for round := range 1200 {
		m := 1 + rng.IntN(3)
		capacity := make([]int64, m)
		for r := range capacity {
			capacity[r] = rng.Int64N(60)
		}
		pools := randomPools(rng, 1+rng.IntN(8), m, round%3 == 0)
		policy := Policy{}
		if round%3 == 0 {
			policy = Policy{Discipline: fairshare.Discipline(rng.IntN(3)), Surplus: fairshare.Surplus(rng.IntN(2))}
		}
		tree, err := New(pools, capacity, policy)
		require.NoError(t, err)
		got, err := tree.Shares(nil)
		require.NoError(t, err)
		slow := newSlowIndex(pools, capacity, policy)
		for i, tasks := range slow.handOut() {
			if len(slow.children(i)) > 0 {
				for _, c := range slow.children(i) {
					tasks += got[c].Tasks
				}
			}
			require.Equal(t, tasks, got[i].Tasks, "pool %d of %+v with %v", i, pools, capacity)
			part := new(big.Rat)
			for r, c := range capacity {
				if slow.least(i, r) > 0 {
					guaranteed++
				}
				if c > 0 {
					part = maxRat(part, big.NewRat(slow.used(i, r), c))
				}
			}
			want, _ := part.Float64()
			require.InDelta(t, want, got[i].Part, 1e-15)
		}
	}
	require.Greater(t, guaranteed, 1000)
}

func TestNoAllocations(t *testing.T) {
	index := randomIndex(t, 1000)
	pool := 0
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		index.Add(pool, -1, nil)
		pool = (pool + 7919) % 1000
		index.Hold(pool, false)
		index.SetDemand(pool, 30)
		index.Add(index.Next().Pool, 1, nil)
	}))
}

func TestZeroValues(t *testing.T) {
	tree, err := New(nil, nil, Policy{})
	require.NoError(t, err)
	for _, x := range []*Index{tree.Index(), new(Tree).Index(), {}} {
		assert.Equal(t, "wait nobody-wants", x.Next().String())
		assert.False(t, x.Add(0, 1, nil) || x.SetDemand(0, 1) || x.SetTask(0, nil) || x.Hold(0, true))
		assert.Zero(t, x.Usage(0, 0)+x.Running(0))
	}
}

func TestBadPoolsAreNamed(t *testing.T) {
	for want, p := range map[string]Pool{
		"len(pools[0].Task) is 0, want one for each of the 2 resources": {},
		"len(pools[0].Min) is 1": {Task: []int64{1, 1}, Min: []int64{1}},
		"pools[0].Max[1] is -2":  {Task: []int64{1, 1}, Max: []int64{1, -2}},
		"pools[0].Task[0] is -1": {Task: []int64{-1, 1}},
		"pools[0].Min[1] is 3, want at most its Max of 0": {Task: []int64{1, 1}, Min: []int64{1, 3},
			Max: []int64{0, fairshare.Zero}},
		"pools[0].Weight is -2": {Task: []int64{1, 1}, Weight: -2},
		"pools[0].Parent leads through pool 0": {Task: []int64{1, 1},
			Parent: fairshare.Under(0)},
	} {
		_, err := New([]Pool{p}, []int64{5, 5}, Policy{})
		assert.ErrorContains(t, err, want)
	}
	_, err := New(nil, []int64{1, -1}, Policy{})
	assert.EqualError(t, err, "fairshare/dominant: capacity[1] is -1, want at least 0")
	_, err = New(nil, nil, Policy{Surplus: 9})
	assert.ErrorContains(t, err, "Policy.Surplus is Surplus(9)")
}
