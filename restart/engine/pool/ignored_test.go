package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/pool"
)

// If a function ignores its context, the option Restarts costs next to nothing: the function's results are used, and
// Map makes no restarts after the first attempt that has ignored the end of its context. The option Copies costs the
// time of the copies that lose.
func TestFunctionThatIgnoresItsContextLosesLittle(t *testing.T) {
	for _, c := range []struct{ items, goroutines, every, at int }{{40, 8, 40, 30}, {64, 16, 16, 15}} {
		long := 100 * typical
		run := func(t *testing.T, o pool.Option) (took time.Duration, calls int64, l pool.Ledger) {
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int64
				began := time.Now()
				got, err := pool.Map(t.Context(), upTo(c.items), func(_ context.Context, i int) (int, error) {
					n.Add(1)
					takes := typical
					if i%c.every == c.at {
						takes = long
					}
					time.Sleep(takes)
					return i, nil
				}, pool.Goroutines(c.goroutines), pool.Account(&l), o)
				require.NoError(t, err)
				assert.Equal(t, upTo(c.items), got)
				took, calls = time.Since(began), n.Load()
			})
			return took, calls, l
		}
		without, _, _ := run(t, nil)
		with, calls, l := run(t, pool.Restarts())
		assert.LessOrEqual(t, with, without+typical, l)
		assert.EqualValues(t, c.items, calls, "no item is run again: its first attempt returns a result")
		assert.LessOrEqual(t, l.Restarts, c.items/c.every+1, "only the first check that finds slow attempts restarts any")
		with, _, l = run(t, pool.Copies())
		assert.LessOrEqual(t, with, 2*without, "Map waits for the copies, which ignore their contexts too: %v", l)
	}
}

// eager is a policy that restarts each attempt that has run for longer than 2.5 typical times. It records how many
// trials were won or lost.
type eager struct{ tried, won int }

func (e *eager) Decide(t restart.Task, p restart.Phase) (d restart.Decision) {
	won, all := int(p.Trials.Won), int(p.Trials.Won+p.Trials.Lost)
	e.tried, e.won = max(e.tried, all), max(e.won, won)
	if t.Attempts[0].Elapsed > 5*typical/2 {
		d.Action = restart.Restart
	}
	return d
}

// After an attempt has ignored the end of its context, Map makes no further restart, whatever the policy wants. The
// restart of this attempt is counted as a lost trial.
func TestNoRestartsAfterAnAttemptIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l pool.Ledger
		e := new(eager)
		_, err := pool.Map(t.Context(), upTo(60), func(_ context.Context, i int) (int, error) {
			takes := typical
			if i%10 == 9 {
				takes = 10 * typical
			}
			time.Sleep(takes)
			return i, nil
		}, pool.Goroutines(2), pool.Restarts(), pool.Policy(e), pool.Account(&l))
		require.NoError(t, err)
		assert.Equal(t, 1, l.Restarts, "six items are long, and only the first of them is restarted")
		assert.Equal(t, 1, e.tried)
		assert.Zero(t, e.won)
		assert.Zero(t, l.Wasted, "the result of the restarted attempt counts")
	})
}

// An attempt whose context was ended for a restart may still return a result without an error. Then this result
// becomes the item's result.
func TestResultAfterTheEndOfItsContextCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, o := range []pool.Option{pool.Restarts(), pool.Copies()} {
			var tries [100]atomic.Int64
			got, err := pool.Map(t.Context(), upTo(100), func(ctx context.Context, i int) (int, error) {
				if tries[i].Add(1) == 1 && tenth(i) {
					<-ctx.Done()
					return i, nil
				}
				return i, sleep(ctx, 10*time.Millisecond)
			}, pool.Goroutines(20), o)
			require.NoError(t, err)
			assert.Equal(t, upTo(100), got)
		}
	})
}

// wild is a policy that decides at random. Some of its decisions have the index of an attempt that does not exist.
type wild struct{ r *rand.Rand }

func (w wild) Decide(restart.Task, restart.Phase) restart.Decision {
	actions := []restart.Action{restart.Keep, restart.Copy, restart.Restart, restart.Kill, restart.Action(17)}
	return restart.Decision{
		Action: actions[w.r.IntN(len(actions))], Attempt: w.r.IntN(6) - 2,
		Remaining: time.Duration(w.r.Int64()), Fresh: time.Duration(w.r.Int64()),
	}
}

// Map does not panic, and returns each result once, whatever a policy answers.
func TestNoAnswerOfAPolicyDoesHarm(t *testing.T) {
	for seed := range uint64(20) {
		for _, how := range []pool.Option{pool.Copies(), pool.Restarts()} {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					items := 60
					var tries [60]atomic.Int64
					got, err := pool.Map(t.Context(), upTo(items), func(ctx context.Context, i int) (int, error) {
						r := rand.New(rand.NewPCG(seed*1000+uint64(i), uint64(tries[i].Add(1))))
						takes := time.Duration(r.Int64N(int64(6 * time.Millisecond)))
						if r.IntN(20) == 0 {
							takes *= 10
						}
						if r.IntN(3) == 0 {
							time.Sleep(takes)
							return i, nil
						}
						return i, sleep(ctx, takes)
					}, pool.Goroutines(1+int(seed)%9), pool.Policy(wild{rand.New(rand.NewPCG(seed, 1))}),
						pool.Interval(time.Millisecond), how)
					require.NoError(t, err)
					assert.Equal(t, upTo(items), got)
				})
			})
		}
	}
}
