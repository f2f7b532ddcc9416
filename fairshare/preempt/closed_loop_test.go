package preempt

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

// loop is a scheduler in virtual time. A step takes one second. Tasks of pool i use sizes[i] units each and run
// for a long time.
type loop struct {
	*Preemptor
	tree   *fairshare.Tree
	index  *fairshare.Index
	shares []fairshare.Share
	sizes  []int64
	tasks  []Task
	ends   []time.Time
	now    time.Time
	total  int64
	kills  int
}

func newLoop(t *testing.T, pools []fairshare.Pool, sizes []int64, total int64, config Config) *loop {
	l := &loop{sizes: sizes, total: total, now: time.Unix(0, 0)}
	var err error
	l.tree, err = fairshare.New(pools, fairshare.Policy{Order: fairshare.SmallestPart})
	require.NoError(t, err)
	l.index = l.tree.Index()
	l.Preemptor, err = New(l.tree, config)
	require.NoError(t, err)
	for i, size := range sizes {
		l.SetWaiting(i, Waiting{Units: size})
	}
	return l
}

// demand sets the demand of each pool and computes the shares.
func (l *loop) demand(t *testing.T, demand []int64) {
	var err error
	l.shares, err = l.tree.Shares(l.shares, demand, l.total)
	require.NoError(t, err)
	for i, d := range demand {
		l.index.SetDemand(i, d)
	}
	require.NoError(t, l.index.SetShares(l.shares))
}

// usage returns the units that each pool uses, and the free units.
func (l *loop) usage() (usage []int64, free int64) {
	free = l.total
	for i := range l.sizes {
		usage = append(usage, l.index.Usage(i))
		free -= usage[i]
	}
	return usage, free
}

// hand gives the free units to the pools that the index returns. It skips a pool if the next task of the pool does
// not fit.
func (l *loop) hand(length func() time.Duration) {
	_, free := l.usage()
	var held []int
	for next := l.index.Next(); next.Pool >= 0; next = l.index.Next() {
		size := l.sizes[next.Pool]
		if size > free {
			l.index.Hold(next.Pool, true)
			held = append(held, next.Pool)
			continue
		}
		free -= size
		l.index.Add(next.Pool, size)
		l.tasks = append(l.tasks, Task{Pool: next.Pool, Slots: size, Started: l.now})
		l.ends = append(l.ends, l.now.Add(length()))
	}
	for _, pool := range held {
		l.index.Hold(pool, false)
	}
}

// step ends finished tasks, kills the victims of a plan, and hands out the free units.
func (l *loop) step(t *testing.T, length func() time.Duration) {
	usage, free := l.usage()
	require.NoError(t, l.Observe(l.now, l.shares, usage))
	plan := l.Plan(l.now, l.tasks, []int64{free})
	l.kills += len(plan.Victims)
	tasks, ends := l.tasks[:0], l.ends[:0]
	for i, task := range l.tasks {
		if plan.Outcomes != nil && plan.Outcomes[i] == Killed || !l.ends[i].After(l.now) {
			l.index.Add(task.Pool, -task.Slots)
			continue
		}
		tasks, ends = append(tasks, task), append(ends, l.ends[i])
	}
	l.tasks, l.ends = tasks, ends
	l.hand(length)
	l.now = l.now.Add(time.Second)
}

// A pool becomes active while other pools fill the cluster with tasks of one hour. After a few timeouts the pool
// lacks fewer units than one task of its own and one task of another pool have together. After that no task is
// killed any more. Both statements are true for all sizes of tasks.
func TestSharesAreReachedWithoutFlapping(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 34))
	kills := 0
	for range 150 {
		n := 2 + rng.IntN(3)
		total := int64(60 + rng.IntN(60))
		pools, sizes, demand := make([]fairshare.Pool, n), make([]int64, n), make([]int64, n)
		for i := range pools {
			sizes[i] = 1 + rng.Int64N(7)
			if i > 0 {
				demand[i] = sizes[i] * 50
			}
		}
		l := newLoop(t, pools, sizes, total, Config{Timeouts: Timeouts{Min: 10 * time.Second, Fair: 20 * time.Second}, Cooldown: 2 * time.Second})
		hour := func() time.Duration { return time.Hour }
		l.demand(t, demand)
		for range 5 {
			l.step(t, hour)
		}
		demand[0] = sizes[0] * 50
		l.demand(t, demand)
		for range 120 {
			l.step(t, hour)
		}
		largest := int64(0)
		for _, size := range sizes {
			largest = max(largest, size)
		}
		usage, _ := l.usage()
		assert.Greater(t, usage[0]+sizes[0]+largest, l.shares[0].Slots, "pool 0 must have nearly its share: usage %v, shares %v, sizes %v", usage, l.shares, sizes)
		kills += l.kills
		before := l.kills
		for range 300 {
			l.step(t, hour)
		}
		require.Equal(t, before, l.kills, "no task may be killed any more: usage %v, shares %v, sizes %v", usage, l.shares, sizes)
	}
	require.Greater(t, kills, 500)
}
