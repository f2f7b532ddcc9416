package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	straggler "github.com/straggler-go/straggler/restart/engine/pool"
)

// ways are the pools that are compared: each runs f for the numbers below n on so many goroutines.
var ways = []struct {
	name string
	run  func(n, goroutines int, f func(context.Context, int) (int, error)) error
}{
	{"errgroup", func(n, goroutines int, f func(context.Context, int) (int, error)) error {
		results := make([]int, n)
		group, ctx := errgroup.WithContext(context.Background())
		group.SetLimit(goroutines)
		for i := range n {
			group.Go(func() (err error) {
				results[i], err = f(ctx, i)
				return err
			})
		}
		return group.Wait()
	}},
	{"conc", func(n, goroutines int, f func(context.Context, int) (int, error)) error {
		group := pool.NewWithResults[int]().WithContext(context.Background()).WithCancelOnError().WithMaxGoroutines(goroutines)
		for i := range n {
			group.Go(func(ctx context.Context) (int, error) { return f(ctx, i) })
		}
		_, err := group.Wait()
		return err
	}},
	{"map", func(n, goroutines int, f func(context.Context, int) (int, error)) error {
		_, err := straggler.Map(context.Background(), make([]int, n), func(ctx context.Context, i int) (int, error) {
			return f(ctx, i)
		}, straggler.Goroutines(goroutines))
		return err
	}},
	{"map-copies", func(n, goroutines int, f func(context.Context, int) (int, error)) error {
		_, err := straggler.Map(context.Background(), make([]int, n), func(ctx context.Context, i int) (int, error) {
			return f(ctx, i)
		}, straggler.Goroutines(goroutines), straggler.Copies())
		return err
	}},
}

// BenchmarkOverhead is what an item costs that does nothing: ns/op is of one item.
func BenchmarkOverhead(b *testing.B) {
	for _, way := range ways {
		b.Run(fmt.Sprintf("%s/goroutines=8", way.name), func(b *testing.B) {
			b.ReportAllocs()
			err := way.run(b.N, 8, func(context.Context, int) (int, error) { return 1, nil })
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkSlowItems is how long items of 20 ms take of which one run in twenty takes 8 times as long.
func BenchmarkSlowItems(b *testing.B) {
	for _, size := range [][2]int{{200, 40}, {500, 25}} {
		for _, way := range ways {
			b.Run(fmt.Sprintf("%s/items=%d/goroutines=%d", way.name, size[0], size[1]), func(b *testing.B) {
				for range b.N {
					if err := way.run(size[0], size[1], now8x); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func now8x(ctx context.Context, _ int) (int, error) {
	takes := 20 * time.Millisecond
	if rand.IntN(20) == 0 {
		takes *= 8
	}
	timer := time.NewTimer(takes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return 0, ctx.Err()
}
