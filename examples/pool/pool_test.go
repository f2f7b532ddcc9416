package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Every result counts once, whatever is copied.
func TestResultsCountOnce(t *testing.T) {
	for _, policy := range []restart.Policy{restart.Never{}, restart.Mantri{}, rules.Dryad{}} {
		var mu sync.Mutex
		kept := map[int]int{}
		ledger, err := run(t.Context(), 100, 20, time.Millisecond, policy, square, func(i, result int) {
			mu.Lock()
			defer mu.Unlock()
			assert.Zero(t, kept[i])
			kept[i] = result + 1
		})
		require.NoError(t, err)
		assert.Len(t, kept, 100)
		for i, result := range kept {
			assert.Equal(t, i*i+1, result)
		}
		assert.Equal(t, 100, ledger.Finished)
		assert.Zero(t, ledger.Ignored)
	}
}

// A task that fails is tried once more; then its error is the pool's. A context that ends stops it.
func TestErrors(t *testing.T) {
	var mu sync.Mutex
	tries := map[int]int{}
	fail := func(times int) func(context.Context, int) (int, error) {
		return func(_ context.Context, i int) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			if tries[i]++; i == 3 && tries[i] <= times {
				return 0, errors.New("out of luck")
			}
			return i, nil
		}
	}
	_, err := run(t.Context(), 9, 3, time.Millisecond, restart.Never{}, fail(1), func(int, int) {})
	assert.NoError(t, err)
	clear(tries)
	_, err = run(t.Context(), 9, 3, time.Millisecond, restart.Never{}, fail(9), func(int, int) {})
	assert.ErrorContains(t, err, "out of luck")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = run(ctx, 9, 3, time.Millisecond, restart.Never{}, fail(0), func(int, int) {})
	assert.ErrorIs(t, err, context.Canceled)
}

// Work that hangs, on some goroutines or on all of them, is found and run again. A task is hung until its context ends.
func TestWorkThatHangs(t *testing.T) {
	for _, c := range [][2]int{{20, 5}, {20, 20}, {4, 4}, {1, 1}} {
		goroutines, hung := c[0], c[1]
		var mu sync.Mutex
		tries, kept := map[int]int{}, map[int]int{}
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		task := func(ctx context.Context, i int) (int, error) {
			mu.Lock()
			tries[i]++
			first := tries[i] == 1
			mu.Unlock()
			if first && i >= 40 && i < 40+hung {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			time.Sleep(10 * time.Millisecond)
			return i, nil
		}
		ledger, err := run(ctx, 100, goroutines, 2*time.Millisecond, restart.Mantri{}, task, func(i, result int) {
			mu.Lock()
			defer mu.Unlock()
			kept[i] = result
		})
		cancel()
		require.NoError(t, err, "%d of %d goroutines hang", hung, goroutines)
		assert.Len(t, kept, 100)
		assert.Equal(t, 100, ledger.Finished)
	}
}
