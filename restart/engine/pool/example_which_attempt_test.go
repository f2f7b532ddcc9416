package pool_test

import (
	"context"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/engine/pool"
)

// All attempts of an order send the same key to a shop, so the shop carries out the order once. The first attempt of
// the second order hangs. The log line has the number of the attempt that returned.
func ExampleAttemptOf() {
	orders := []string{"tea", "milk", "salt", "rice", "corn", "figs", "oats", "nuts"}
	buy := func(ctx context.Context, order string) (string, error) {
		a, _ := pool.AttemptOf(ctx)
		if a.Item == 1 && a.Number == 0 {
			<-ctx.Done() // a hung attempt
			return "", ctx.Err()
		}
		time.Sleep(10 * time.Millisecond)
		key := fmt.Sprintf("batch-17/%d", a.Item)
		return fmt.Sprintf("%s has the key %s, later attempt: %t", order, key, a.Number > 0), nil
	}
	log, err := pool.Map(context.Background(), orders, buy, pool.Goroutines(4), pool.Copies())
	fmt.Println(log[1], err)
	// Output: milk has the key batch-17/1, later attempt: true <nil>
}
