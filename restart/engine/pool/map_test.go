package pool_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/pool"
)

// upTo returns the numbers from 0 to n-1.
func upTo(n int) []int {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	return items
}

// sleep waits for d, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// quiet fails the test if goroutines are left after it.
func quiet(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 2000 {
			for range 1000 { // in virtual time the sleep takes no time, and a goroutine that has ended is still counted for a moment
				if runtime.NumGoroutine() <= before {
					return
				}
				runtime.Gosched()
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Errorf("%d goroutines are left", runtime.NumGoroutine()-before)
	})
}

var errLuck = errors.New("out of luck")

func TestResultsAreInOrder(t *testing.T) {
	quiet(t)
	for _, n := range []int{0, 1, 2, 100, 10000} {
		for _, goroutines := range []int{0, 1, 3, 20000} {
			for _, o := range []pool.Option{pool.Policy(nil), pool.Copies(), pool.Restarts()} {
				var calls atomic.Int64
				got, err := pool.Map(t.Context(), upTo(n), func(_ context.Context, i int) (int, error) {
					calls.Add(1)
					return i * i, nil
				}, pool.Goroutines(goroutines), o)
				require.NoError(t, err)
				require.Len(t, got, n)
				for i, square := range got {
					if square != i*i {
						require.Equal(t, i*i, square)
					}
				}
				assert.GreaterOrEqual(t, calls.Load(), int64(n))
			}
		}
	}
}

func TestNoMoreRunsThanGoroutines(t *testing.T) {
	var running, most atomic.Int64
	_, err := pool.Map(t.Context(), upTo(200), func(ctx context.Context, i int) (int, error) {
		now := running.Add(1)
		defer running.Add(-1)
		for {
			if m := most.Load(); now <= m || most.CompareAndSwap(m, now) {
				break
			}
		}
		if i%20 == 0 {
			return i, sleep(ctx, 20*time.Millisecond)
		}
		return i, sleep(ctx, 2*time.Millisecond)
	}, pool.Goroutines(7), pool.Copies())
	require.NoError(t, err)
	assert.EqualValues(t, 7, most.Load())
}

// The first error ends Map: the contexts of the other attempts end, Map waits for them, and no more attempts begin.
func TestFirstErrorEndsMap(t *testing.T) {
	for _, o := range []pool.Option{pool.Policy(nil), pool.Copies()} {
		quiet(t)
		var running, begun atomic.Int64
		got, err := pool.Map(t.Context(), upTo(1000), func(ctx context.Context, i int) (int, error) {
			running.Add(1)
			defer running.Add(-1)
			begun.Add(1)
			if i == 3 {
				return 0, errLuck
			}
			return 0, sleep(ctx, time.Minute)
		}, pool.Goroutines(8), o)
		require.ErrorIs(t, err, errLuck)
		assert.Nil(t, got)
		assert.Zero(t, running.Load())
		assert.LessOrEqual(t, begun.Load(), int64(16))
	}
}

func TestMapReturnsTheCauseOfAContextThatEnds(t *testing.T) {
	quiet(t)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
	_, err := pool.Map(ctx, upTo(100), func(ctx context.Context, i int) (int, error) {
		return 0, sleep(ctx, time.Minute)
	}, pool.Copies())
	require.ErrorIs(t, err, why)
	_, err = pool.Map(ctx, upTo(100), func(ctx context.Context, i int) (int, error) { return i, ctx.Err() })
	require.ErrorIs(t, err, why)
	_, err = pool.Map(ctx, nil, func(ctx context.Context, i int) (int, error) { return 0, nil })
	require.ErrorIs(t, err, why)
}

// If the context has ended before Map is called, Map never calls the function.
func TestNothingIsCalledIfTheContextHasEnded(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for _, n := range []int{1, 2, 100, 10000} {
		for _, o := range []pool.Option{nil, pool.Copies()} {
			for range 20 {
				var calls atomic.Int64
				got, err := pool.Map(ctx, upTo(n), func(context.Context, int) (int, error) { calls.Add(1); return 1, nil }, o)
				require.ErrorIs(t, err, why)
				assert.Nil(t, got)
				assert.Zero(t, calls.Load())
			}
		}
	}
}

// If the context ends while the last attempt runs, Map returns the context's cause, whether the attempt returns a
// result or an error.
func TestContextThatEndsDuringTheLastAttemptCounts(t *testing.T) {
	why := errors.New("enough")
	for range 50 {
		for _, returned := range []error{nil, errLuck} {
			for _, o := range []pool.Option{nil, pool.Copies()} {
				ctx, cancel := context.WithCancelCause(t.Context())
				got, err := pool.Map(ctx, upTo(8), func(_ context.Context, i int) (int, error) {
					if i == 7 {
						cancel(why)
						return i, returned
					}
					return i, nil
				}, pool.Goroutines(1), o)
				require.ErrorIs(t, err, why)
				assert.Nil(t, got)
			}
		}
	}
}

