package pool_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/pool"
)

// The options Account and OnAction report the copies and restarts of Map. Here the first attempt of item 6 hangs.
// Another attempt of item 6 returns the result.
func ExampleAccount() {
	var attempts atomic.Int64
	double := func(ctx context.Context, item int) (int, error) {
		if item == 6 && attempts.Add(1) == 1 {
			<-ctx.Done() // a hung attempt
			return 0, ctx.Err()
		}
		time.Sleep(5 * time.Millisecond)
		return 2 * item, nil
	}
	var l pool.Ledger
	touched := map[int]bool{}
	results, err := pool.Map(context.Background(), []int{1, 2, 3, 4, 5, 6, 7, 8}, double,
		pool.Goroutines(4), pool.Copies(), pool.Account(&l),
		pool.OnAction(func(index int, d restart.Decision) { touched[index] = true }))
	fmt.Println(results, err)
	fmt.Println("item 6 was copied or restarted:", touched[5])
	fmt.Println("a later attempt won:", l.Won > 0)
	// Output:
	// [2 4 6 8 10 12 14 16] <nil>
	// item 6 was copied or restarted: true
	// a later attempt won: true
}
