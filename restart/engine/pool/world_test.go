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

// world says how long a run of an item takes. Its time is that of a bubble, in which no processor is busy.
type world func(r *rand.Rand, item, try int) time.Duration

const usual = 20 * time.Millisecond

// slowRuns is a world in which one run in twenty takes 8 times as long.
func slowRuns(r *rand.Rand, _, _ int) time.Duration {
	if r.IntN(20) == 0 {
		return 8 * usual
	}
	return usual
}

// longItems is one in which one item in twenty takes five times as long, whenever it runs.
func longItems(r *rand.Rand, item, _ int) time.Duration {
	takes := time.Duration(float64(usual) * math.Exp(0.1*r.NormFloat64()))
	if item%20 == 7 {
		takes *= 5
	}
	return takes
}

// hangs is one in which the first run of one item in ten hangs.
func hangs(r *rand.Rand, item, try int) time.Duration {
	if try == 1 && item%10 == 7 {
		return time.Hour
	}
	return usual + time.Duration(r.IntN(1000))*time.Microsecond
}

// total is what some Maps of a world have taken.
type total struct {
	took, used float64 // seconds, and those of all goroutines
	pool.Ledger
}

// run adds up eight Maps of a world.
func (w world) run(t *testing.T, items, goroutines int, options ...pool.Option) (sum total) {
	for seed := range uint64(8) {
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
	return sum
}

// Where runs are slow, a rule that runs each again once it has run for 1.3 usual times takes 0.54 and 0.70 of the time.
func TestSlowRuns(t *testing.T) {
	for _, c := range []struct {
		items, goroutines int
		how               pool.Option
		most              float64 // of the time without
	}{{200, 40, pool.Copies(), 0.6}, {500, 25, pool.Copies(), 0.73}, {500, 25, pool.Restarts(), 0.73}} {
		without := world(slowRuns).run(t, c.items, c.goroutines)
		with := world(slowRuns).run(t, c.items, c.goroutines, c.how)
		assert.LessOrEqual(t, with.took/without.took, c.most, "%+v of %+v", with, without)
		assert.Less(t, with.used/without.used, 0.9)
	}
}

// noisyRuns is slowRuns where no two runs take the same time.
func noisyRuns(r *rand.Rand, item, try int) time.Duration {
	return time.Duration(float64(slowRuns(r, item, try)) * math.Exp(0.1*r.NormFloat64()))
}

// Runs that began together come in one after the other. Those that a look finds still on their way are left alone.
func TestWavesComeInTogether(t *testing.T) {
	l := world(noisyRuns).run(t, 500, 25, pool.Copies())
	assert.LessOrEqual(t, l.Copies, 8*25, "of 8 times 25 runs that are slow, of which some are restarted")
	assert.LessOrEqual(t, l.Copies+l.Restarts, 8*50)
}

// Where it is the items that are long, a few copies and restarts show that, and no more are made.
func TestLongItems(t *testing.T) {
	without := world(longItems).run(t, 500, 25)
	for _, how := range []pool.Option{pool.Copies(), pool.Restarts()} {
		with := world(longItems).run(t, 500, 25, how)
		assert.Less(t, with.took/without.took, 1.03)
		assert.Less(t, with.used/without.used, 1.03)
		assert.LessOrEqual(t, with.Copies+with.Restarts, 8*10, "three trials, and three hundredths of 500 items, each lost one of two")
	}
}

// That some hang says nothing of how long a run takes that is not ended.
func TestHangs(t *testing.T) {
	l := world(hangs).run(t, 100, 20, pool.Restarts())
	assert.Equal(t, 8*10, l.Restarts)
	assert.Less(t, l.took/8, 10*usual.Seconds(), "five are one run after the other")
}

// spy copies what has run for two and a half usual times, and notes what it was told of trials.
type spy struct {
	atRisk []time.Duration
	tried  bool
	won    int
}

func (s *spy) Decide(t restart.Task, p restart.Phase) (d restart.Decision) {
	s.atRisk, s.won = append(s.atRisk, p.Trials.Cost+p.Trials.AtRisk), max(s.won, int(p.Trials.Won))
	s.tried = s.tried || t.Trial.Action == restart.Copy
	if len(t.Attempts) == 1 && t.Attempts[0].Elapsed > 5*usual/2 {
		d.Action, d.Remaining, d.Fresh = restart.Copy, t.Attempts[0].Remaining, t.Fresh.Expected()
	}
	return d
}

// A policy is told what is at risk: of the copies that it has just asked for, until each has come out.
func TestPolicyIsToldOfTrials(t *testing.T) {
	s := new(spy)
	threeHang := world(func(_ *rand.Rand, item, try int) time.Duration {
		switch {
		case item < 3 && try == 1:
			return time.Hour
		case item == 29:
			return 4 * usual
		}
		return usual
	})
	l := threeHang.run(t, 30, 5, pool.Copies(), pool.Policy(s))
	first := slices.Index(s.atRisk, 3*usual/2)
	require.Positive(t, first, "while the second copy is asked for, the first may be in vain")
	assert.Equal(t, 2*3*usual/2, s.atRisk[first+1])
	assert.NotContains(t, s.atRisk, 4*3*usual/2, "there are never five")
	assert.Less(t, slices.Min(s.atRisk), -6*usual, "time was saved, and nothing is at risk any more")
	assert.True(t, s.tried, "until a copy comes out, it is on trial")
	assert.GreaterOrEqual(t, s.won, 3)
	assert.GreaterOrEqual(t, l.Copies, 8*3)
}