func TestOptionsOutOfRangeAreErrors(t *testing.T) {
	one := func(context.Context, int) (int, error) { return 0, nil }
	_, err := pool.Map(t.Context(), upTo(3), one, pool.Goroutines(-1))
	require.ErrorContains(t, err, "pool: Goroutines is -1, want 1 or more")
	_, err = pool.Map(t.Context(), upTo(3), one, pool.Interval(-1))
	require.ErrorContains(t, err, "pool: Interval is -1ns")
	_, err = pool.Map(t.Context(), upTo(3), one, pool.Timeout(-1))
	require.ErrorContains(t, err, "pool: Timeout is -1ns")
	_, err = pool.Map(t.Context(), upTo(3), one, pool.Work(func(string) float64 { return 1 }))
	require.EqualError(t, err, "pool: Work has a func(string) float64, want a func(int) float64")
	_, err = pool.Map(t.Context(), upTo(3), one, pool.Work(func(i int) float64 { return float64(i - 1) }))
	require.ErrorContains(t, err, "pool: Work of item ")
	_, err = pool.Map(t.Context(), upTo(3), one, pool.Policy(restart.Mantri{CopyThreshold: 2}))
	require.ErrorContains(t, err, "pool: Policy: ")
	_, err = pool.Map(t.Context(), upTo(3), one, pool.Policy((*restart.Mantri)(nil)))
	require.ErrorContains(t, err, "pool: Policy: restart: Policy is \"a nil *restart.Mantri\", want a policy")
}

// slowly returns a function that takes 10 ms. Only the first attempt of a slow item takes longer.
func slowly(slow func(i int) bool, takes time.Duration, tries *[100]atomic.Int64) func(context.Context, int) (int, error) {
	return func(ctx context.Context, i int) (int, error) {
		if tries[i].Add(1) == 1 && slow(i) {
			return i, sleep(ctx, takes)
		}
		return i, sleep(ctx, 10*time.Millisecond)
	}
}

func tenth(i int) bool { return i%10 == 7 }

func TestSlowAttemptsGetCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quiet(t)
		var tries [100]atomic.Int64
		var l pool.Ledger
		told := map[restart.Action]int{}
		got, err := pool.Map(t.Context(), upTo(100), slowly(tenth, time.Minute, &tries), pool.Goroutines(20), pool.Copies(),
			pool.Account(&l), pool.OnAction(func(_ int, d restart.Decision) { told[d.Action]++ }))
		require.NoError(t, err)
		assert.Equal(t, upTo(100), got)
		assert.GreaterOrEqual(t, l.Won, 10, l)
		assert.Positive(t, l.Wasted)
		assert.Equal(t, told[restart.Restart], l.Restarts)
		assert.GreaterOrEqual(t, told[restart.Copy], l.Copies)
	})
}

// Without Copies and Restarts each item is run once, and Map waits for a slow attempt.
func TestNothingRunsTwiceUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries [100]atomic.Int64
		_, err := pool.Map(t.Context(), upTo(100), slowly(tenth, 300*time.Millisecond, &tries), pool.Goroutines(20))
		require.NoError(t, err)
		for i := range tries {
			assert.EqualValues(t, 1, tries[i].Load())
		}
	})
}

// With Restarts, the next attempt of an item begins only after the last attempt of the item has returned.
func TestRestartsDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quiet(t)
		var running [100]atomic.Int64
		var tries [100]atomic.Int64
		var l pool.Ledger
		f := slowly(tenth, time.Minute, &tries)
		got, err := pool.Map(t.Context(), upTo(100), func(ctx context.Context, i int) (int, error) {
			assert.EqualValues(t, 1, running[i].Add(1))
			defer running[i].Add(-1)
			defer time.Sleep(3 * time.Millisecond) // the attempt takes some time to stop
			return f(ctx, i)
		}, pool.Goroutines(20), pool.Restarts(), pool.Account(&l))
		require.NoError(t, err)
		assert.Equal(t, upTo(100), got)
		assert.GreaterOrEqual(t, l.Restarts, 10)
		assert.Zero(t, l.Copies)
	})
}

// Hung attempts are found and run again, even if they occupy all goroutines.
func TestHungAttemptsAreRunAgain(t *testing.T) {
	for _, c := range [][2]int{{20, 5}, {20, 20}, {4, 4}, {1, 1}} {
		for _, o := range []pool.Option{pool.Copies(), pool.Restarts()} {
			synctest.Test(t, func(t *testing.T) {
				var tries [100]atomic.Int64
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				hang := func(i int) bool { return i >= 40 && i < 40+c[1] }
				got, err := pool.Map(ctx, upTo(100), slowly(hang, time.Hour, &tries), pool.Goroutines(c[0]), o)
				require.NoError(t, err, "%d of %d goroutines hang", c[1], c[0])
				assert.Equal(t, upTo(100), got)
			})
		}
	}
}

