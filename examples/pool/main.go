// Command pool runs 200 items on 40 goroutines, first with errgroup and then with pool.Map. A run of an item takes
// about 20 ms, and one of twenty runs takes eight times as long. The option pool.Copies allows a second run beside a
// slow run.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/straggler-go/straggler/restart/engine/pool"
)

const goroutines = 40

func main() {
	items := make([]int, 200)
	for i := range items {
		items[i] = i
	}
	began := time.Now()
	squares, err := byErrgroup(context.Background(), items)
	say("errgroup", began, squares, err, "")

	var l pool.Ledger
	began = time.Now()
	squares, err = pool.Map(context.Background(), items, square, pool.Goroutines(goroutines), pool.Copies(), pool.Account(&l))
	say("pool.Map", began, squares, err, l.String())
}

// say prints the time of a way to run the items, and its result.
func say(name string, began time.Time, squares []int, err error, more string) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "pool:", err)
		os.Exit(1)
	}
	sum := 0
	for _, s := range squares {
		sum += s
	}
	fmt.Printf("%s  %4.0f ms  sum of squares %d  %s\n", name, time.Since(began).Seconds()*1000, sum, more)
}

// byErrgroup runs the items with errgroup, which has no copies.
func byErrgroup(ctx context.Context, items []int) ([]int, error) {
	results := make([]int, len(items))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(goroutines)
	for i, item := range items {
		group.Go(func() (err error) {
			results[i], err = square(ctx, item)
			return err
		})
	}
	return results, group.Wait()
}

// square takes 20 to 24 ms, and with a probability of 1 in 20 eight times as long.
func square(ctx context.Context, i int) (int, error) {
	takes := 20*time.Millisecond + time.Duration(rand.IntN(4))*time.Millisecond
	if rand.IntN(20) == 0 {
		takes *= 8
	}
	select {
	case <-time.After(takes):
		return i * i, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
