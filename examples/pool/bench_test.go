package main

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	straggler "github.com/straggler-go/straggler/restart/engine/pool"
)

// ways are the compared pools. Each runs f for the numbers below n on a number of goroutines.
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
	{"each", func(n, goroutines int, f func(context.Context, int) (int, error)) error {
		return firstError(straggler.Each(context.Background(), make([]int, n), f, straggler.Goroutines(goroutines)))
	}},
	{"each-copies", func(n, goroutines int, f func(context.Context, int) (int, error)) error {
		return firstError(straggler.Each(context.Background(), make([]int, n), f, straggler.Goroutines(goroutines),
			straggler.Copies()))
	}},
	{"each-seq", func(n, goroutines int, f func(context.Context, int) (int, error)) error {
		return firstError(straggler.EachSeq(context.Background(), slices.Values(make([]int, n)), f,
			straggler.Goroutines(goroutines)))
	}},
}

// firstError runs the loop until an item has an error.
func firstError(results iter.Seq2[int, straggler.Result[int]]) error {
	for _, r := range results {
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// BenchmarkOverhead measures the cost of an item that does nothing; ns/op is the time of one item.
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

// BenchmarkSlowItems measures the time of items that take 20 ms, and in one of twenty runs 8 times as long. Two
// oracles show the best possible times. The first oracle knows at the beginning of a run that it will be slow. The
// second oracle knows it when the run is 20 ms old; before that age, a slow run looks like any other run. Both run a
// slow item again at once.
func BenchmarkSlowItems(b *testing.B) {
	oracle := func(knows time.Duration) func(context.Context, int) (int, error) {
		return func(ctx context.Context, _ int) (int, error) {
			for rand.IntN(20) == 0 {
				time.Sleep(knows)
			}
			return 0, sleep(ctx, usual)
		}
	}
	items := []struct {
		name string
		f    func(context.Context, int) (int, error)
	}{{"", now8x}, {"-oracle", oracle(0)}, {"-oracle-by-age", oracle(usual)}}
	for _, size := range [][2]int{{200, 40}, {500, 25}} {
		for _, way := range ways {
			for _, item := range items {
				if item.name != "" && way.name != "errgroup" {
					continue
				}
				b.Run(fmt.Sprintf("%s%s/items=%d/goroutines=%d", way.name, item.name, size[0], size[1]), func(b *testing.B) {
					for range b.N {
						if err := way.run(size[0], size[1], item.f); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

const usual = 20 * time.Millisecond

func now8x(ctx context.Context, _ int) (int, error) {
	if rand.IntN(20) == 0 {
		return 0, sleep(ctx, 8*usual)
	}
	return 0, sleep(ctx, usual)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// BenchmarkMillion measures the memory of a million goroutines that each wait for 10 ms.
func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	for name, options := range map[string][]straggler.Option{"once": nil, "copies": {straggler.Copies()}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := straggler.Map(b.Context(), make([]int, n), func(context.Context, int) (int, error) {
					time.Sleep(10 * time.Millisecond)
					return 0, nil
				}, append(options, straggler.Goroutines(n))...)
				if err != nil {
					b.Fatal(err)
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/n, "B/goroutine")
		})
	}
}