// Map ignores the error of a copy while the first attempt runs.
func TestErrorOfACopyDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries [100]atomic.Int64
		var l pool.Ledger
		got, err := pool.Map(t.Context(), upTo(100), func(ctx context.Context, i int) (int, error) {
			if tries[i].Add(1) > 1 {
				return -1, errLuck
			}
			if i == 99 {
				return i, sleep(ctx, 400*time.Millisecond)
			}
			return i, sleep(ctx, 10*time.Millisecond)
		}, pool.Goroutines(20), pool.Copies(), pool.Policy(restart.Mantri{MaxRestarts: restart.Off}), pool.Account(&l))
		require.NoError(t, err)
		assert.Equal(t, upTo(100), got)
		assert.Positive(t, l.Failed, l)
	})
}

// Limits hold whatever the policy decides.
func TestLimitsBoundEveryPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, i int) (int, error) {
			return i, sleep(ctx, time.Duration(10+290*(i/99))*time.Millisecond)
		}
		var l pool.Ledger
		options := []pool.Option{pool.Goroutines(20), pool.Copies(), pool.Account(&l)}
		_, err := pool.Map(t.Context(), upTo(100), slow, append(options, pool.Policy(restart.Mantri{MaxRestarts: restart.Off}),
			pool.Limits(restart.Limits{Copies: restart.Off}))...)
		require.NoError(t, err)
		assert.Zero(t, l.Copies)
		_, err = pool.Map(t.Context(), upTo(1), slow, pool.Limits(restart.Limits{LossShare: 2}))
		assert.ErrorContains(t, err, "pool: Limits: restart: Limits.LossShare is 2")
	})
}

// If a copy ends later than the first attempt, the result of the copy is not used.
func TestLateCopyWinsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries [100]atomic.Int64
		var l pool.Ledger
		got, err := pool.Map(t.Context(), upTo(100), func(ctx context.Context, i int) (int, error) {
			switch {
			case tries[i].Add(1) > 1:
				return -1, sleep(ctx, time.Minute)
			case i == 99:
				return i, sleep(ctx, 300*time.Millisecond)
			}
			return i, sleep(ctx, 10*time.Millisecond)
		}, pool.Goroutines(20), pool.Copies(), pool.Policy(restart.Mantri{MaxRestarts: restart.Off}), pool.Account(&l))
		require.NoError(t, err)
		assert.Equal(t, upTo(100), got)
		assert.Positive(t, l.Copies)
		assert.Zero(t, l.Won, l)
	})
}

// After only two attempts have ended, Map does nothing about slow attempts.
func TestNothingIsDoneBeforeThreeAttemptsHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended, early atomic.Int64
		tell := func(int, restart.Decision) {
			if ended.Load() < 3 {
				early.Add(1)
			}
		}
		_, err := pool.Map(t.Context(), upTo(4), func(ctx context.Context, i int) (int, error) {
			defer ended.Add(1)
			if i < 2 {
				return i, sleep(ctx, time.Millisecond)
			}
			return i, sleep(ctx, 150*time.Millisecond)
		}, pool.Goroutines(8), pool.Copies(), pool.OnAction(tell))
		require.NoError(t, err)
		assert.Zero(t, early.Load())
	})
}

func TestGoexitIsAnError(t *testing.T) {
	quiet(t)
	_, err := pool.Map(t.Context(), upTo(100), func(ctx context.Context, i int) (int, error) {
		if i == 50 {
			runtime.Goexit()
		}
		return i, nil
	}, pool.Goroutines(4), pool.Copies())
	require.ErrorContains(t, err, "runtime.Goexit")
}

// For an item that is run only once, Map allocates only the context of the attempt.
func TestAnItemRunOnceCostsOneAllocation(t *testing.T) {
	items := upTo(20000)
	allocations := testing.AllocsPerRun(3, func() {
		_, _ = pool.Map(t.Context(), items, func(_ context.Context, i int) (int, error) { return i, nil },
			pool.Goroutines(8), pool.Copies())
	})
	assert.Less(t, allocations, 20300.)
}

// older restarts the only attempt of an item after 40 ms.
type older struct{}

func (older) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if len(t.Attempts) != 1 || t.Attempts[0].Elapsed < 40*time.Millisecond {
		return restart.Decision{Reason: restart.NotSlow}
	}
	return restart.Decision{Action: restart.Restart, Reason: restart.BeyondPeers}
}

// The decision that OnAction gets names the attempt by its number, as AttemptOf does.
func TestOnActionNumbersAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var killed []int
		got, err := pool.Map(t.Context(), upTo(40), func(ctx context.Context, i int) (int, error) {
			if a, _ := pool.AttemptOf(ctx); i == 10 && a.Number < 3 {
				return 0, sleep(ctx, time.Minute)
			}
			return i, sleep(ctx, time.Millisecond)
		}, pool.Goroutines(4), pool.Restarts(), pool.Policy(older{}), pool.OnAction(func(item int, d restart.Decision) {
			if item == 10 {
				killed = append(killed, d.Attempt)
			}
		}))
		require.NoError(t, err)
		assert.Equal(t, upTo(40), got)
		assert.Equal(t, []int{0, 1, 2}, killed)
	})
}
