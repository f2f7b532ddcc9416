package pool_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart/engine/pool"
)

// The function writes to files[item], so two attempts of the same item must not run at the same time. With the option
// Restarts, Map ends the context of a hung attempt, and runs the item again after this attempt has returned.
func ExampleRestarts() {
	var attempts atomic.Int64
	var files [9]string
	write := func(ctx context.Context, item int) (string, error) {
		if item == 6 && attempts.Add(1) == 1 {
			files[item] = "half"
			<-ctx.Done() // a hung attempt
			return "", ctx.Err()
		}
		time.Sleep(5 * time.Millisecond)
		files[item] = "whole"
		return files[item], nil
	}
	written, err := pool.Map(context.Background(), []int{1, 2, 3, 4, 5, 6, 7, 8}, write, pool.Goroutines(4), pool.Restarts())
	fmt.Println(written, err)
	// Output: [whole whole whole whole whole whole whole whole] <nil>
}
