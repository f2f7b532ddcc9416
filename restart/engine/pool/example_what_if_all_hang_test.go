package pool_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/engine/pool"
)

// The host "down" never answers, and occupies the only goroutine. After 20 ms its attempt has failed, and the
// goroutine runs the next item.
func ExampleTimeout() {
	ask := func(ctx context.Context, host string) (string, error) {
		if host == "down" {
			<-ctx.Done()
			return "", ctx.Err()
		}
		return "up", nil
	}
	hosts := []string{"down", "mail", "web"}
	for i, r := range pool.Each(context.Background(), hosts, ask, pool.Goroutines(1), pool.Timeout(20*time.Millisecond)) {
		fmt.Println(hosts[i], r.Value, errors.Is(r.Err, context.DeadlineExceeded))
	}
	// Output:
	// down  true
	// mail up false
	// web up false
}
