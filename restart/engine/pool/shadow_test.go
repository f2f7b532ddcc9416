package pool_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/pool"
	"github.com/straggler-go/straggler/restart/engine/shadow"
)

func healthyAttempts(r *rand.Rand, _, _ int) time.Duration {
	return typical + time.Duration(r.IntN(1e6))
}

// The bill is within ten points of the saving of copies. Slow attempts were bad luck in the first worlds, so AtMost is
// the share to compare; in the last worlds items are long by themselves. An ordinary run leaves out the larger worlds.
func TestTheBillIsTheSavingOfCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("simulations in one goroutine; TestABillWithWorkAndErrors runs the same goroutines")
	}
	t.Parallel()
	for _, c := range []struct {
		name              string
		world             world
		items, goroutines int
		luck, long        bool
	}{
		{"slow attempts", slowAttempts, 100, 20, true, false},
		{"slow attempts", slowAttempts, 200, 40, true, true},
		{"slow attempts", slowAttempts, 500, 25, true, true},
		{"noisy attempts", noisyAttempts, 500, 25, true, true},
		{"long items", longItems, 500, 25, false, true},
		{"long items", longItems, 200, 40, false, true},
		{"long items", longItems, 100, 20, false, false},
		{"healthy", healthyAttempts, 100, 10, false, false},
		{"healthy", healthyAttempts, 300, 30, false, true},
	} {
		if c.long && os.Getenv("STRAGGLER_LIVES") == "" {
			continue
		}
		without := c.world.run(t, c.items, c.goroutines)
		with := c.world.run(t, c.items, c.goroutines, pool.Copies())
		var bill, one shadow.Bill
		var quiet total
		shown := 0
		for seed := range uint64(seeds) {
			onAction := pool.OnAction(func(int, restart.Decision) { shown++ })
			c.world.add(t, &quiet, seed, c.items, c.goroutines, pool.Shadow(&one), onAction)
			bill.Add(one)
		}
		assert.Equal(t, without.took, quiet.took, "%s: nothing is done", c.name)
		assert.Zero(t, quiet.Copies+quiet.Restarts)
		saved, billed := 1-with.took/without.took, bill.Saved
		if c.luck {
			billed = bill.AtMost
		}
		t.Logf("%s, %d items on %d goroutines: saved %.3f, bill %v", c.name, c.items, c.goroutines, saved, bill)
		assert.InDelta(t, saved, billed, .1, c.name)
		assert.Equal(t, seeds*c.items, bill.Tasks)
		assert.Equal(t, c.name != "healthy", shown > 0)
	}
}

// The bill knows the work of items, and leaves out items that have failed. After an error there is no bill.
func TestABillWithWorkAndErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bill := shadow.Bill{Tasks: 7}
		for range pool.Each(t.Context(), upTo(64), func(ctx context.Context, i int) (int, error) {
			if i == 9 {
				return 0, errors.New("bad item")
			}
			return i, sleep(ctx, time.Duration(1+i%4)*time.Millisecond)
		}, pool.Shadow(&bill), pool.Goroutines(8), pool.Work(func(i int) float64 { return float64(1 + i%4) })) {
			continue
		}
		require.Equal(t, 63, bill.Tasks)
		assert.Zero(t, bill.Copies, bill.String())

		_, err := pool.Map(t.Context(), upTo(3), func(context.Context, int) (int, error) { return 0, errors.New("all fail") },
			pool.Shadow(&bill))
		require.Error(t, err)
		assert.Zero(t, bill)
		bill.Tasks = 7
		_, err = pool.Map(t.Context(), upTo(0), func(context.Context, int) (int, error) { return 0, nil }, pool.Shadow(&bill))
		require.NoError(t, err)
		assert.Zero(t, bill)
	})
}

// One item hangs for 40 s, and the others take 10 ms.
func TestABillWithAHungItem(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation in one goroutine; TestABillWithWorkAndErrors runs the same goroutines")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var bill shadow.Bill
		_, err := pool.Map(t.Context(), upTo(200), func(ctx context.Context, i int) (int, error) {
			if i == 50 {
				return i, sleep(ctx, 40*time.Second)
			}
			return i, sleep(ctx, 10*time.Millisecond)
		}, pool.Shadow(&bill), pool.Goroutines(8))
		require.NoError(t, err)
		assert.Equal(t, 200, bill.Tasks, bill.Why)
		assert.Greater(t, bill.AtMost, .99)
	})
}
