package pool_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/pool"
)

// world returns how long an attempt of an item takes, in the virtual time of testing/synctest.
type world func(r *rand.Rand, item, try int) time.Duration

const typical = 20 * time.Millisecond // the time of an attempt that is not slow

// slowAttempts is a world in which one attempt in twenty takes 8 times as long.
func slowAttempts(r *rand.Rand, _, _ int) time.Duration {
	if r.IntN(20) == 0 {
		return 8 * typical
	}
	return typical
}

// longItems is a world in which one item in twenty takes five times as long in each attempt.
func longItems(r *rand.Rand, item, _ int) time.Duration {
	takes := time.Duration(float64(typical) * math.Exp(0.1*r.NormFloat64()))
	if item%20 == 7 {
		takes *= 5
	}
	return takes
}

// hangs is a world in which the first attempt hangs for one item in ten.
func hangs(r *rand.Rand, item, try int) time.Duration {
	if try == 1 && item%10 == 7 {
		return time.Hour
	}
	return typical + time.Duration(r.IntN(1000))*time.Microsecond
}

// total is the sum over several calls of Map in a world.
type total struct {
	took float64 // seconds until Map returned
	used float64 // seconds of all attempts
	pool.Ledger
}

// run sums up eight calls of Map in a world.
func (w world) run(t *testing.T, items, goroutines int, options ...pool.Option) (sum total) {
	for seed := range uint64(seeds) {
		w.add(t, &sum, seed, items, goroutines, options...)
	}
	return sum
}

const seeds = 8

// add adds a call of Map in a world to a sum.
func (w world) add(t *testing.T, sum *total, seed uint64, items, goroutines int, options ...pool.Option) {
	synctest.Test(t, func(t *testing.T) {
		var used atomic.Int64
		var l pool.Ledger
		tries, began := make([]atomic.Int64, items), time.Now()
		_, err := pool.Map(t.Context(), upTo(items), func(ctx context.Context, i int) (int, error) {
			try, began := int(tries[i].Add(1)), time.Now()
			defer func() { used.Add(int64(time.Since(began))) }()
			r := rand.New(rand.NewPCG(seed*1_000_003+uint64(i), uint64(try)))
			return i, sleep(ctx, w(r, i, try))
		}, append(options, pool.Goroutines(goroutines), pool.Account(&l))...)
		require.NoError(t, err)
		sum.took += time.Since(began).Seconds()
		sum.used += time.Duration(used.Load()).Seconds()
		sum.Copies += l.Copies
		sum.Restarts += l.Restarts
	})
}

// Copies and Restarts save time if attempts are slow. For comparison: a rule that runs an item again as soon as its
// attempt has run for 1.3 typical times takes 0.54 and 0.70 of the time without copies.
func TestSlowAttemptsCostLessTime(t *testing.T) {
	for _, c := range []struct {
		items, goroutines int
		how               pool.Option
		most              float64 // of the time without copies and restarts
	}{{200, 40, pool.Copies(), 0.6}, {500, 25, pool.Copies(), 0.73}, {500, 25, pool.Restarts(), 0.73}} {
		without := world(slowAttempts).run(t, c.items, c.goroutines)
		with := world(slowAttempts).run(t, c.items, c.goroutines, c.how)
		assert.LessOrEqual(t, with.took/without.took, c.most, "%+v of %+v", with, without)
		assert.Less(t, with.used/without.used, 0.9)
	}
}

// noisyAttempts is like slowAttempts, but no two attempts take the same time.
func noisyAttempts(r *rand.Rand, item, try int) time.Duration {
	return time.Duration(float64(slowAttempts(r, item, try)) * math.Exp(0.1*r.NormFloat64()))
}

// Attempts that began together end shortly after each other. The last attempts of such a group get no copies.
func TestLastAttemptsOfAWaveGetNoCopies(t *testing.T) {
	l := world(noisyAttempts).run(t, 500, 25, pool.Copies())
	assert.LessOrEqual(t, l.Copies, 8*25, "8 times 25 attempts are slow, and some of these are restarted")
	assert.LessOrEqual(t, l.Copies+l.Restarts, 8*50)
}

// If some items take long in every attempt, copies and restarts do not help. A few lost copies and restarts show
// this, and then Map makes no more.
func TestLongItemsGetFewTrials(t *testing.T) {
	t.Parallel()
	without := world(longItems).run(t, 500, 25)
	for _, how := range []pool.Option{pool.Copies(), pool.Restarts()} {
		with := world(longItems).run(t, 500, 25, how)
		assert.Less(t, with.took/without.took, 1.03)
		assert.Less(t, with.used/without.used, 1.03)
		assert.LessOrEqual(t, with.Copies+with.Restarts, 8*10,
			"four free trials, and trials that lose 3 %% of the time of 500 items")
	}
}

// Map restarts each hung attempt once. So hung attempts do not make the typical time look longer.
func TestEachHungAttemptIsRestartedOnce(t *testing.T) {
	l := world(hangs).run(t, 100, 20, pool.Restarts())
	assert.Equal(t, 8*10, l.Restarts)
	assert.Less(t, l.took/8, 10*typical.Seconds(), "a goroutine runs five items, one after the other")
}

// spy is a policy that copies each attempt that has run for longer than 2.5 typical times. It records the trials that
// it is given.
type spy struct {
	atRisk []time.Duration
	tried  bool
	won    int
}

func (s *spy) Decide(t restart.Task, p restart.Phase) (d restart.Decision) {
	s.atRisk, s.won = append(s.atRisk, p.Trials.Cost+p.Trials.AtRisk), max(s.won, int(p.Trials.Won))
	s.tried = s.tried || t.Copies > 0 && p.Trials.AtRisk > 0
	if len(t.Attempts) == 1 && t.Attempts[0].Elapsed > 5*typical/2 {
		d.Action, d.Remaining, d.Fresh = restart.Copy, t.Attempts[0].Remaining, t.Fresh.Expected()
	}
	return d
}

// The policy is told how much slot time the open copies may waste. A copy is included from the check at which the
// policy asks for it until the copy has ended.
func TestPolicyIsToldTheTimeAtRisk(t *testing.T) {
	s := new(spy)
	threeHang := world(func(_ *rand.Rand, item, try int) time.Duration {
		switch {
		case item < 3 && try == 1:
			return time.Hour
		case item == 29:
			return 4 * typical
		}
		return typical
	})
	l := threeHang.run(t, 30, 5, pool.Copies(), pool.Policy(s))
	first := slices.Index(s.atRisk, 3*typical/2)
	require.Positive(t, first, "when the policy asks for the second copy, the time of the first copy is at risk")
	assert.Equal(t, 2*3*typical/2, s.atRisk[first+1])
	assert.NotContains(t, s.atRisk, 4*3*typical/2, "the policy never asks for a fifth copy")
	assert.Less(t, slices.Min(s.atRisk), -6*typical, "in the end won copies have saved time, and nothing is at risk")
	assert.True(t, s.tried, "the task's trial is a copy until the copy has ended")
	assert.GreaterOrEqual(t, s.won, 3)
	assert.GreaterOrEqual(t, l.Copies, 8*3)
}
